import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as CommandListener from "../../../src/domain/CommandListener.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as Running from "../../support/agent/Running.js"
import * as Handlers from "../../support/Handlers.js"

const price = { input: 1, output: 10, cached: 0.1 }
const used = { input: 1000, output: 100, cached: 0 }

/** A model that never stops by itself. */
const endless = (_: unknown, at: number) => ({ text: `Step ${at}.`, calls: ["ls"], usage: used })

/** A command that uses a model, as a sub-agent does. */
const task = (usage: CommandListener.CommandUsage) => ({
  ...Handlers.show,
  name: "task:*",
  run: () =>
    Effect.flatMap(FiberRef.get(CommandListener.current), ({ account }) =>
      Effect.sync(() => {
        account?.add(usage)
        return CommandResult.make({ stdout: `${account?.reached()?.ending ?? "goes on"}\n` })
      })
    )
})

describe("the limits of a run", () => {
  it.effect("the limit on turns ends it, with what was done so far; the model is told of its last turn", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(endless, { limits: { maxTurns: 3 } })
      assert.deepStrictEqual([ended.ending, ended.text, ended.turns], ["turns", "Step 2.", 3])
      assert.strictEqual(
        ended.reason,
        "The limit of 3 turns is reached. Continue the conversation, with a higher limit."
      )
      assert.deepStrictEqual(
        fake.requests.map((messages) => JSON.stringify(messages).includes("This is the last turn")),
        [false, false, true]
      )
      assert.strictEqual(Running.only(events, "ToolEnded").length, 3)
      assert.notInclude(JSON.stringify(Running.only(events, "Appended")), "This is the last turn")
    })
  )

  it.effect("SYNAPSE_MAX_TOOL_ITERATIONS is the limit where a run has none", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect(endless, { settings: { maxTurns: 2 } })
      assert.deepStrictEqual([ended.ending, ended.turns], ["turns", 2])
      assert.strictEqual((yield* Running.collect(endless)).ended.turns, 50)
    })
  )

  it.effect("the limit on tokens ends it before the next request", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect(endless, { limits: { maxTokens: 2200 } })
      assert.deepStrictEqual([ended.ending, ended.turns], ["tokens", 2])
      assert.match(ended.reason ?? "", /^The limit of 2200 tokens is reached: 2200 were used\. /)
    })
  )

  it.effect("the budget ends it, in the currency of the prices; cached input costs less", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect(endless, { limits: { budget: 0.005 }, model: { price } })
      assert.deepStrictEqual([ended.ending, ended.turns, ended.usage.cost], ["budget", 3, 0.006])
      assert.match(ended.reason ?? "", /^The budget of 0\.005 is used up: it cost 0\.006\. /)
      const cached = yield* Running.collect([{ text: "Done.", usage: { input: 1000, output: 100, cached: 1000 } }], {
        model: { price }
      })
      assert.approximately(cached.ended.usage.cost ?? 0, 0.0011, 1e-9)
    })
  )

  it.effect("a budget without a price is refused before anything is asked", () =>
    Effect.gen(function* () {
      const { ended, fake } = yield* Running.collect(endless, { limits: { budget: 1 } })
      assert.deepStrictEqual([ended.ending, ended.turns, fake.requests.length], ["failed", 0, 0])
      assert.strictEqual(ended.reason, "A budget needs a price, and the settings have none for fake/fake-1.")
    })
  )

  it.effect("what sub-agents use counts, and they learn when their caller's limit is reached", () =>
    Effect.gen(function* () {
      const sub = { input: 5000, output: 0, cached: 0, cost: 0.5 }
      const { ended, events } = yield* Running.collect(
        [{ calls: ["task:general --prompt x", "task:general --prompt y"], usage: used }, { text: "never asked" }],
        { handlers: [task(sub)], limits: { maxTokens: 10_000, maxParallelTasks: 1 } }
      )
      assert.deepStrictEqual(
        Running.only(events, "ToolEnded").map(({ result }) => result.output),
        ["goes on\n", "tokens\n"]
      )
      assert.deepStrictEqual([ended.ending, ended.usage.input, ended.usage.cost], ["tokens", 11_000, 1])
    })
  )

  it.effect("a run within a command adds to its caller's account, and ends where that is used up", () =>
    Effect.gen(function* () {
      const added: Array<CommandListener.CommandUsage> = []
      const account: CommandListener.CommandAccount = {
        add: (usage) => added.push(usage),
        reached: () => (added.length < 2 ? undefined : { ending: "budget", reason: "The budget of 1 is used up." })
      }
      const { ended } = yield* Effect.locally(Running.collect(endless), CommandListener.current, { account })
      assert.strictEqual(added.length, 2)
      assert.deepStrictEqual([ended.ending, ended.reason, ended.turns], ["budget", "The budget of 1 is used up.", 2])
    })
  )

  it.effect("tokens that no provider counted are estimated, so that limits hold", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect(() => ({ calls: ["ls"] }), { limits: { maxTokens: 5000 } })
      assert.strictEqual(ended.ending, "tokens")
    })
  )

  it.effect("a limit that is no number, or nothing at all, lets nothing be asked", () =>
    Effect.gen(function* () {
      for (const limits of [{ maxTurns: 0 }, { maxTurns: Number.NaN }, { maxTokens: 0 }, { maxTokens: Number.NaN }]) {
        const { ended, fake } = yield* Running.collect(endless, { limits })
        assert.deepStrictEqual([ended.turns, fake.requests.length], [0, 0])
      }
    })
  )
})
