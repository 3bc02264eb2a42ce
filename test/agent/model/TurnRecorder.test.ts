import * as Prompt from "@effect/ai/Prompt"
import * as Response from "@effect/ai/Response"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Turn from "../../../src/agent/model/Turn.js"

const text = (delta: string) => Response.makePart("text-delta", { id: "1", delta })

describe("an answer without an end", () => {
  it.effect("is stopped by its length, and is not asked for again", () =>
    Effect.gen(function* () {
      const recorder = new Turn.TurnRecorder(Prompt.empty)
      yield* recorder.accept(text("x".repeat(Turn.longestAnswer - 3)))
      yield* recorder.accept(text("x"))
      // A part counts as a character.
      const error = yield* Effect.flip(recorder.accept(text("")))
      assert.deepStrictEqual([error.kind, error.isRetryable], ["too_long", false])
    })
  )
})

describe("what no provider means", () => {
  const usage = (inputTokens: number, outputTokens: number) =>
    Response.makePart("finish", { reason: "stop", usage: { inputTokens, outputTokens, totalTokens: undefined } })

  it.effect("counts of tokens that are no counts are left out", () =>
    Effect.gen(function* () {
      for (const count of [Number.POSITIVE_INFINITY, 1.7e308, 1e13, -1, Number.NaN]) {
        const recorder = new Turn.TurnRecorder(Prompt.empty)
        yield* recorder.accept(text("x".repeat(40)))
        const [part] = yield* recorder.accept(usage(count, count))
        assert.deepStrictEqual(part?._tag === "Finished" ? part.usage : undefined, {
          input: undefined,
          output: undefined,
          cached: 0
        })
      }
    })
  )

  it.effect("the beginning of a tool's name is kept", () =>
    Effect.gen(function* () {
      const recorder = new Turn.TurnRecorder(Prompt.empty)
      const name = "N".repeat(1_000_000)
      yield* recorder.accept(Response.makePart("tool-params-start", { id: "1", name, providerExecuted: false }))
      const [part] = yield* recorder.accept(usage(1, 1))
      assert.deepStrictEqual(part?._tag === "Finished" ? part.calls.map((call) => call.name.length) : [], [200])
    })
  )

  it.effect("arguments that are nested too deeply to be kept become text", () =>
    Effect.gen(function* () {
      const recorder = new Turn.TurnRecorder(Prompt.empty)
      const deep = `{"deep":${"[".repeat(100)}${"]".repeat(100)}}`
      yield* recorder.accept(Response.makePart("tool-params-start", { id: "1", name: "Bash", providerExecuted: false }))
      yield* recorder.accept(Response.makePart("tool-params-delta", { id: "1", delta: deep }))
      const [part] = yield* recorder.accept(usage(1, 1))
      const [call] = part?._tag === "Finished" ? (part.message?.content ?? []) : []
      assert.deepStrictEqual(call?.type === "tool-call" && call.params, { invalid_arguments: deep })
    })
  )
})
