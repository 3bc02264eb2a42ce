/** Programs that a person starts in `synapse shell`, and that need the terminal: editors, pagers, REPLs. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../../support/Temporary.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")
const mark = process.getuid?.() === 0 ? "#" : "$"
const prompt = `~/work NO SANDBOX ${mark}`

const isThere = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0

const shell = (
  use: (tmux: Tmux.Tmux & { readonly enter: (text: string) => void }, cwd: string) => Promise<void>
): Promise<void> =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "work")
    fs.mkdirSync(cwd)
    const env = {
      SYNAPSE_HOME: path.join(directory, "home"),
      HOME: directory,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1"
    }
    const command = [process.execPath, program, "shell", "--no-sandbox"]
    await Tmux.using({ directory, cwd, command, env }, async (tmux) => {
      await tmux.line(prompt)
      const enter = (text: string) => {
        tmux.type(text)
        tmux.press("Enter")
      }
      await use({ ...tmux, enter }, cwd)
    })
  })

/** Waits until the prompt is back as the last line. */
const back = ({ until }: Tmux.Tmux, code = "") =>
  until((lines) => lines.findLast((each) => each !== "") === `~/work NO SANDBOX ${code}${mark}`)

describe.skipIf(!Tmux.isThere || !isThere("script"))("a program that needs the terminal", () => {
  it.skipIf(!isThere("vim"))("is vim: what is typed is in the file, and the shell is back as it was", () =>
    shell(async (tmux, cwd) => {
      const { enter, press, type, until } = tmux
      enter("echo stays above")
      await until((lines) => lines.includes("stays above"))
      enter("vim -u NONE -N note.txt")
      await until((lines) => lines.includes("~"))
      type("iwritten in vim")
      press("Escape")
      enter(":wq")
      const lines = await back(tmux)
      assert.include(lines, "stays above")
      assert.strictEqual(fs.readFileSync(path.join(cwd, "note.txt"), "utf8"), "written in vim\n")
      enter("cat no''te.txt")
      await until((lines) => lines.includes("written in vim"))
    })
  )

  it.skipIf(!isThere("git"))("is git rebase -i, with the editor that is set", () =>
    shell(async (tmux, cwd) => {
      const { enter, until } = tmux
      const git = (...words: ReadonlyArray<string>) =>
        spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd, encoding: "utf8" })
      git("init", "-q")
      git("config", "user.name", "a")
      git("config", "user.email", "a@b")
      for (const name of ["one", "two", "three"]) git("commit", "-q", "--allow-empty", "-m", name)
      // An editor that is a dialog: it shows the list, and takes a line from the keyboard.
      fs.writeFileSync(
        path.join(cwd, "editor"),
        '#!/bin/sh\ngrep -c "^pick" "$1"\nprintf "which goes? "\nread -r which\nsed -i "/$which/d" "$1"\n',
        { mode: 0o755 }
      )
      enter('export GIT_SEQUENCE_EDITOR="$PWD/editor"')
      await back(tmux)
      enter("git rebase -i HEAD~2")
      await until((lines) => lines.includes("which goes?"))
      enter("three")
      await back(tmux)
      assert.strictEqual(git("log", "--format=%s").stdout, "two\none\n")
    })
  )

  it.skipIf(!isThere("less"))("is less, which leaves the scroll-back as it was", () =>
    shell(async (tmux, cwd) => {
      const { enter, press, until } = tmux
      fs.writeFileSync(path.join(cwd, "long.txt"), Array.from({ length: 200 }, (_, at) => `row ${at}`).join("\n"))
      enter("less long.txt")
      await until((lines) => lines.includes("row 5"))
      press("G")
      await until((lines) => lines.includes("row 199"))
      press("q")
      const lines = await back(tmux)
      assert.notInclude(lines, "row 199")
    })
  )

  for (const [name, ask, ends] of [
    ["node", "6 * 7", ".exit"],
    ["python3", "6 * 7", "exit(3)"]
  ] as const) {
    it.skipIf(!isThere(name))(`is the REPL of ${name}: Ctrl-C ends what it runs, not it nor the shell`, () =>
      shell(async (tmux) => {
        const { enter, press, until } = tmux
        enter(name)
        await until((lines) => lines.some((each) => /^>(>>)?$/.test(each)))
        enter(ask)
        await until((lines) => lines.includes("42"))
        press("C-c")
        enter("7 * 7")
        await until((lines) => lines.includes("49"))
        enter(ends)
        await back(tmux, name === "node" ? "" : "[3] ")
      })
    )
  }

  it("hears of another size by SIGWINCH", () =>
    shell(async (tmux, cwd) => {
      const { enter, resize, until } = tmux
      const script = [
        "trap 'echo \"heard $(stty size)\"' WINCH",
        "echo begun",
        "until [[ $(stty size) == '15 50' ]]; do sleep 0.1; done",
        "sleep 0.5"
      ]
      fs.writeFileSync(path.join(cwd, "listen"), script.join("\n"))
      enter("/tty bash listen")
      await until((lines) => lines.includes("begun"))
      resize(50, 15)
      await until((lines) => lines.includes("heard 15 50"))
      await back(tmux)
    }))
})
