import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as CallContext from "../../src/domain/CallContext.js"
import { CommandQueue } from "../../src/session/CommandQueue.js"

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

describe("a queue of commands and of calls that need no shell", () => {
  it.effect("keeps calls in the order they came in", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const ended: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const says = (name: string) => Effect.sync(() => void ended.push(name))
      const slow = (name: string) => Effect.zipRight(Deferred.await(gate), says(name))
      const calls = [
        queue.enterPassable(slow("a")),
        queue.enter(says("b")),
        queue.enterPassable(slow("c")),
        queue.enter(says("d"))
      ]
      const fibers = yield* Effect.forEach(calls, (call) => Effect.fork(call))
      yield* yieldOften
      assert.deepStrictEqual(ended, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(ended, ["a", "b", "c", "d"])
      yield* queue.enter(says("e"))
      assert.strictEqual(ended.at(-1), "e")
    })
  )

  it.effect("outlasts a call that is cancelled while it waits, fails or dies", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const ended: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const says = (name: string) => Effect.sync(() => void ended.push(name))
      const first = yield* Effect.fork(queue.enterPassable(Effect.zipRight(Deferred.await(gate), says("first"))))
      yield* yieldOften
      const cancelled = yield* Effect.fork(queue.enterPassable(says("never")))
      yield* yieldOften
      const last = yield* Effect.fork(queue.enter(says("last")))
      yield* yieldOften
      yield* Fiber.interrupt(cancelled)
      yield* yieldOften
      assert.deepStrictEqual(ended, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(last)
      assert.deepStrictEqual(ended, ["first", "last"])
      yield* Effect.exit(queue.enterPassable(Effect.fail("x")))
      yield* Effect.exit(queue.enterPassable(Effect.die("x")))
      const interrupted = yield* Effect.fork(queue.enterPassable(Effect.never))
      yield* yieldOften
      yield* Fiber.interrupt(interrupted)
      yield* queue.enter(says("after"))
      assert.strictEqual(ended.at(-1), "after")
    })
  )

  it.effect("lets the parts of a call run in its turn", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const part = queue.enter(Effect.succeed("command"))
      assert.strictEqual(yield* queue.enterPassable(part), "command")
      assert.strictEqual(yield* queue.enterPassable(queue.enterPassable(Effect.succeed("call"))), "call")
      assert.isTrue(queue.isFree)
    })
  )

  it.effect("waits for no call whose turn comes after a restart", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const first = {}
      yield* queue.take(first)
      const hanging = yield* Effect.fork(queue.enterPassable(Effect.never))
      yield* yieldOften
      queue.pass()
      const next = yield* Effect.fork(queue.enter(Effect.succeed("next")))
      yield* yieldOften
      queue.leave(first)
      assert.strictEqual(yield* Fiber.join(next), "next")
      yield* Fiber.interrupt(hanging)
    })
  )

  it.effect("lets a call from inside the shell in at once: the command that has the turn waits for it", () =>
    Effect.gen(function* () {
      const [bridge, turn] = [{}, {}]
      const queue = new CommandQueue(bridge)
      yield* queue.take(turn)
      const inside = { within: bridge }
      for (const call of [queue.enter(Effect.succeed(1)), queue.enterPassable(Effect.succeed(1))]) {
        const fiber = yield* Effect.fork(CallContext.locally(call, inside))
        yield* yieldOften
        assert.isNotNull(fiber.unsafePoll())
      }
    })
  )

  it.effect("waits for no call that hangs after a restart", () =>
    Effect.gen(function* () {
      const queue = new CommandQueue()
      const hanging = yield* Effect.fork(queue.enterPassable(Effect.never))
      yield* yieldOften
      queue.pass()
      assert.strictEqual(yield* queue.enter(Effect.succeed("now")), "now")
      yield* Fiber.interrupt(hanging)
    })
  )
})
