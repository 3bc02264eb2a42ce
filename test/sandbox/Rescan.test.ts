import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as LocalSandboxProvider from "../../src/sandbox/LocalSandboxProvider.js"

/** Counts the scans. Each takes `takes` milliseconds. */
const counting = (takes: number, after: Effect.Effect<void, string> = Effect.void) =>
  Effect.gen(function* () {
    let scans = 0
    const rescan = yield* LocalSandboxProvider.makeRescan(
      Effect.sync(() => void scans++).pipe(Effect.zipRight(Effect.sleep(takes)), Effect.zipRight(after))
    )
    const ended = Effect.sync(rescan)
    /** A command ends, and time goes by. */
    const pass = (milliseconds: number) =>
      Effect.zipRight(
        ended,
        Effect.map(TestClock.adjust(milliseconds), () => scans)
      )
    return { ended, pass, scans: () => scans }
  })

describe("looking again", () => {
  it.scoped("waits a second after the start, and a second after each look", () =>
    Effect.gen(function* () {
      const { pass } = yield* counting(0)
      const seen = yield* Effect.forEach([500, 499, 1, 998, 2, 1000], pass)
      assert.deepStrictEqual(seen, [0, 0, 1, 1, 2, 3])
    })
  )

  it.scoped("looks once for however many commands", () =>
    Effect.gen(function* () {
      const { ended, pass, scans } = yield* counting(0)
      yield* Effect.repeatN(ended, 99)
      yield* TestClock.adjust(1000)
      assert.strictEqual(scans(), 1)
      assert.strictEqual(yield* pass(1000), 2)
    })
  )

  it.scoped("looks for nothing where no command has ended", () =>
    Effect.gen(function* () {
      const { pass, scans } = yield* counting(0)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(scans(), 0)
      assert.strictEqual(yield* pass(0), 1)
    })
  )

  it.scoped("takes no more than a twentieth of the time", () =>
    Effect.gen(function* () {
      const { pass } = yield* counting(500)
      const seen = yield* Effect.forEach([1000, 500, 9999, 1, 500], pass)
      assert.deepStrictEqual(seen, [1, 1, 1, 2, 2])
    })
  )

  it.scoped("goes on after a look that failed", () =>
    Effect.gen(function* () {
      const { pass } = yield* counting(0, Effect.fail("no"))
      assert.deepStrictEqual(yield* Effect.forEach([1000, 1000], pass), [1, 2])
    })
  )
})
