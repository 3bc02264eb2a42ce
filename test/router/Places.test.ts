import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as BashRouter from "../../src/router/BashRouter.js"

describe("places", () => {
  it.effect("keep calls in the order they came in", () =>
    Effect.gen(function* () {
      const places = BashRouter.make()
      const ended: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const says = (name: string) => Effect.sync(() => void ended.push(name))
      const slow = (name: string) => Effect.zipRight(Deferred.await(gate), says(name))
      const calls = [places.keep(slow("a")), places.behind(says("b")), places.keep(slow("c")), places.behind(says("d"))]
      const fibers = yield* Effect.forEach(calls, (call) => Effect.fork(call))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(ended, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(ended, ["a", "b", "c", "d"])
      yield* places.behind(says("e"))
      assert.strictEqual(ended.at(-1), "e")
    })
  )

  it.effect("outlast a call that is cancelled while it waits, fails or dies", () =>
    Effect.gen(function* () {
      const places = BashRouter.make()
      const ended: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const says = (name: string) => Effect.sync(() => void ended.push(name))
      const first = yield* Effect.fork(places.keep(Effect.zipRight(Deferred.await(gate), says("first"))))
      yield* Effect.yieldNow()
      const cancelled = yield* Effect.fork(places.keep(says("never")))
      yield* Effect.yieldNow()
      const last = yield* Effect.fork(places.behind(says("last")))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(cancelled)
      yield* Effect.yieldNow()
      assert.deepStrictEqual(ended, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(last)
      assert.deepStrictEqual(ended, ["first", "last"])
      yield* Effect.exit(places.keep(Effect.fail("x")))
      yield* Effect.exit(places.keep(Effect.die("x")))
      const interrupted = yield* Effect.fork(places.keep(Effect.never))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(interrupted)
      yield* places.behind(says("after"))
      assert.strictEqual(ended.at(-1), "after")
    })
  )

  it.effect("are given up for whoever does not wait", () =>
    Effect.gen(function* () {
      const places = BashRouter.make()
      const hanging = yield* Effect.fork(places.keep(Effect.never))
      yield* Effect.yieldNow()
      places.open()
      assert.strictEqual(yield* places.behind(Effect.succeed("now")), "now")
      yield* Fiber.interrupt(hanging)
    })
  )
})
