import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Advice from "../../src/domain/Advice.js"
import {
  Blocked,
  type CommandError,
  CommandNotFound,
  ExecutionFailed,
  InvalidUsage
} from "../../src/domain/CommandError.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as ToolReturn from "../../src/toolset/ToolReturn.js"
import { told } from "../support/Told.js"

const call = { id: "1", name: "Bash" }

const succeeded = (fields: Partial<CommandResult.CommandResult>, hint?: string, remark?: string) =>
  ToolReturn.fromExit(call, Exit.succeed(CommandResult.make(fields)), {
    diagnosis: { hint: hint === undefined ? undefined : [hint], remark }
  })

const failed = (error: CommandError) => ToolReturn.fromExit(call, Exit.fail(error))

describe("ToolReturn.fromExit", () => {
  it("S18: adds no word to the output of a success", () => {
    assert.deepStrictEqual(succeeded({ stdout: "a\n", stderr: "b" }, "Hint: never"), {
      toolCallId: "1",
      isError: false,
      output: "a\nb",
      message: "Command executed successfully.",
      extras: { exitCode: 0, stdout: "a\n", stderr: "b" }
    })
    assert.strictEqual(succeeded({ stdout: "a", stderr: "b" }).output, "a\nb")
    assert.strictEqual(succeeded({ stderr: "b\n" }).output, "b\n")
    assert.strictEqual(succeeded({}).output, "(no output)")
  })

  it("S16: says how to see the usage in the message, and what the exit code means after the output", () => {
    assert.deepStrictEqual(succeeded({ stdout: "a", stderr: "b\n", exitCode: 2 }, "Read the manual.", "[exit 2] no."), {
      toolCallId: "1",
      isError: true,
      output: "a\nb\n[exit 2] no.",
      message: "Command failed. Read the manual.",
      extras: { exitCode: 2, stdout: "a", stderr: "b\n", failureCategory: "execution_error" }
    })
  })

  it("claims no success for a failure without output", () => {
    const { message, output } = succeeded({ exitCode: 1 })
    assert.deepStrictEqual(
      { message, output },
      {
        message: "Command failed.",
        output: "[exit 1]"
      }
    )
  })

  it("knows a command that bash did not find", () => {
    const { extras, message } = succeeded({ exitCode: 127, notFound: "nosuch", stderr: "bash: nosuch: …\n" })
    assert.strictEqual(message, "Command failed.")
    assert.strictEqual(extras.failureCategory, "command_not_found")
    assert.strictEqual(succeeded({ exitCode: 127 }).extras.failureCategory, "execution_error")
  })

  it("passes on notices and the files of a cut output", () => {
    const diagnostics = told("The shell was restarted.")
    const result = succeeded({ stdout: "a", stdoutFile: "/tmp/o", stderrFile: "/tmp/e", diagnostics })
    assert.deepStrictEqual(result, {
      toolCallId: "1",
      isError: false,
      output: "a\nThe shell was restarted.",
      message: "Command executed successfully.",
      extras: { exitCode: 0, stdout: "a", stderr: "", stdoutFile: "/tmp/o", stderrFile: "/tmp/e", diagnostics }
    })
    assert.strictEqual(succeeded({ exitCode: 1, diagnostics }).output, "[exit 1]\nThe shell was restarted.")
  })

  it("keeps the output of a command that ran out of its time", () => {
    const reason = "Command execution timeout: it ran longer than 5 ms and was ended"
    const error = new ExecutionFailed({ kind: "timeout", reason, stdout: "a\n", diagnostics: told("New shell.") })
    assert.deepStrictEqual(failed(error), {
      toolCallId: "1",
      isError: true,
      output: `a\n${reason}\nNew shell.`,
      message: "Command timed out.",
      extras: {
        exitCode: 124,
        failureCategory: "execution_error",
        error: "ExecutionFailed",
        stdout: "a\n",
        stderr: "",
        diagnostics: told("New shell.")
      }
    })
  })

  it("says which rule blocked what", () => {
    const { extras, message, output } = failed(
      new Blocked({ resource: "/h/.ssh/id", rule: "~/.ssh", reason: "a secret" })
    )
    assert.strictEqual(output, "blocked by sandbox policy: /h/.ssh/id (rule ~/.ssh: a secret)")
    assert.strictEqual(message, "Denied by the sandbox.")
    assert.deepStrictEqual(extras, {
      exitCode: 126,
      failureCategory: "blocked",
      error: "Blocked",
      blocked: true,
      blockedReason: "a secret",
      blockedResource: "/h/.ssh/id",
      blockedRule: "~/.ssh"
    })
  })

  it("S17: leaves the help of what failed to the message, and what is wrong to the output", () => {
    const advice = [
      Advice.line`${Advice.run("mcp:a --help")} shows how to use mcp:a.`,
      Advice.line`${Advice.run("mcp:")} lists the servers.`
    ]
    for (const error of [
      new CommandNotFound({ command: "mcp:a", reason: "Unknown MCP server: a.", advice }),
      new InvalidUsage({ reason: "mcp:a takes no words.", advice })
    ]) {
      const { message, output } = failed(error)
      assert.strictEqual(message, 'Command failed. Bash(command="mcp:a --help") shows how to use mcp:a.')
      assert.strictEqual(output, `${error.reason}\nBash(command="mcp:") lists the servers.`)
    }
    assert.strictEqual(failed(new InvalidUsage({ reason: "no" })).message, "Command failed.")
    assert.strictEqual(failed(new ExecutionFailed({ kind: "io", reason: "no" })).message, "Command failed.")
  })

  it("tells a person in the message what became of the command, for the output was seen as it came", () => {
    const audience = Advice.person
    const told = (exit: Parameters<typeof ToolReturn.fromExit>[1]) =>
      ToolReturn.fromExit(call, exit, { audience }).message
    const reason = "Command execution timeout: it ran longer than 5 ms and was ended"
    assert.strictEqual(told(Exit.fail(new ExecutionFailed({ kind: "timeout", reason }))), reason)
    assert.strictEqual(told(Exit.interrupt(FiberId.none)), "Command interrupted before it ended.")
    assert.include(told(Exit.die("odd")), "failed unexpectedly: odd")
    assert.strictEqual(
      told(Exit.fail(new Blocked({ resource: "/h", rule: "~/.ssh", reason: "a secret" }))),
      "blocked by sandbox policy: /h (rule ~/.ssh: a secret)"
    )
  })

  it("S46: tells in both what is wrong with the call itself", () => {
    const { message, output } = failed(new InvalidUsage({ reason: "Invalid parameters for Bash:", ofCall: true }))
    assert.strictEqual(message, "Invalid parameters for Bash:")
    assert.strictEqual(output, message)
  })

  it("leaves out of a brief result a message which says only how it ended", () => {
    const cut = (result: ToolReturn.ToolReturn) => "message" in ToolReturn.brief(result)
    const interrupted = ToolReturn.fromExit(call, Exit.failCause(Cause.interrupt(FiberId.none)))
    const blocked = succeeded({ exitCode: 1, blocked: true, blockedReason: "no" })
    assert.strictEqual(blocked.output, "[exit 1] no")
    assert.deepStrictEqual(ToolReturn.brief(blocked), {
      isError: true,
      output: "[exit 1] no",
      toolCallId: "1",
      extras: { exitCode: 1, failureCategory: "blocked", blocked: true }
    })
    assert.deepStrictEqual([blocked, interrupted, ToolReturn.fromExit(call, Exit.die("x"))].map(cut), [
      false,
      false,
      false
    ])
    assert.isTrue(cut(succeeded({ exitCode: 1 }, "See the manual.")))
  })

  it("takes an interruption for what it is, with and without output", () => {
    const exit = Exit.failCause(Cause.interrupt(FiberId.none))
    assert.deepStrictEqual(ToolReturn.fromExit(call, exit), {
      toolCallId: "1",
      isError: true,
      output: "Command interrupted before it ended.",
      message: "Command interrupted.",
      extras: { exitCode: 130, stdout: "", stderr: "", interrupted: true }
    })
  })

  it("survives a defect that is no Error", () => {
    const odd = ToolReturn.fromExit(call, Exit.die("odd"))
    assert.include(odd.output, "failed unexpectedly: odd\n")
    assert.strictEqual(odd.message, "The tool itself failed.")
    assert.include(ToolReturn.fromExit(call, Exit.die(undefined)).output, "failed unexpectedly: undefined\n")
  })
})

describe("the result of a call that found no file descriptor", () => {
  it("says what to do", () => {
    const error = new ExecutionFailed({ kind: "shell", reason: "spawn /bin/bash EMFILE" })
    const { message } = ToolReturn.fromError({ id: "1" }, error)
    assert.match(message, /EMFILE\nThe program has used up its file descriptors: .*\(ulimit -n 64, or more\)\.$/)
    const other = new ExecutionFailed({ kind: "shell", reason: "spawn /bin/bash ENOENT" })
    assert.notInclude(ToolReturn.fromError({ id: "1" }, other).message, "ulimit")
  })
})
