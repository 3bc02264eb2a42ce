import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as CallContext from "../../../src/domain/CallContext.js"
import * as CommandListener from "../../../src/domain/CommandListener.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as FakeModel from "../../support/agent/FakeModel.js"
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
      assert.strictEqual(ended.reason, "The limit of 3 turns is reached.")
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
      assert.match(ended.reason ?? "", /^The limit of 2200 tokens is reached: 2200 were used\.$/)
    })
  )

  it.effect("the budget ends it, in the currency of the prices; cached input costs less", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect(endless, { limits: { budget: 0.005 }, model: { price } })
      assert.deepStrictEqual([ended.ending, ended.turns, ended.usage.cost], ["budget", 3, 0.006])
      assert.match(ended.reason ?? "", /^The budget of 0\.005 is used up: it cost 0\.006\.$/)
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
      assert.strictEqual(
        ended.reason,
        'A budget needs the model\'s price. Set it in settings.json, per million tokens: {"prices": {"fake-1": {"input": 3, "output": 15}}}'
      )
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
        hasBudget: false,
        add: (usage) => added.push(usage),
        reached: () => (added.length < 2 ? undefined : { ending: "budget", reason: "The budget of 1 is used up." })
      }
      const { ended } = yield* CallContext.locally(Running.collect(endless), { listener: { account } })
      assert.strictEqual(added.length, 2)
      assert.deepStrictEqual([ended.ending, ended.reason, ended.turns], ["budget", "The budget of 1 is used up.", 2])
    })
  )

  it.live("answers that break off are counted, and are not tried again beyond a limit", () =>
    Effect.gen(function* () {
      const broken = () => ({ text: "x".repeat(4000), fails: FakeModel.error("broken") })
      const { ended, events, fake } = yield* Running.collect(broken, { limits: { maxTokens: 3000 } })
      assert.deepStrictEqual([ended.ending, ended.usage.output], ["tokens", 2000])
      assert.strictEqual(fake.requests.length, 2)
      assert.lengthOf(Running.only(events, "Retrying"), 1)
      const refused = yield* Running.collect([{ fails: FakeModel.error("auth") }])
      assert.deepStrictEqual([refused.ended.usage.input, refused.ended.usage.output], [0, 0])
    })
  )

  it.effect("of too many calls in one turn, the first are run, and all that was used is counted", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 130 }, (_, at) => `echo ${at}`)
      const { ended, events } = yield* Running.collect([
        { calls, usage: { input: 50_000, output: 50_000 } },
        { text: "Done.", usage: { input: 1, output: 1 } }
      ])
      assert.lengthOf(Running.only(events, "ToolEnded"), 128)
      assert.deepStrictEqual([ended.ending, ended.usage.input], ["done", 50_001])
    })
  )

  it.effect("a caller's budget asks every model for a price", () =>
    Effect.gen(function* () {
      const account = { hasBudget: true, add: () => {}, reached: () => undefined }
      const { ended, fake } = yield* CallContext.locally(Running.collect(endless), { listener: { account } })
      assert.deepStrictEqual([ended.ending, fake.requests.length], ["failed", 0])
      assert.include(ended.reason ?? "", '"prices"')
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
