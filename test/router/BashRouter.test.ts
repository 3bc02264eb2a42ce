import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import type { CommandHandler } from "../../src/command/CommandHandler.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CallContext from "../../src/domain/CallContext.js"
import { CommandNotFound, ExecutionFailed } from "../../src/domain/CommandError.js"
import type * as CommandListener from "../../src/domain/CommandListener.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import { BashRouter, type RouteOptions } from "../../src/router/BashRouter.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import * as TestSynapse from "../../src/TestSynapse.js"

const route = (command: string, options?: RouteOptions | boolean) =>
  Effect.flatMap(BashRouter, (router) => router.route(command, options))

const calls = Effect.flatMap(TestSynapse.TestShell, (shell) => shell.calls)

const layer = TestSynapse.layer((command) => ({ stdout: `ran ${command}\n` }))

const greet: CommandHandler = {
  name: "greet",
  summary: "Greets.",
  usage: "greet <name>",
  run: ({ args, cwd, stdin }, { timeout }) =>
    Effect.map(stdin === undefined ? Effect.succeed("") : Stream.mkString(Stream.decodeText(stdin)), (input) =>
      CommandResult.make({ stdout: `hello ${[...args, cwd, timeout, input]}`, stderr: "!" })
    )
}

const withGreet = CommandRegistry.layerAdd(greet).pipe(Layer.provideMerge(layer))

describe("BashRouter", () => {
  it.effect("sends a native command to the shell as it is written", () =>
    Effect.gen(function* () {
      const command = "  FOO=1 ls 'a  b' | cat # why\n"
      const result = yield* route(command, { timeout: 5 })
      assert.deepStrictEqual(result, { stdout: `ran ${command}\n`, stderr: "", exitCode: 0, blocked: false })
      assert.deepStrictEqual(yield* calls, [{ _tag: "Execute", command, timeout: 5 }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S21: restarts the session first, then runs the command and returns its result", () =>
    Effect.gen(function* () {
      const result = yield* route("echo hello", { restart: true })
      assert.deepStrictEqual(result, { stdout: "ran echo hello\n", stderr: "", exitCode: 0, blocked: false })
      assert.deepStrictEqual(yield* calls, [{ _tag: "Restart" }, { _tag: "Execute", command: "echo hello" }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S21: takes true for a restart, before a Synapse command too, and false for none", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* route("echo hello", true)).stdout, "ran echo hello\n")
      assert.strictEqual((yield* route("greet you", true)).stdout, "hello you,/,,")
      yield* route("echo again", false)
      assert.deepStrictEqual(yield* calls, [
        { _tag: "Restart" },
        { _tag: "Execute", command: "echo hello" },
        { _tag: "Restart" },
        { _tag: "Execute", command: "echo again" }
      ])
    }).pipe(Effect.provide(withGreet))
  )

  it.effect("S19: answers TodoWrite itself, and leaves todowrite to the shell", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* route("TodoWrite '{\"todos\":[]}'")).exitCode, 0)
      yield* route("todowrite {}")
      assert.deepStrictEqual(yield* calls, [{ _tag: "Execute", command: "todowrite {}" }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S20: answers every unknown skill with the same error", () =>
    Effect.gen(function* () {
      for (const [command, skill] of [
        ["skill:unknown", "unknown"],
        ["skill:search", "search"],
        ["skill:pdf:extract", "pdf"]
      ] as const) {
        assert.deepStrictEqual(
          yield* Effect.flip(route(`${command} x`)),
          new CommandNotFound({
            command,
            reason: `Unknown skill: ${skill} (in ${command}).\nThere are no skills.`
          })
        )
      }
      assert.deepStrictEqual(yield* calls, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S17: names the whole of an unknown MCP command, and its help", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(route("mcp:nonexistent:tool '{}'"))
      assert.deepStrictEqual(
        error,
        new CommandNotFound({
          command: "mcp:nonexistent:tool",
          reason: `Unknown MCP server: nonexistent (in mcp:nonexistent:tool).\nThere are no MCP servers.\nOnce it is there, Bash(command="mcp:nonexistent:tool --help") shows how to use it.`
        })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("says which commands there are when one is unknown", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(route("command:nope"))
      assert.include(error.message, "There are these: command:search.")
    }).pipe(Effect.provide(withGreet))
  )

  it.effect("gives a Synapse command its words and its here-document, where no shell is needed to read them", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* route("greet 'a  b' \"c\"d <<'E'\n$x\nE\n")).stdout, "hello a  b,cd,/,,$x\n")
      assert.strictEqual((yield* route("greet <<< 'y z'")).stdout, "hello /,,y z\n")
      assert.strictEqual((yield* route("greet", { timeout: 5000 })).stdout, "hello /,5000,")
      assert.deepStrictEqual(yield* calls, [])
    }).pipe(Effect.provide(withGreet))
  )

  it.effect("leaves it to the shell to call a Synapse command, where only a shell can tell what is called", () =>
    Effect.gen(function* () {
      const lines = [
        "TodoWrite '{}' && echo done",
        "mcp:a:b | cat",
        "greet x > f",
        "greet <<E\n$x\nE",
        "greet $x",
        "greet *",
        "A=1 greet x",
        "command:x\nls",
        "greet 'open",
        "read f --offset 2",
        "write f x"
      ]
      for (const line of lines) yield* route(line, { restart: line === "greet *" })
      assert.deepStrictEqual(
        yield* calls,
        lines.flatMap((command) => [
          ...(command === "greet *" ? [{ _tag: "Restart" as const }] : []),
          { _tag: "Execute" as const, command }
        ])
      )
    }).pipe(Effect.provide(withGreet))
  )

  it.effect("gives a line that names a task more time, where its call gives none", () =>
    Effect.gen(function* () {
      const lines = ["echo x | task:general -d a -p b", "ls; for i in 1; do task:x & done", "echo /task:x atask:x"]
      for (const line of lines) yield* route(line)
      yield* route(lines[0] ?? "", { timeout: 7 })
      assert.deepStrictEqual(
        (yield* calls).map((call) => call._tag === "Execute" && call.timeout),
        [1_800_000, 1_800_000, undefined, 7]
      )
    }).pipe(Effect.provide(withGreet))
  )

  it.effect("takes what nobody has quoted as it is written, where the command wants it so", () =>
    Effect.gen(function* () {
      const result = yield* route('bare {"a": [1, "it\'s; $x"]}\n')
      assert.strictEqual(result.stdout, 'hello {"a": [1, "it\'s; $x"]},/,,')
      const unclosed = yield* route('bare \'{"a": "it\'s"}\' && echo\n')
      assert.strictEqual(unclosed.stdout, 'hello \'{"a": "it\'s"}\' && echo,/,,')
      assert.deepStrictEqual(yield* calls, [])
      // What the parser may have left to bash is bash's to refuse.
      yield* route('bare \'{"a": "it\'s $(date)"}\' && echo\n')
      assert.deepStrictEqual(
        (yield* calls).map(({ _tag }) => _tag),
        ["Execute"]
      )
    }).pipe(
      Effect.provide(
        CommandRegistry.layerAdd({ ...greet, name: "bare", takesBare: (rest) => rest.startsWith("{") }).pipe(
          Layer.provideMerge(layer)
        )
      )
    )
  )

  it.effect("tells of a command's defect as a line does, and logs it", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause, message }) => void logged.push([message, Cause.squash(cause)]))
      const boom = new Error("boom")
      yield* registry.add({ ...greet, name: "die", run: () => Effect.die(boom) })
      yield* registry.add({
        ...greet,
        name: "throw",
        run: () => {
          throw boom
        }
      })
      for (const name of ["die", "throw"]) {
        const heard: Array<string> = []
        const result = yield* route(`${name} a`).pipe(
          CallContext.locally({
            listener: {
              onOutput: (stream, chunk) => void heard.push(stream, Buffer.from(chunk).toString())
            }
          }),
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
        const stderr = `${name}: failed unexpectedly: boom\n`
        assert.deepStrictEqual(result, { stdout: "", stderr, exitCode: 1, category: "execution_error" })
        assert.deepStrictEqual(heard, ["stderr", stderr])
        assert.deepStrictEqual(logged.splice(0), [[[`the command ${name} failed unexpectedly`], boom]])
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  /** A command that writes twice, the second time into the memory of the first, and then never ends. */
  const endless: CommandHandler = {
    ...greet,
    name: "endless",
    run: ({ write }) => {
      const memory = Buffer.from("one,")
      return Effect.zipRight(
        write(memory),
        Effect.zipRight(
          Effect.suspend(() => write(Buffer.from(memory.fill("2,", 0)))),
          Effect.never
        )
      )
    }
  }
  const withEndless = CommandRegistry.layerAdd(endless).pipe(Layer.provideMerge(layer))

  it.effect("tells the output of a Synapse command as it comes, and keeps it where the command is cancelled", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const kept: Array<CommandResult.CommandResult> = []
      const fiber = yield* Effect.fork(
        CallContext.locally(route("endless"), {
          listener: {
            onOutput: (stream, chunk) => void heard.push(`${stream} ${Buffer.from(chunk)}`),
            onInterrupted: (result) => void kept.push(result)
          }
        })
      )
      while (heard.length < 2) yield* Effect.yieldNow()
      assert.deepStrictEqual(heard, ["stdout one,", "stdout 2,2,"])
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(kept, [CommandResult.make({ stdout: "one,2,2,", exitCode: 130 })])
      assert.lengthOf(heard, 2)
    }).pipe(Effect.provide(withEndless))
  )

  it.effect("keeps what a Synapse command has put out where it runs out of its time", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.flip(route("endless", { timeout: 5 })))
      yield* TestClock.adjust("10 millis")
      const error = yield* Fiber.join(fiber)
      assert.deepInclude({ ...error }, { _tag: "ExecutionFailed", kind: "timeout", stdout: "one,2,2," })
    }).pipe(Effect.provide(withEndless))
  )

  it.effect("puts what a command put out early before its result", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      yield* registry.add({
        ...greet,
        name: "early",
        run: ({ files, write }) =>
          write(Buffer.from("first, ")).pipe(
            Effect.zipRight(Stream.runDrain(files.read("f"))),
            Effect.as(CommandResult.make()),
            Effect.catchTag("FileError", ({ message }) => Effect.succeed(CommandResult.make({ stdout: message })))
          )
      })
      const { stdout } = yield* route("early")
      assert.strictEqual(stdout, "first, f: no shell made this call: a handler that works on files says usesFiles")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("ends a Synapse command that runs out of the time it was given", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      yield* registry.add({ ...greet, name: "hang", run: () => Effect.never })
      const fiber = yield* Effect.fork(Effect.flip(route("hang", { timeout: 5 })))
      yield* TestClock.adjust("5 millis")
      assert.deepStrictEqual(
        yield* Fiber.join(fiber),
        new ExecutionFailed({
          kind: "timeout",
          reason: "Command execution timeout: it ran longer than 5 ms and was ended"
        })
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("gives the time of all calls to one that names none, also where it is Synapse's own or names a task", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      yield* registry.add({ ...greet, name: "task:general", run: () => Effect.never })
      yield* route("echo x | task:general")
      yield* route("ls", { timeout: 7 })
      assert.deepStrictEqual(
        (yield* calls).map((call) => call._tag === "Execute" && call.timeout),
        [5, 7]
      )
      const fiber = yield* Effect.fork(Effect.flip(route("task:general")))
      yield* TestClock.adjust("5 millis")
      assert.deepInclude({ ...(yield* Fiber.join(fiber)) }, { _tag: "ExecutionFailed", kind: "timeout" })
    }).pipe(CallContext.locally({ timeout: 5 }), Effect.scoped, Effect.provide(layer))
  )

  it.effect("lets a listener hear each output once, wherever it comes from", () =>
    Effect.gen(function* () {
      const sandbox = yield* SandboxManager
      const registry = yield* CommandRegistry.CommandRegistry
      yield* registry.add({
        ...greet,
        name: "inner",
        run: () => Effect.as(sandbox.execute("secret"), CommandResult.make({ stdout: "seen" }))
      })
      const heard: Array<string> = []
      const listener: CommandListener.CommandListener = {
        onOutput: (stream, chunk) => void heard.push(`${stream}: ${new TextDecoder().decode(chunk)}`)
      }
      for (const command of ["echo a", "greet you", "bash echo b", "bash -h", "inner"]) {
        yield* CallContext.locally(route(command), { listener })
      }
      assert.deepStrictEqual(heard, [
        "stdout: ran echo a\n",
        "stdout: hello you,/,,",
        "stderr: !",
        "stdout: ran echo b\n",
        "stdout: Usage: bash <command>\n",
        "stdout: seen"
      ])
    }).pipe(Effect.scoped, Effect.provide(withGreet))
  )

  it.effect("keeps later calls waiting for a slow command of ours, unless it is a task", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      const gate = yield* Deferred.make<void>()
      const slow = { ...greet, run: () => Effect.as(Deferred.await(gate), CommandResult.make()) }
      yield* registry.add({ ...slow, name: "slow" })
      yield* registry.add({ ...slow, name: "task:slow" })
      yield* registry.add({ ...greet, name: "task:quick" })
      const ended: Array<string> = []
      const begin = (command: string) =>
        Effect.fork(Effect.tap(route(command), () => Effect.sync(() => void ended.push(command))))
      const first = ["task:slow", "task:slow 2", "echo a", "slow"]
      const fibers = yield* Effect.forEach([...first, "task:quick", "greet b", "echo c"], begin)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(ended, ["echo a"])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      // A task waits for what came before it.
      assert.deepStrictEqual(
        ended.filter((command) => !command.startsWith("task:slow")),
        ["echo a", "slow", "task:quick", "greet b", "echo c"]
      )
    }).pipe(Effect.scoped, Effect.provide(withGreet))
  )
})
