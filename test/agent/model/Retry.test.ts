import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Retry from "../../../src/agent/model/internal/Retry.js"
import { type Kind, ModelError } from "../../../src/agent/model/ModelError.js"

const error = (kind: Kind, retryAfter?: number) => new ModelError({ kind, reason: `it is ${kind}`, retryAfter })

/** The waits, until the request is given up. */
const delays = (failure: ModelError, chance: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let attempt = 1; attempt < 100; attempt++) {
    const delay = Retry.delayOf(failure, attempt, chance)
    if (delay === undefined) return found
    found.push(delay)
  }
  return found
}

describe("the wait before a retry", () => {
  it("doubles up to a bound, less up to a half by chance", () => {
    assert.deepStrictEqual(delays(error("overloaded"), 0), [500, 1000, 2000, 4000, 8000, 16_000, 30_000])
    assert.deepStrictEqual(delays(error("overloaded"), 1), [250, 500, 1000, 2000, 4000, 8000, 15_000])
  })

  it("is the one that the provider asks for, and a little more", () => {
    assert.strictEqual(Retry.delayOf(error("rate", 7000), 1, 0), 7000)
    assert.strictEqual(Retry.delayOf(error("rate", 7000), 1, 1), 7500)
    assert.strictEqual(Retry.delayOf(error("rate", 0), 1, 0), 0)
  })

  it("is none where the provider asks for too long a one, or it would not help", () => {
    assert.isUndefined(Retry.delayOf(error("rate", 120_001), 1, 0))
    for (const kind of ["auth", "refused", "bad_request", "context_length"] as const) {
      assert.deepStrictEqual(delays(error(kind), 0), [])
    }
  })

  it("is given up earlier where there is no server, or it says nothing", () => {
    assert.lengthOf(delays(error("transport"), 0), 4)
    assert.lengthOf(delays(error("broken"), 0), 3)
    assert.lengthOf(delays(error("timeout"), 0), 1)
  })
})

describe("a stream that fails", () => {
  it.effect("tells of each retry before it comes, and then waits", () =>
    Effect.gen(function* () {
      let tries = 0
      const self = Stream.suspend(() => {
        tries++
        return tries < 3
          ? Stream.concat(Stream.make(`half ${tries}`), Stream.fail(error("rate", 60_000)))
          : Stream.make("whole")
      })
      const policy = { ...Retry.defaults, first: 0 }
      const fiber = yield* Effect.fork(
        Stream.runCollect(Retry.stream(self, ({ attempt, delay }) => `retry ${attempt} in ${delay}`, policy))
      )
      yield* TestClock.adjust(60_000)
      assert.strictEqual(tries, 2)
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(fiber)), [
        "half 1",
        "retry 1 in 60000",
        "half 2",
        "retry 2 in 60000",
        "whole"
      ])
    })
  )

  it.effect("fails with the last error", () =>
    Effect.gen(function* () {
      const policy = { ...Retry.defaults, first: 0, retries: 2 }
      const failure = yield* Effect.flip(Stream.runDrain(Retry.stream(Stream.fail(error("rate", 0)), () => 0, policy)))
      assert.strictEqual(failure.reason, "it is rate")
    })
  )
})
