/** The editor on a real pseudo-terminal. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"
import * as Tmux from "../support/terminal/Tmux.js"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const node = `"${process.execPath}" "${pathOf("../fixtures/terminal/editor.mjs")}" "${pathOf("../../dist")}"`

/** Runs the editor, then tells how it ended, and whether the terminal has its modes back. */
const program = (directory: string): string =>
  `echo $$ > "${directory}/pid"; sh -c 'echo $$ > "$0/pid"; exec ${node} "$0/history"' "${directory}"; ` +
  `echo "left with $?"; stty -a | grep -o "[-]*icanon"; exec cat`

/** Runs a test with the editor on a terminal. */
const onTerminal = (
  test: (tmux: Tmux.Tmux, directory: string) => Promise<void>,
  command: (directory: string) => string = program
): Promise<void> =>
  Temporary.using((directory) => {
    const options = { directory, cwd: directory, command: ["bash", "-c", command(directory)], columns: 40, rows: 20 }
    return Tmux.using(options, (tmux) => test(tmux, directory))
  })

describe.skipIf(!Tmux.isThere)("LineEditor on a terminal", () => {
  it("edits, pastes, resizes, hears Ctrl-C, and leaves the terminal as it was", () =>
    onTerminal(async (tmux, directory) => {
      await tmux.endsWith("ready$")
      tmux.type("echo wörld")
      await tmux.endsWith("ready$ echo wörld")
      tmux.press("C-a", "M-f")
      tmux.type(" 日本")
      tmux.press("Enter")
      await tmux.endsWith("ready$ echo 日本 wörld", 'got {"text":"echo 日本 wörld","_tag":"Text"}', "ready$")
      tmux.paste("one\n\ttwo\nthree")
      await tmux.endsWith("ready$ one", ">       two", "> three")
      tmux.press("Enter")
      await tmux.endsWith('got {"text":"one\\n\\ttwo\\nthree","_tag":"Text"}', "ready$")
      tmux.type("git che")
      tmux.press("Tab", "Tab")
      await tmux.endsWith("ready$ git che", "checkout     cherry-pick", "ready$ git che")
      tmux.press("C-c")
      await tmux.endsWith("ready$ git che^C", 'got {"_tag":"Interrupted"}', "ready$")
      tmux.type(`${"a".repeat(40)}b`)
      await tmux.endsWith('got {"_tag":"Interrupted"}', `ready$ ${"a".repeat(33)}`, "aaaaaaab")
      tmux.resize(30)
      await tmux.endsWith('got {"_tag":"Interrupted"}', `ready$ ${"a".repeat(23)}`, `${"a".repeat(17)}b`)
      tmux.resize(60)
      await tmux.endsWith('got {"_tag":"Interrupted"}', `ready$ ${"a".repeat(40)}b`)
      tmux.press("C-u", "C-r")
      tmux.type("日")
      await tmux.endsWith("(history: 日) echo 日本 wörld")
      tmux.press("C-g", "C-d")
      await tmux.endsWith("ready$", 'got {"_tag":"Ended"}', "bye", "left with 0", "icanon")
      assert.deepStrictEqual(Fs.readFileSync(Path.join(directory, "history"), "utf8").split("\n"), [
        "echo 日本 wörld",
        "one\\n\\ttwo\\nthree",
        ""
      ])
    }))

  it("leaves the terminal as it was when it is killed", () =>
    onTerminal(async (tmux, directory) => {
      await tmux.endsWith("ready$")
      process.kill(Number(Fs.readFileSync(Path.join(directory, "pid"), "utf8")), "SIGTERM")
      await tmux.endsWith("left with 143", "icanon")
    }))

  it("reads lines without a control sequence on a dumb terminal, where Ctrl-C is heard too", () =>
    onTerminal(
      async (tmux, directory) => {
        await tmux.endsWith("ready$")
        tmux.record(`${directory}/output`)
        tmux.type("echo 'a")
        tmux.press("Enter")
        await tmux.endsWith("ready$ echo 'a", ">")
        tmux.type("b'")
        tmux.press("Enter")
        await tmux.endsWith("> b'", `got {"text":"echo 'a\\nb'","_tag":"Text"}`, "ready$")
        tmux.type("half")
        await tmux.endsWith("ready$ half")
        tmux.press("C-c")
        await tmux.endsWith('got {"_tag":"Interrupted"}', "ready$")
        tmux.press("C-d")
        await tmux.endsWith('ready$ got {"_tag":"Ended"}', "bye", "left with 0", "icanon")
        assert.notInclude(Fs.readFileSync(Path.join(directory, "output"), "utf8"), "\x1b")
      },
      (directory) => `TERM=dumb; export TERM; ${program(directory)}`
    ))
})
