import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { FileTurns } from "../../src/files/FileTurns.js"

describe("FileTurns", () => {
  it.effect("go one after the other under one name, and side by side under two", () =>
    Effect.gen(function* () {
      const turns = new FileTurns()
      const running = new Map<string, number>()
      let most = 0
      const work = (name: string) =>
        Effect.gen(function* () {
          const beside = running.get(name) ?? 0
          assert.strictEqual(beside, 0)
          running.set(name, 1)
          most = Math.max(most, running.size)
          yield* Effect.yieldNow()
          running.delete(name)
        })
      const names = ["a", "b", "a", "c", "b", "a", "a"]
      yield* Effect.forEach(names, (name) => turns.take(name, work(name)), { concurrency: "unbounded" })
      assert.deepStrictEqual([most, turns.size], [3, 0])
    })
  )

  it.effect("are given back where what had one fails, and where who waited for one is gone", () =>
    Effect.gen(function* () {
      const turns = new FileTurns()
      assert.deepStrictEqual(yield* Effect.exit(turns.take("a", Effect.fail("no"))), Exit.fail("no"))
      assert.strictEqual(turns.size, 0)
      const started = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(
        turns.take("a", Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      )
      yield* Deferred.await(started)
      const waiting = yield* Effect.fork(turns.take("a", Effect.die("its turn never comes")))
      const last = yield* Effect.fork(turns.take("a", Effect.succeed("last")))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(turns.size, 1)
      yield* Fiber.interrupt(holder)
      assert.strictEqual(yield* Fiber.join(last), "last")
      assert.strictEqual(turns.size, 0)
    })
  )
})
