import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeModel from "../../support/agent/FakeModel.js"
import * as Running from "../../support/agent/Running.js"

const used = { input: 100, output: 10, cached: 40 }

describe("AgentLoop", () => {
  it.effect("asks, runs the calls in order, and ends with the model's answer; every step is an event", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect([
        { text: ["Let me ", "look."], calls: ["ls", "pwd"], usage: used },
        { text: "Done.", usage: used }
      ])
      assert.deepStrictEqual(Running.tags(events), [
        ..."Started Appended TurnStarted Text Text TurnEnded Appended".split(" "),
        ..."ToolStarted ToolEnded Appended ToolStarted ToolEnded Appended".split(" "),
        ..."TurnStarted Text TurnEnded Appended Ended".split(" ")
      ])
      assert.deepStrictEqual(
        { ...ended },
        {
          _tag: "Ended",
          ending: "done",
          text: "Done.",
          reason: undefined,
          usage: { input: 200, output: 20, cached: 80, cost: undefined },
          turns: 2
        }
      )
      assert.deepStrictEqual(
        Running.only(events, "ToolEnded").map(({ call, result }) => [call.id, result.toolCallId, result.output]),
        [
          ["call_0_0", "call_0_0", "ls\n"],
          ["call_0_1", "call_0_1", "pwd\n"]
        ]
      )
      const second = fake.requests[1] ?? []
      assert.deepStrictEqual(
        second.map(({ role }) => role),
        ["system", "user", "assistant", "tool"]
      )
      const results = second.at(-1)
      assert.deepStrictEqual(
        results?.role === "tool" ? results.content.map(({ id, isFailure, result }) => ({ id, isFailure, result })) : [],
        [
          { id: "call_0_0", isFailure: false, result: "ls\n" },
          { id: "call_0_1", isFailure: false, result: "pwd\n" }
        ]
      )
    })
  )

  it.effect(
    "S30–S46: an unknown tool, broken JSON and invalid arguments are answered with the correction, and it goes on",
    () =>
      Effect.gen(function* () {
        const { ended, events } = yield* Running.collect([
          { calls: [{ name: "Shell", arguments: { command: "ls" } }] },
          { calls: [{ arguments: '{"command": "ls' }, { arguments: { comand: "ls" } }] },
          { calls: ["ls"] },
          { text: "Done." }
        ])
        const outputs = Running.only(events, "ToolEnded").map(({ result }) => result.output)
        assert.include(outputs[0], "Unknown tool")
        assert.include(outputs[1], "not JSON")
        assert.include(outputs[2], "Invalid parameters")
        assert.strictEqual(outputs[3], "ls\n")
        assert.strictEqual(ended.ending, "done")
      })
  )

  it.effect("ends with three turns in a row of wrong calls, says so, and keeps the text so far", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect([
        { text: "I try.", calls: [{ name: "Shell", arguments: {} }] },
        { calls: [{ arguments: "{" }] },
        { calls: [{ arguments: { nothing: 1 } }] }
      ])
      assert.strictEqual(ended.ending, "misuse")
      assert.strictEqual(ended.text, "I try.")
      assert.match(
        ended.reason ?? "",
        /^The model called its tool wrongly in 3 turns in a row\. The last answer was: "Invalid/
      )
    })
  )

  it.effect("goes on with a model that uses other commands wrongly, and ends with one that repeats itself", () =>
    Effect.gen(function* () {
      const others = yield* Running.collect([
        { calls: ["TodoWrite x"] },
        { calls: ["TodoWrite y"] },
        { calls: ["TodoWrite z"] },
        { text: "Done." }
      ])
      assert.strictEqual(others.ended.ending, "done")
      const same = { calls: ["TodoWrite x"] }
      const { ended } = yield* Running.collect([same, same, same])
      assert.match(
        ended.reason ?? "",
        /^The same command failed in 3 turns in a row: "TodoWrite x"\. The last answer was: "/
      )
    })
  )

  it.effect("begins to count wrong calls anew after one that is right", () =>
    Effect.gen(function* () {
      const wrong = { calls: [{ name: "Shell", arguments: {} }] }
      const { ended } = yield* Running.collect([wrong, wrong, { calls: ["ls"] }, wrong, wrong, { text: "Done." }])
      assert.strictEqual(ended.ending, "done")
    })
  )

  it.effect("gives calls without an id, or with one that was there, an id of their own", () =>
    Effect.gen(function* () {
      const same = { calls: [{ id: "a", arguments: { command: "one" } }] }
      const { ended, events, fake } = yield* Running.collect([
        same,
        same,
        { calls: [{ id: "", arguments: { command: "two" } }] },
        { text: "Done." }
      ])
      const ids = Running.only(events, "ToolEnded").map(({ call }) => call.id)
      assert.strictEqual(new Set(ids).size, 3)
      const sent = (fake.requests.at(-1) ?? []).flatMap((message) =>
        message.role === "assistant"
          ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
          : []
      )
      assert.deepStrictEqual(sent, ids)
      assert.strictEqual(ended.ending, "done")
    })
  )

  it.live("what a broken answer had said is not in the conversation, and its calls are not run", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect([
        { text: "Half of", calls: ["rm -r x"], fails: FakeModel.error("broken") },
        { text: "Whole." }
      ])
      assert.deepStrictEqual(
        Running.only(events, "Retrying").map(({ attempt, reason }) => [attempt, reason]),
        [[1, "It is broken."]]
      )
      assert.deepStrictEqual(Running.only(events, "ToolStarted"), [])
      assert.strictEqual(ended.text, "Whole.")
      assert.strictEqual(fake.requests.length, 2)
      assert.deepStrictEqual(fake.requests[1], fake.requests[0])
    })
  )

  it.effect("ends where the model can't be asked, with the reason and the text so far", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect([
        { text: "First.", calls: ["ls"] },
        { text: "Half", fails: FakeModel.error("auth", "The key is refused.") }
      ])
      assert.deepStrictEqual([ended.ending, ended.reason, ended.text], ["failed", "The key is refused.", "First."])
    })
  )

  it.effect("ends with a defect of a model as with any failure", () =>
    Effect.gen(function* () {
      const { ended } = yield* Running.collect([{ dies: "boom" }])
      assert.strictEqual(ended.ending, "failed")
      assert.include(ended.reason, "boom")
    })
  )

  it.effect("a refusal ends the run; what it would have called is not run", () =>
    Effect.gen(function* () {
      const { ended, events } = yield* Running.collect([{ text: "No.", calls: ["ls"], reason: "content-filter" }])
      assert.deepStrictEqual([ended.ending, ended.text], ["failed", "No."])
      assert.match(ended.reason ?? "", /refused/)
      assert.deepStrictEqual(Running.only(events, "ToolStarted"), [])
    })
  )

  it.effect("empty turns are asked for again, and three in a row end the run", () =>
    Effect.gen(function* () {
      const again = yield* Running.collect([{ calls: ["ls"] }, {}, { reasoning: "Hm." }, { text: "Done." }])
      assert.strictEqual(again.ended.ending, "done")
      assert.strictEqual(Running.only(again.events, "Reasoning").length, 1)
      const { ended, fake } = yield* Running.collect([{ calls: ["ls"] }, {}, {}, {}])
      assert.strictEqual(ended.ending, "failed")
      assert.strictEqual(ended.reason, "The model gave no answer in 3 turns in a row.")
      assert.strictEqual(fake.requests.length, 4)
    })
  )

  it.effect("an answer that was cut off goes on, and is one answer in the end", () =>
    Effect.gen(function* () {
      const { ended, fake } = yield* Running.collect([{ text: "One, ", reason: "length" }, { text: "two." }])
      assert.deepStrictEqual([ended.ending, ended.text], ["done", "One, two."])
      assert.deepStrictEqual(
        fake.requests[1]?.map(({ role }) => role),
        ["system", "user", "assistant", "user"]
      )
      const again = yield* Running.collect([{ text: "One, ", reason: "length" }, { calls: ["ls"] }, { text: "Two." }])
      assert.strictEqual(again.ended.text, "Two.")
    })
  )

  it.effect("a call that was cut off is not run, and the model is told why; the calls before it are", () =>
    Effect.gen(function* () {
      const { ended, events } = yield* Running.collect([
        { calls: ["ls", { arguments: '{"command":"cat >f <<E\\nhalf' }], reason: "length" },
        { text: "Done." }
      ])
      const outputs = Running.only(events, "ToolEnded").map(({ result }) => result.output)
      assert.strictEqual(outputs[0], "ls\n")
      assert.match(outputs[1] ?? "", /cut off.*not run/)
      assert.strictEqual(ended.ending, "done")
    })
  )

  it.effect("a text of fifty megabytes is given up", () =>
    Effect.gen(function* () {
      const text = Array.from({ length: 50 }, () => "x".repeat(1_000_000))
      const { ended } = yield* Running.collect([{ text }])
      assert.deepStrictEqual([ended.ending, ended.text.length], ["failed", 0])
      assert.include(ended.reason ?? "", "The model's answer is too long")
    })
  )

  it.effect("a hundred calls of one turn are run in their order", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 100 }, (_, at) => `echo ${at}`)
      const { events } = yield* Running.collect([{ calls }, { text: "Done." }])
      assert.deepStrictEqual(
        Running.only(events, "ToolEnded").map(({ result }) => result.output),
        calls.map((call) => `${call}\n`)
      )
    })
  )

  it.effect("goes on with a history, wherever that was cut", () =>
    Effect.gen(function* () {
      const first = yield* Running.collect([{ calls: ["ls", "pwd"] }, { text: "Done." }])
      const kept = Running.only(first.events, "Appended").flatMap(({ messages }) => messages)
      for (let cut = 0; cut <= kept.length; cut++) {
        const { ended, fake } = yield* Running.collect([{ text: "Again." }], { history: kept.slice(0, cut) })
        assert.strictEqual(ended.ending, "done")
        const [sent = []] = fake.requests
        sent.forEach((message, at) => {
          const calls =
            message.role === "assistant"
              ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
              : []
          const next = sent[at + 1]
          if (calls.length > 0) {
            assert.deepStrictEqual(next?.role === "tool" ? next.content.map(({ id }) => id) : [], calls)
          }
        })
      }
    })
  )
})
