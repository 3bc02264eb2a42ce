import * as Prompt from "@effect/ai/Prompt"
import * as Response from "@effect/ai/Response"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TurnRecorder from "../../../src/agent/model/TurnRecorder.js"

const text = (delta: string) => Response.makePart("text-delta", { id: "1", delta })

describe("an answer without an end", () => {
  it.effect("is stopped by its length, and is not asked for again", () =>
    Effect.gen(function* () {
      const { accept } = TurnRecorder.make(Prompt.empty)
      const half = "x".repeat(TurnRecorder.limits.characters / 2)
      yield* accept(text(half))
      yield* accept(text(half))
      const error = yield* Effect.flip(accept(text("x")))
      assert.deepStrictEqual([error.kind, error.isRetryable], ["too_long", false])
    })
  )

  it.effect("is stopped by the number of its parts", () =>
    Effect.gen(function* () {
      const { accept } = TurnRecorder.make(Prompt.empty)
      for (let part = 0; part < TurnRecorder.limits.parts; part++) accept(text(""))
      assert.strictEqual((yield* Effect.flip(accept(text("")))).kind, "too_long")
    })
  )
})
