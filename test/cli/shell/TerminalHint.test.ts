import { assert, describe, it } from "@effect/vitest"
import { TerminalHint } from "../../../src/cli/shell/TerminalHint.js"

const failed = (stderr: string, exitCode = 1) => ({
  toolCallId: "shell",
  isError: exitCode !== 0,
  output: "",
  message: "",
  extras: { exitCode, stderr }
})

const program = "Commands get nothing from the keyboard; /tty <command> gives a program the terminal."

describe("a command that asks somebody", () => {
  it("is told of /tty where its own words are certain, once", () => {
    for (const said of [
      "sudo: a terminal is required to read the password; either use …\n",
      "EOFError: EOF when reading a line\n",
      "the input device is not a TTY\n",
      "stty: 'standard input': Inappropriate ioctl for device\n",
      "fatal: could not read Username for 'https://x': No such device or address\n"
    ]) {
      const hint = new TerminalHint()
      assert.strictEqual(hint.of("x", failed(said)), program, said)
      assert.isUndefined(hint.of("x", failed(said)))
    }
  })

  it("is told how bash's read gets a line, and nothing where it may be a file's name", () => {
    const missing = "read: name: No such file or directory\n`ls .` shows what there is.\n"
    assert.strictEqual(
      new TerminalHint().of("read -r name", failed(missing)),
      "Commands get nothing from the keyboard: read name <<< 'a line'"
    )
    const other = new TerminalHint()
    assert.isUndefined(other.of("read src/a.ts", failed("read: src/a.ts: No such file or directory\n")))
    assert.isUndefined(other.of("x", failed("not a terminal\n", 0)))
    assert.isUndefined(other.of("ls", failed("ls: cannot access 'x': No such file or directory\n")))
  })
})
