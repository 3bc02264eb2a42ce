import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as ReadyShells from "../../src/serve/ReadyShells.js"

class Shell extends Context.Tag("Shell")<Shell, number>() {}

const settled = Effect.repeatN(Effect.yieldNow(), 50)

describe("ready shells", () => {
  /** Makes shells with numbers, and takes one of a key. */
  const making = Effect.gen(function* () {
    const ended: Array<number> = []
    let made = 0
    const { clear, isEmpty, take } = yield* ReadyShells.make<Shell, never>(() => {})
    const layer = () =>
      Layer.scoped(
        Shell,
        Effect.acquireRelease(
          Effect.sync(() => made++),
          (at) => Effect.sync(() => ended.push(at))
        )
      )
    const ask = (key: string) =>
      Effect.map(take({ key, layer, within: (effect) => effect, start: Effect.void }), (found) =>
        found === undefined ? undefined : Context.get(found, Shell)
      )
    const warm = (key: string) =>
      Effect.zipRight(Effect.scoped(ask(key)), Effect.zipRight(TestClock.adjust(250), settled))
    return { ask, clear, ended, isEmpty, warm }
  })

  it.scoped("are given to one each, and followed by the next", () =>
    Effect.gen(function* () {
      const { ask, warm } = yield* making
      yield* warm("a")
      const both = yield* Effect.scoped(Effect.all([ask("a"), ask("a")], { concurrency: 2 }))
      assert.sameMembers([...both], [0, undefined])
      yield* TestClock.adjust(250)
      yield* settled
      assert.strictEqual(yield* Effect.scoped(ask("a")), 1)
    })
  )

  it.scoped("are eight at most, for five minutes", () =>
    Effect.gen(function* () {
      const { ended, isEmpty, warm } = yield* making
      for (let at = 0; at < 9; at++) yield* warm(`${at}`)
      assert.deepStrictEqual(ended, [0])
      yield* TestClock.adjust(300_000)
      yield* settled
      assert.lengthOf(ended, 9)
      assert.isTrue(isEmpty())
    })
  )

  it.scoped("have no successor if all were ended while they were used", () =>
    Effect.gen(function* () {
      const { ask, clear, ended, isEmpty, warm } = yield* making
      yield* warm("a")
      yield* Effect.scoped(Effect.zipRight(ask("a"), clear))
      yield* settled
      assert.deepStrictEqual([ended, isEmpty()], [[0], true])
    })
  )
})
