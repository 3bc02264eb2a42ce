/** Whose turn it is in a manager's sandbox. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as Directory from "../support/sandbox/Directory.js"
import { FakeProvider, type Options, withManager } from "../support/sandbox/Managed.js"

const inDirectory = <A, E>(use: (options: Options) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([home, cwd]) => use({ home, cwd })))

/** A sandbox in which `slow` runs until it is let go. */
const slow = Effect.gen(function* () {
  const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
  const provider = new FakeProvider((command) =>
    command === "slow"
      ? Effect.as(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go)), {})
      : { stdout: command }
  )
  return { begun: Deferred.await(begun), go: Deferred.succeed(go, undefined), provider }
})

describe("the turns of a manager's commands", () => {
  it.live("S21: a restart that is asked for with a command comes before it, and costs no place in the line", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const { begun, go, provider } = yield* slow
        provider.restarting = Effect.repeatN(Effect.yieldNow(), 10)
        yield* withManager(provider, options, ({ execute }) =>
          Effect.gen(function* () {
            yield* execute("a", { restart: true })
            const fibers = [yield* Effect.fork(execute("slow"))]
            yield* begun
            fibers.push(yield* Effect.fork(execute("b", { restart: true })))
            yield* Effect.yieldNow()
            fibers.push(yield* Effect.fork(execute("c")))
            yield* Effect.yieldNow()
            yield* go
            yield* Fiber.joinAll(fibers)
          })
        )
        assert.deepStrictEqual(provider.events, [
          "create 1",
          "run a in 1",
          "run slow in 1",
          "restart 1",
          "run b in 1",
          "run c in 1",
          "dispose 1"
        ])
      })
    )
  )

  it.live("are the order of the calls, also where a command before them met a crash", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider((command, made) =>
          command === "a" && made === 1 ? new ExecutionFailed({ kind: "crash", reason: "it is gone" }) : {}
        )
        yield* withManager(provider, options, ({ execute }) =>
          Effect.forEach(["a", "b", "c", "d"], (command) => execute(command), { concurrency: "unbounded" })
        )
        assert.deepStrictEqual(provider.events, [
          "create 1",
          "run a in 1",
          "dispose 1",
          "create 2",
          ...["a", "b", "c", "d"].map((command) => `run ${command} in 2`),
          "dispose 2"
        ])
      })
    )
  )

  it.live("are so in a sandbox that is free", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider((command, made) =>
          command === "a" && made === 1
            ? Effect.zipRight(Effect.yieldNow(), new ExecutionFailed({ kind: "crash", reason: "it is gone" }))
            : {}
        )
        provider.disposing = Effect.repeatN(Effect.yieldNow(), 10)
        yield* withManager(provider, options, ({ execute }) =>
          Effect.zipRight(
            execute("first"),
            Effect.forEach(["a", "b", "c"], (command) => execute(command), { concurrency: "unbounded" })
          )
        )
        assert.deepStrictEqual(provider.events, [
          "create 1",
          "run first in 1",
          "run a in 1",
          "dispose 1",
          "create 2",
          ...["a", "b", "c"].map((command) => `run ${command} in 2`),
          "dispose 2"
        ])
      })
    )
  )

  it.live("the status of a call that came before the first sandbox is its shell's", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, ({ execute, setStatus }) =>
          Effect.zipRight(setStatus(3), Effect.zipRight(execute("a"), execute("b")))
        )
        assert.deepStrictEqual(provider.events, ["create 1", "status 3 in 1", "run a in 1", "run b in 1", "dispose 1"])
      })
    )
  )

  it.live("a restart ends no command that waits", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const { begun, go, provider } = yield* slow
        yield* withManager(provider, options, ({ execute, restart }) =>
          Effect.gen(function* () {
            yield* execute("first")
            const running = yield* Effect.fork(execute("slow"))
            yield* begun
            const waiting = yield* Effect.fork(execute("next"))
            yield* Effect.yieldNow()
            yield* restart
            yield* go
            yield* Fiber.join(running)
            assert.strictEqual((yield* Fiber.join(waiting)).stdout, "next")
          })
        )
      })
    )
  )

  it.live("go on in the next sandbox where theirs was ended while they waited", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const { begun, go, provider } = yield* slow
        yield* withManager(provider, options, ({ addRuntimeWhitelist, execute }) =>
          Effect.gen(function* () {
            const running = yield* Effect.fork(execute("slow"))
            yield* begun
            const waiting = yield* Effect.fork(Effect.all([execute("a"), execute("b")], { concurrency: "unbounded" }))
            yield* Effect.yieldNow()
            yield* addRuntimeWhitelist("/path1")
            yield* go
            yield* Fiber.join(running)
            assert.deepStrictEqual(
              (yield* Fiber.join(waiting)).map(({ stdout }) => stdout),
              ["a", "b"]
            )
          })
        )
        assert.deepStrictEqual(provider.events.slice(-3), ["run a in 2", "run b in 2", "dispose 2"])
      })
    )
  )

  it.live("a crash ends no sandbox but its own", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const crash = new ExecutionFailed({ kind: "crash", reason: "it is gone" })
        const provider = new FakeProvider((_, made) =>
          made === 1
            ? Deferred.succeed(begun, undefined).pipe(Effect.zipRight(Deferred.await(go)), Effect.zipRight(crash))
            : {}
        )
        yield* withManager(provider, options, ({ addRuntimeWhitelist, execute }) =>
          Effect.gen(function* () {
            const running = yield* Effect.fork(execute("a"))
            yield* Deferred.await(begun)
            yield* addRuntimeWhitelist("/path1")
            yield* Deferred.succeed(go, undefined)
            yield* Fiber.join(running)
          })
        )
        assert.deepStrictEqual(provider.events.slice(2), ["dispose 1", "create 2", "run a in 2", "dispose 2"])
      })
    )
  )

  it.live("a restart builds the sandbox anew where sandbox.json has changed since", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, ({ execute, restart }) =>
          Effect.gen(function* () {
            yield* execute("a")
            yield* restart
            Fs.writeFileSync(`${options.home}/sandbox.json`, "{}")
            yield* restart
            yield* execute("b")
          })
        )
        assert.deepStrictEqual(provider.events.slice(2), [
          "restart 1",
          "dispose 1",
          "create 2",
          "run b in 2",
          "dispose 2"
        ])
      })
    )
  )

  it.live("S57: a directory in place of the options is the one whose sandbox the command runs in", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, ({ execute }) =>
          Effect.gen(function* () {
            yield* execute("a")
            yield* execute("b", "/workspace")
            yield* execute("c", { cwd: "/workspace" })
          })
        )
        assert.deepStrictEqual(
          provider.policies.map(({ cwd }) => cwd),
          [options.cwd, "/workspace"]
        )
        assert.deepStrictEqual(provider.events.slice(2), [
          "dispose 1",
          "create 2",
          "run b in 2",
          "run c in 2",
          "dispose 2"
        ])
      })
    )
  )
})
