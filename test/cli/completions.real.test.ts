/** Completions as a person gets them: a real shell on a terminal, in which words are typed and Tab is pressed. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import * as Tmux from "../support/terminal/Tmux.js"

const program = Path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")
const hasShell = (shell: string) => ChildProcess.spawnSync(shell, ["--version"]).status === 0

/** How a shell starts without a person's own settings, and with `synapse` in its PATH. */
const starts = {
  bash: (script: string) => ["bash", "--rcfile", script, "-i"],
  zsh: () => ["zsh", "-i"],
  fish: (script: string) => ["fish", "--no-config", "-C", `source ${script}; function fish_prompt; echo '$ '; end`]
}

/** What is typed, and what stands there after Tab: what the scripts of the shells do differently. */
const typed = [
  ["synapse daem", "synapse daemon"],
  ["synapse exec --session wo", "synapse exec --session work"],
  ["synapse exec --session=wo", "synapse exec --session=work"],
  ["synapse sandbox allow inp", "synapse sandbox allow input.json"],
  ["synapse exec --cwd sub", "synapse exec --cwd subfolder/"],
  ["synapse exec --cwd inp", "synapse exec --cwd inp"]
] as const

/** What the program alone decides. */
const decided = [
  ["synapse daemon st", "synapse daemon stop"],
  ["synapse exec --sess", "synapse exec --session"],
  ["synapse daemon stop wo", "synapse daemon stop work"],
  ["synapse mcp remove notes-s", "synapse mcp remove notes-server"],
  ["synapse skill remove dep", "synapse skill remove deploy"],
  ["synapse mcp install cur", "synapse mcp install cursor"],
  ["synapse exec --temporary h", "synapse exec --temporary host"]
] as const

let directory = ""
let env: Readonly<Record<string, string>> = {}
const place = (name: string) => Path.join(directory, name)
const synapse = (...words: ReadonlyArray<string>) =>
  ChildProcess.execFileSync("synapse", words, { cwd: place("project"), env, encoding: "utf8", stdio: "pipe" })

describe("completions", () => {
  beforeAll(() => {
    directory = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-completions-"))
    for (const name of ["bin", "home", "project/subfolder", "skill/deploy"])
      Fs.mkdirSync(place(name), { recursive: true })
    Fs.symlinkSync(program, place("bin/synapse"))
    Fs.writeFileSync(place("project/input.json"), "{}")
    Fs.writeFileSync(place("skill/deploy/SKILL.md"), "---\nname: deploy\ndescription: Deploys.\n---\n")
    env = {
      ...(process.env as Readonly<Record<string, string>>),
      HOME: place("home"),
      TMPDIR: place("home"),
      XDG_RUNTIME_DIR: place("home"),
      ZDOTDIR: place("home"),
      PATH: `${place("bin")}:${Path.dirname(process.execPath)}:${process.env["PATH"]}`
    }
    synapse("mcp", "add", "notes-server", "--", "cat")
    synapse("skill", "add", place("skill/deploy"))
    synapse("exec", "--session", "work", "true")
  })

  afterAll(() => {
    synapse("daemon", "stop")
    Fs.rmSync(directory, { recursive: true, force: true })
  })

  for (const [shell, command] of Object.entries(starts)) {
    it.skipIf(!Tmux.isThere || !hasShell(shell))(`complete words in ${shell}`, async () => {
      const script = place(`home/${shell}`)
      const own = synapse("--completions", shell)
      Fs.writeFileSync(script, shell === "bash" ? `${own}\nPS1='$ '` : own)
      if (shell === "zsh")
        Fs.writeFileSync(place("home/.zshrc"), `autoload -Uz compinit; compinit -u -D; source ${script}; PS1='$ '`)
      await Tmux.using(
        { directory: place("home"), cwd: place("project"), command: command(script), env },
        async (tmux) => {
          await tmux.until((lines) => lines.some((line) => line.trimEnd() === "$"))
          for (const [words, expected] of shell === "bash" ? [...typed, ...decided] : typed) {
            tmux.type(words)
            tmux.press("Tab")
            await tmux.endsWith(`$ ${expected}`)
            tmux.press("C-u")
            await tmux.endsWith("$")
          }
        }
      )
    })
  }

  it("offer no word that the help does not have", () => {
    const names = synapse("--complete", "")
      .split("\n")
      .map((line) => line.replace(/\t.*/, ""))
    assert.includeMembers(names, ["exec", "mcp", "doctor"])
    for (const words of [["-"], ["exec", "-"], ["mcp", ""], ["daemon", "list", "-"]]) {
      const help = synapse(...words.slice(0, -1), "--help")
      const offered = synapse("--complete", ...words)
        .trim()
        .split("\n")
      assert.isAbove(offered.length, 1, words.join())
      for (const line of offered) assert.include(help, line.replace(/\t.*/, ""))
    }
  })
})
