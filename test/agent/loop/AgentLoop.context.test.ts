import type * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeModel from "../../support/agent/FakeModel.js"
import * as Running from "../../support/agent/Running.js"

const big = "line of an output\n".repeat(500)

/** A shell whose commands print much. */
const script = () => ({ stdout: big })

const results = (messages: ReadonlyArray<Prompt.Message> = []) =>
  messages.flatMap((message) => (message.role === "tool" ? message.content.map(({ result }) => String(result)) : []))

const turns = (count: number) => [
  ...Array.from({ length: count }, (_, at) => ({ text: `Step ${at}.`, calls: [`make ${at}`] })),
  { text: "Done." }
]

describe("the model's window", () => {
  it.effect("old outputs are replaced in batches; between them, the beginning of each request stays the same", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(turns(20), { script, model: { contextWindow: 20_000 } })
      assert.strictEqual(ended.ending, "done")
      const compactions = Running.only(events, "Compacted")
      assert.isAbove(compactions.length, 1)
      assert.isBelow(compactions.length, 7)
      assert.isTrue(compactions.every(({ dropped, replaced }) => replaced >= 2 && dropped === 0))
      let changed = 0
      fake.requests.forEach((messages, at) => {
        const before = fake.requests[at - 1] ?? []
        if (JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before)) changed++
      })
      assert.strictEqual(changed, compactions.length)
      const last = results(fake.requests.at(-1))
      assert.strictEqual(last.length, 20)
      assert.strictEqual(
        last[0],
        `[output left out to save room: ${big.length} characters; run the command again where you need it]`
      )
      assert.deepStrictEqual(last.slice(-3), [big, big, big])
      // What is recorded is the whole.
      assert.include(JSON.stringify(Running.only(events, "Appended")[2]), "line of an output")
      assert.strictEqual(Running.only(events, "ToolStarted").length, 20)
    })
  )

  it.effect("what the provider counts changes the estimate", () =>
    Effect.gen(function* () {
      const usage = (messages: ReadonlyArray<Prompt.Message>) => ({ input: JSON.stringify(messages).length, output: 1 })
      const { events } = yield* Running.collect(
        (messages, at) => (at < 8 ? { calls: ["make"], usage: usage(messages) } : { text: "Done." }),
        { script, model: { contextWindow: 60_000 } }
      )
      assert.isAbove(Running.only(events, "Compacted").length, 0)
    })
  )

  it.effect("a history that is too long is made shorter before it is sent", () =>
    Effect.gen(function* () {
      const first = yield* Running.collect(turns(20), { script })
      const history = Running.only(first.events, "Appended").flatMap(({ messages }) => messages)
      const { ended, events, fake } = yield* Running.collect([{ text: "Again." }], {
        script,
        history,
        model: { contextWindow: 20_000 }
      })
      assert.strictEqual(ended.ending, "done")
      assert.strictEqual(Running.only(events, "Compacted").length, 1)
      assert.isBelow(JSON.stringify(fake.requests[0]).length, 70_000)
    })
  )

  it.effect("where the provider refuses its length, the conversation is made shorter once, and sent again", () =>
    Effect.gen(function* () {
      let refused = 0
      const { ended, events, fake } = yield* Running.collect(
        (messages, at) => {
          if (JSON.stringify(messages).length > 50_000) {
            refused++
            return { fails: FakeModel.error("context_length", "At most 12000 tokens.") }
          }
          return at < 12 ? { calls: ["make"] } : { text: "Done." }
        },
        { script }
      )
      assert.strictEqual(ended.ending, "done")
      assert.isAbove(refused, 0)
      assert.strictEqual(Running.only(events, "Compacted").length, refused)
      assert.strictEqual(fake.requests.length, ended.turns + refused)
    })
  )

  it.effect("where nothing helps, the run says so", () =>
    Effect.gen(function* () {
      const refusing = () => ({ fails: FakeModel.error("context_length", "At most 10 tokens.") })
      const { ended, fake } = yield* Running.collect(refusing)
      assert.strictEqual(fake.requests.length, 1)
      assert.strictEqual(ended.ending, "failed")
      assert.strictEqual(
        ended.reason,
        "The conversation does not fit the model's window any more: At most 10 tokens. Begin a new one, or take a model with a larger window."
      )
      const after = yield* Running.collect((_, at) => (at < 6 ? { text: "Mine.", calls: ["make"] } : refusing()), {
        script
      })
      assert.strictEqual(after.ended.ending, "failed")
      assert.strictEqual(after.ended.text, "Mine.")
      assert.strictEqual(after.fake.requests.length, 8)
    })
  )

  it.effect("calls that hold much leave with the oldest turns, and the task stays", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(
        (_, at) => (at < 12 ? { calls: [`cat >f${at} <<'E'\n${big}E`] } : { text: "Done." }),
        { script: () => ({}), prompt: "The task.", model: { contextWindow: 20_000 } }
      )
      assert.strictEqual(ended.ending, "done")
      assert.isAbove(Running.only(events, "Compacted")[0]?.dropped ?? 0, 0)
      const last = JSON.stringify(fake.requests.at(-1))
      assert.isBelow(last.length, 70_000)
      assert.include(last, "The task.")
      assert.include(last, "messages were left out here")
    })
  )
})
