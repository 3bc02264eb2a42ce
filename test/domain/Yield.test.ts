import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Yield from "../../src/domain/Yield.js"

/** Work that yields `rests` times, after a millisecond each. */
function* work(rests: number, seen: Array<number> = []): Yield.Steps<number> {
  for (let at = 0; at < rests; at++) {
    for (const end = performance.now() + 1; performance.now() < end; );
    seen.push(at)
    yield
  }
  return rests
}

/** Counts the turns of the event loop while an effect runs. */
const turns = <A>(effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let count = 0
    let timer = setImmediate(function again() {
      count++
      timer = setImmediate(again)
    })
    const value = yield* effect
    clearImmediate(timer)
    return { value, count }
  })

describe("a pass over a text", () => {
  it.live("waits for a turn of the event loop where the text is long, and is made at once where it is not", () =>
    Effect.gen(function* () {
      for (const [size, expected] of [
        [1, false],
        [1_000_000, true]
      ] as const) {
        let hadTurn = false
        setImmediate(() => {
          hadTurn = true
        })
        assert.strictEqual(
          yield* Yield.pass(
            "a".repeat(size),
            Effect.sync(() => hadTurn)
          ),
          expected
        )
        yield* Effect.sleep(1)
      }
    })
  )
})

describe("work in slices", () => {
  it.live("lets the event loop have its turn, however long it is", () =>
    Effect.gen(function* () {
      const { count, value } = yield* turns(Yield.run(() => work(100)))
      assert.strictEqual(value, 100)
      // Slices of 8 ms; a slow machine makes more of them.
      assert.isAtLeast(count, 10)
    })
  )

  it("is done at once where it has no rests, and by those who can't wait", () => {
    assert.strictEqual(Effect.runSync(Yield.run(() => work(0))), 0)
    assert.strictEqual(Yield.now(work(20)), 20)
  })

  it.live("has a turn of its own, however much other work there is", () =>
    Effect.gen(function* () {
      const works = Array.from({ length: 8 }, () => Yield.run(() => work(20)))
      const { count, value } = yield* turns(Effect.all(works, { concurrency: "unbounded" }))
      assert.deepStrictEqual(
        value,
        works.map(() => 20)
      )
      assert.isAtLeast(count, 12)
    })
  )

  it.live("ends where it is interrupted, and others go on", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const fiber = yield* Effect.fork(Yield.run(() => work(100_000, seen)))
      const other = yield* Effect.fork(Yield.run(() => work(30)))
      yield* Effect.sleep(20)
      yield* Fiber.interrupt(fiber)
      const { length } = seen
      assert.isAbove(length, 0)
      assert.strictEqual(yield* Fiber.join(other), 30)
      assert.strictEqual(yield* Yield.run(() => work(10)), 10)
      assert.strictEqual(seen.length, length)
    })
  )
})
