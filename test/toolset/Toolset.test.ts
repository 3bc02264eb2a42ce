import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as CallContext from "../../src/domain/CallContext.js"
import type { CommandError } from "../../src/domain/CommandError.js"
import * as CommandListener from "../../src/domain/CommandListener.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import { DuplicateName } from "../../src/domain/DuplicateName.js"
import * as Tool from "../../src/toolset/Tool.js"
import * as Toolset from "../../src/toolset/Toolset.js"

/** A tool `Bash` that does what is given, and notes the parameters it got. */
const bash = (
  run: (command: string) => Effect.Effect<CommandResult.CommandResult, CommandError>,
  seen: Array<unknown> = []
) =>
  Tool.make({
    name: "Bash",
    description: "Runs a command.",
    parameters: Schema.Struct({ command: Schema.String }),
    run: (params) => {
      seen.push(params)
      return run(params.command)
    }
  })

const call = (id: string, command = "ls") => ({ id, name: "Bash", arguments: JSON.stringify({ command }) })

const succeed = (stdout: string) => Effect.succeed(CommandResult.make({ stdout }))

/** A run that waits until it is interrupted, and what became of it. */
const hanging = Effect.gen(function* () {
  const started = yield* Deferred.make<void>()
  let interruptions = 0
  const run = Effect.zipRight(
    Deferred.succeed(started, undefined),
    Effect.onInterrupt(Effect.never, () =>
      Effect.flatMap(Effect.yieldNow(), () =>
        Effect.map(
          Effect.withFiberRuntime<CommandListener.CommandListener>((fiber) =>
            Effect.succeed(fiber.getFiberRef(CommandListener.current))
          ),
          ({ onInterrupted }) => {
            interruptions++
            onInterrupted?.(CommandResult.make({ stdout: "so far\n" }))
          }
        )
      )
    )
  )
  return { run, started: Deferred.await(started), interruptions: () => interruptions }
})

describe("Toolset", () => {
  it.scoped("S46: arguments that are nested too deep to be looked at are refused like other wrong ones", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([bash(() => succeed(""))])
      for (const deep of ["[".repeat(50_000) + "]".repeat(50_000), `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`]) {
        for (const text of [deep, `{"command":${deep}}`, `{"command":"ls","x":${deep}}`]) {
          const { extras, isError, output } = yield* toolset.handle({ id: "1", name: "Bash", arguments: text })
          assert.deepStrictEqual([isError, extras.failureCategory], [true, "invalid_usage"])
          assert.match(output, /^Invalid parameters for Bash:\n- they are nested deeper than 100 levels$/)
        }
      }
    })
  )

  it.effect("S42: gives a known tool its arguments as an object, and its result the call's id", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const toolset = yield* Toolset.make([bash(() => succeed("a\n"), seen)])
      const result = yield* toolset.handle({ id: "call-1", name: "Bash", arguments: '{"command":"ls"}' })
      assert.deepStrictEqual(seen, [{ command: "ls" }])
      assert.deepStrictEqual(result, {
        toolCallId: "call-1",
        isError: false,
        output: "a\n",
        message: "Command executed successfully.",
        extras: { exitCode: 0, stdout: "a\n", stderr: "" }
      })
    }).pipe(Effect.scoped)
  )

  it.effect("S41: shows the definitions of its tools", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([bash(() => succeed(""))])
      assert.deepStrictEqual(JSON.parse(JSON.stringify(toolset.tools)), [
        {
          name: "Bash",
          description: "Runs a command.",
          parameters: {
            type: "object",
            required: ["command"],
            properties: { command: { type: "string" } },
            additionalProperties: false
          }
        }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("S30 S31 S43: answers an unknown tool with the call that is right", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([bash(() => succeed(""))])
      const message =
        'Unknown tool: UnknownTool. There is: Bash.\nCORRECTION: commands run through the tool Bash: Bash(command="UnknownTool <args>")'
      assert.deepStrictEqual(yield* toolset.handle({ id: "1", name: "UnknownTool", arguments: "{}" }), {
        toolCallId: "1",
        isError: true,
        output: message,
        message,
        extras: {
          exitCode: 127,
          failureCategory: "command_not_found",
          error: "CommandNotFound",
          toolName: "UnknownTool"
        }
      })
    }).pipe(Effect.scoped)
  )

  it.effect("S43: makes up no command for a call without a name", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([bash(() => succeed(""))])
      assert.strictEqual(
        (yield* toolset.handle({ id: "1", name: "", arguments: "{}" })).message,
        "The call names no tool. There is: Bash.\nCORRECTION: call one of the tools that there are."
      )
    }).pipe(Effect.scoped)
  )

  it.effect("S32 S44 S45: refuses arguments that are not JSON, and runs nothing", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const toolset = yield* Toolset.make([bash(() => succeed(""), seen)])
      const result = yield* toolset.handle({ id: "1", name: "Bash", arguments: '{"command":' })
      const parseError = "Unexpected end of JSON input"
      const message = `Invalid parameters for Bash:\n- the arguments are not JSON: ${parseError}\nUse: Bash(command=…)`
      assert.deepStrictEqual(result, {
        toolCallId: "1",
        isError: true,
        output: message,
        message,
        extras: {
          exitCode: 1,
          failureCategory: "invalid_usage",
          error: "InvalidUsage",
          toolName: "Bash",
          parseError
        }
      })
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped)
  )

  it.effect("S46: says of each parameter what is wrong with it", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([bash(() => succeed(""))])
      const result = yield* toolset.handle({ id: "1", name: "Bash", arguments: '{"cmd":"ls"}' })
      assert.strictEqual(
        result.message,
        'Invalid parameters for Bash:\n- cmd: is unexpected, expected: "command"\n- command: is missing\nUse: Bash(command=…)'
      )
      assert.strictEqual(result.extras.failureCategory, "invalid_usage")
      for (const text of ["[]", "null", "3", '"ls"']) {
        const other = yield* toolset.handle({ id: "1", name: "Bash", arguments: text })
        assert.include(other.message, "Invalid parameters for Bash:\n- the arguments must be an object with command\n")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("S33: success and failure both carry the id of their call", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset.make([
        bash((command) => Effect.succeed(CommandResult.make({ exitCode: command === "good" ? 0 : 3 })))
      ])
      const results = yield* Effect.all([toolset.handle(call("a", "good")), toolset.handle(call("b", "bad"))])
      assert.deepStrictEqual(
        results.map(({ isError, toolCallId }) => ({ isError, toolCallId })),
        [
          { isError: false, toolCallId: "a" },
          { isError: true, toolCallId: "b" }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("refuses two tools of one name", () =>
    Effect.gen(function* () {
      const tool = bash(() => succeed(""))
      const error = yield* Effect.flip(Toolset.make([tool, tool]))
      assert.deepStrictEqual(error, new DuplicateName({ kind: "tool", name: "Bash" }))
    }).pipe(Effect.scoped)
  )

  it.effect("answers for a tool that throws or dies, without a stack trace, and logs what happened", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause }) => void logged.push(Cause.squash(cause)))
      const boom = new Error("boom")
      const toolset = yield* Toolset.make([
        bash((command) => {
          if (command === "throw") throw boom
          return Effect.die(boom)
        })
      ])
      for (const command of ["throw", "die"]) {
        const result = yield* Effect.provide(
          toolset.handle(call(command, command)),
          Logger.replace(Logger.defaultLogger, logger)
        )
        const output = "The tool Bash failed unexpectedly: boom\nThis is an error of the tool, not of the call."
        assert.deepStrictEqual(result, {
          toolCallId: command,
          isError: true,
          output,
          message: "The tool itself failed.",
          extras: { exitCode: 1, failureCategory: "execution_error" }
        })
      }
      assert.deepStrictEqual(logged, [boom, boom])
    }).pipe(Effect.scoped)
  )

  it.effect("runs calls in parallel, and refuses a second one with the id of a running one", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const toolset = yield* Toolset.make([
        bash((command) =>
          command === "open"
            ? Effect.as(Deferred.succeed(gate, undefined), CommandResult.make())
            : Effect.as(Deferred.await(gate), CommandResult.make({ stdout: "through" }))
        )
      ])
      const first = yield* Effect.fork(toolset.handle(call("1", "wait")))
      yield* Effect.yieldNow()
      const second = yield* toolset.handle(call("1", "open"))
      assert.strictEqual(second.extras.failureCategory, "invalid_usage")
      assert.include(second.message, "A call with the id 1 is still running")
      yield* toolset.handle(call("2", "open"))
      assert.strictEqual((yield* Fiber.join(first)).output, "through")
      assert.isFalse((yield* toolset.handle(call("1", "open"))).isError)
    }).pipe(Effect.scoped)
  )

  it.effect("S47: cancelling ends the tool once, before it returns, and the call is answered with 130", () =>
    Effect.gen(function* () {
      const { interruptions, run, started } = yield* hanging
      const toolset = yield* Toolset.make([bash(() => run)])
      const fiber = yield* Effect.fork(toolset.handle(call("1")))
      yield* started
      assert.isTrue(yield* toolset.cancel("1"))
      assert.strictEqual(interruptions(), 1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), {
        toolCallId: "1",
        isError: true,
        output: "so far\nCommand interrupted before it ended.",
        message: "Command interrupted.",
        extras: { exitCode: 130, stdout: "so far\n", stderr: "", interrupted: true }
      })
      assert.isFalse(yield* toolset.cancel("1"))
      assert.isFalse(yield* toolset.cancel("unknown"))
      assert.strictEqual(interruptions(), 1)
    }).pipe(Effect.scoped)
  )

  it.effect("S48: the call after a cancelled one completes", () =>
    Effect.gen(function* () {
      const { run, started } = yield* hanging
      const toolset = yield* Toolset.make([bash((command) => (command === "hang" ? run : succeed("fine")))])
      const fiber = yield* Effect.fork(toolset.handle(call("1", "hang")))
      yield* started
      yield* toolset.cancel("1")
      yield* Fiber.join(fiber)
      assert.strictEqual((yield* toolset.handle(call("1"))).output, "fine")
    }).pipe(Effect.scoped)
  )

  it.effect("S47: interrupting the handle effect interrupts the tool once, and stays an interruption", () =>
    Effect.gen(function* () {
      const { interruptions, run, started } = yield* hanging
      const toolset = yield* Toolset.make([bash((command) => (command === "hang" ? run : succeed("fine")))])
      const outer: Array<CommandResult.CommandResult> = []
      const fiber = yield* Effect.fork(
        CallContext.locally(toolset.handle(call("1", "hang")), {
          listener: {
            onInterrupted: (result) => void outer.push(result)
          }
        })
      )
      yield* started
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(interruptions(), 1)
      assert.deepStrictEqual(outer, [CommandResult.make({ stdout: "so far\n" })])
      assert.strictEqual((yield* toolset.handle(call("1"))).output, "fine")
    }).pipe(Effect.scoped)
  )

  it.effect("interrupts what runs when its scope is closed", () =>
    Effect.gen(function* () {
      const { interruptions, run, started } = yield* hanging
      const fiber = yield* Effect.scoped(
        Effect.gen(function* () {
          const toolset = yield* Toolset.make([bash(() => run)])
          const fiber = yield* Effect.forkDaemon(toolset.handle(call("1")))
          yield* started
          return fiber
        })
      )
      assert.strictEqual((yield* Fiber.join(fiber)).extras.exitCode, 130)
      assert.strictEqual(interruptions(), 1)
    })
  )
})
