import { assert, describe, it } from "@effect/vitest"
import { Blocked, CommandNotFound, ExecutionFailed, InvalidUsage, timedOut } from "../../src/domain/CommandError.js"
import { DuplicateName } from "../../src/domain/DuplicateName.js"
import * as FileFailure from "../../src/files/FileFailure.js"
import { FileError } from "../../src/files/Files.js"

describe("CommandError", () => {
  it("knows its category, its exit code and its message", () => {
    const errors = [
      new CommandNotFound({ command: "x", reason: "no x" }),
      new InvalidUsage({ reason: "wrong" }),
      new Blocked({ resource: "/a", rule: "~/.ssh", reason: "a secret" }),
      new ExecutionFailed({ kind: "shell", reason: "it died" }),
      new ExecutionFailed({ kind: "timeout", reason: "too long" })
    ]
    assert.deepStrictEqual(
      errors.map(({ category, exitCode, message }) => ({ category, exitCode, message })),
      [
        { category: "command_not_found", exitCode: 127, message: "no x" },
        { category: "invalid_usage", exitCode: 1, message: "wrong" },
        {
          category: "blocked",
          exitCode: 126,
          message: "blocked by sandbox policy: /a (rule ~/.ssh: a secret)"
        },
        { category: "execution_error", exitCode: 1, message: "it died" },
        { category: "execution_error", exitCode: 124, message: "too long" }
      ]
    )
  })

  it("keeps what it comes from", () => {
    const cause = new FileError({ path: "f", kind: "io", reason: "Input/output error" })
    assert.strictEqual(FileFailure.fromFileError("read", cause).cause, cause)
    assert.isUndefined(timedOut(5).cause)
  })

  it("says the same of every timeout", () => {
    const error = timedOut(5, { stdout: "begun" })
    const { exitCode, message, stderr, stdout } = error
    assert.deepStrictEqual(
      { exitCode, message, stderr, stdout },
      {
        exitCode: 124,
        message: "Command execution timeout: it ran longer than 5 ms and was ended",
        stderr: "",
        stdout: "begun"
      }
    )
  })

  it("says which name is taken", () => {
    assert.strictEqual(
      new DuplicateName({ kind: "tool", name: "Bash" }).message,
      "there is already a tool with the name Bash"
    )
  })
})
