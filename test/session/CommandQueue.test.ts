import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CommandQueue } from "../../src/session/internal/CommandQueue.js"

const yieldOften = Effect.repeatN(Effect.yieldNow(), 20)

describe("a queue for one turn", () => {
  it.effect("hands it over in the order of asking, and to nobody who comes in between", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const seen: Array<string> = []
      const note = (name: string) => Effect.sync(() => void seen.push(name))
      const first = {}
      yield* queue.take(first)
      const fibers = yield* Effect.forEach(["a", "b", "c"], (name) =>
        Effect.tap(Effect.fork(queue.hold(Effect.zipRight(note(name), yieldOften))), yieldOften)
      )
      queue.leave(first)
      assert.isFalse(queue.tryTake({}))
      yield* queue.hold(note("late"))
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(seen, ["a", "b", "c", "late"])
      assert.isTrue(queue.isFree)
    })
  )

  it.effect("gives up a place, or a turn that has just come, when whoever asked is interrupted", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const first = {}
      yield* queue.take(first)
      const [waiting, next] = yield* Effect.forEach([0, 1], () =>
        Effect.tap(Effect.fork(queue.hold(Effect.never)), yieldOften)
      )
      assert.isDefined(waiting)
      assert.isDefined(next)
      // Both come before the fiber goes on: its turn, and its end.
      queue.leave(first)
      if (waiting !== undefined) yield* Fiber.interrupt(waiting)
      assert.isFalse(queue.isFree)
      if (next !== undefined) yield* Fiber.interrupt(next)
      assert.isTrue(queue.isFree)
    })
  )

  it.effect("has nothing to take from whoever has no turn", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const one = {}
      assert.isTrue(queue.tryTake(one))
      queue.leave({})
      assert.isFalse(queue.isFree)
      queue.leave(one)
      queue.leave(one)
      assert.isTrue(queue.isFree)
      assert.strictEqual(yield* queue.hold(Effect.succeed(1)), 1)
    })
  )
})
