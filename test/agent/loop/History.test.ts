import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as History from "../../../src/agent/loop/History.js"
import * as Turn from "../../../src/agent/model/Turn.js"

const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const calling = (...ids: ReadonlyArray<string>) =>
  Prompt.assistantMessage({
    content: ids.map((id) =>
      Prompt.toolCallPart({ id, name: "Bash", params: { command: id }, providerExecuted: false })
    )
  })
const answering = (...ids: ReadonlyArray<string>) =>
  History.toolMessage(ids.map((id) => ({ call: { id, name: "Bash" }, result: { isError: false, output: `of ${id}` } })))
const interrupted = (id: string) =>
  History.toolMessage([{ call: { id, name: "Bash" }, result: { isError: true, output: History.interrupted } }])

const resultsOf = (message: Prompt.Message | undefined) =>
  message?.role === "tool" ? message.content.map(({ id, result }) => [id, result]) : []

describe("History.repair", () => {
  it("leaves a conversation that is in order as it is", () => {
    const whole = [
      user("a"),
      calling("1", "2"),
      answering("1", "2"),
      Prompt.assistantMessage({ content: [Prompt.textPart({ text: "b" })] })
    ]
    assert.deepStrictEqual(History.repair(whole), whole)
  })

  it("joins results of one message in the order of its calls", () => {
    assert.deepStrictEqual(History.repair([user("a"), calling("1", "2"), answering("2"), answering("1")]), [
      user("a"),
      calling("1", "2"),
      answering("1", "2")
    ])
  })

  it("answers a call without a result, and leaves out results without a call", () => {
    const repaired = History.repair([answering("0"), user("a"), calling("1"), user("b"), answering("9")])
    assert.deepStrictEqual(repaired, [user("a"), calling("1"), interrupted("1"), user("b")])
  })

  it("takes the first of two results, leaves out system messages and empty ones", () => {
    const repaired = History.repair([
      Prompt.systemMessage({ content: "old" }),
      Prompt.assistantMessage({ content: [] }),
      calling("1"),
      answering("1"),
      interrupted("1")
    ])
    assert.deepStrictEqual(repaired, [calling("1"), answering("1")])
  })

  it("whatever it is given, each call has one result right behind it, and each result a call", () => {
    const message = FastCheck.oneof(
      FastCheck.string().map(user),
      FastCheck.uniqueArray(FastCheck.constantFrom("1", "2", "3"), { maxLength: 3 }).map((ids) => calling(...ids)),
      FastCheck.array(FastCheck.constantFrom("1", "2", "3"), { maxLength: 3 }).map((ids) => answering(...ids))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(message, { maxLength: 12 }), (messages) => {
        const repaired = History.repair(messages)
        repaired.forEach((each, at) => {
          const calls = Turn.callsOf(each).map(({ id }) => id)
          if (calls.length > 0) {
            assert.deepStrictEqual(
              resultsOf(repaired[at + 1]).map(([id]) => id),
              calls
            )
          }
          if (each.role === "tool") assert.isNotEmpty(Turn.callsOf(repaired[at - 1] ?? user("")))
        })
        assert.deepStrictEqual(History.repair(repaired), repaired)
      })
    )
  })
})
