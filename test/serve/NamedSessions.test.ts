import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as NamedSessions from "../../src/serve/NamedSessions.js"

const request = (layer: Layer.Layer<never, string> = Layer.empty): NamedSessions.Request<never, string> => ({
  directory: "/",
  options: "",
  layer,
  within: (effect) => effect
})

const settled = Effect.repeatN(Effect.yieldNow(), 50)

describe("named sessions", () => {
  it.scoped("are kept while a command runs, and for a time after it", () =>
    Effect.gen(function* () {
      const { isEmpty, use } = yield* NamedSessions.make<never, string>(1000, () => {})
      const over = yield* Deferred.make<void>()
      const running = yield* Effect.fork(use("s", request(), Deferred.await(over)))
      yield* TestClock.adjust(10_000)
      yield* settled
      assert.isFalse(isEmpty())
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(running)
      yield* TestClock.adjust(999)
      yield* settled
      assert.isFalse(isEmpty())
      yield* TestClock.adjust(1000)
      yield* settled
      assert.isTrue(isEmpty())
    })
  )

  it.scoped("are 100 at most, and none that could not be opened", () =>
    Effect.gen(function* () {
      const { isEmpty, stop, use } = yield* NamedSessions.make<never, string>(1000, () => {})
      assert.strictEqual(yield* Effect.flip(use("s", request(Layer.fail("no")), Effect.void)), "no")
      yield* settled
      assert.isTrue(isEmpty())
      for (let at = 0; at < 100; at++) yield* use(`s${at}`, request(), Effect.void)
      const refused = yield* Effect.flip(use("more", request(), Effect.void))
      assert.match(String(refused), /100 sessions are open/)
      assert.isTrue(yield* stop("s0"))
      yield* use("more", request(), Effect.void)
    })
  )

  it.scoped("refuse other options, and run each command with the settings of the first", () =>
    Effect.gen(function* () {
      const { use } = yield* NamedSessions.make<never, string>(1000, () => {})
      const settings = yield* FiberRef.make("daemon")
      const within: NamedSessions.Request<never, string>["within"] = Effect.locally(settings, "first")
      const first = { ...request(), options: "--deny x", within }
      assert.strictEqual(yield* use("s", first, FiberRef.get(settings)), "first")
      assert.strictEqual(yield* use("s", { ...request(), options: undefined }, FiberRef.get(settings)), "first")
      const refused = yield* Effect.flip(use("s", { ...first, options: "--deny y" }, Effect.void))
      assert.match(String(refused), /was opened with other options/)
    })
  )
})
