/** What servers of chat completions really send, each as the deltas of an answer. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"
import * as Resumed from "../../support/agent/Resumed.js"

const deltas = (...given: ReadonlyArray<object>): ModelServer.Reply =>
  ModelServer.raw(
    [
      ...given.map((delta) => JSON.stringify({ choices: [{ index: 0, delta }] })),
      JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
      "[DONE]"
    ]
      .map((data) => `data: ${data}\n\n`)
      .join("")
  )

const call = { index: 0, id: "c1", type: "function", function: { name: "Bash", arguments: '{"command":"ls"}' } }

describe("what a server adds to its message", () => {
  const { index: _, ...sent } = call
  it.scopedLive.each([
    {
      name: "reasoning in two fields",
      parts: [
        { reasoning: "I ", reasoning_content: "I " },
        { reasoning: "look.", reasoning_content: "look." },
        { tool_calls: [call] }
      ],
      back: { reasoning: "I look.", reasoning_content: "I look.", tool_calls: [sent] }
    },
    {
      name: "OpenRouter's details, in parts",
      parts: [
        { reasoning_details: [{ type: "reasoning.text", text: "I ", format: "f", index: 0 }] },
        { reasoning_details: [{ type: "reasoning.text", text: "look.", format: "f", index: 0 }] },
        { reasoning_details: [{ type: "reasoning.encrypted", data: "E==", id: "r1", index: 0 }] },
        { reasoning_details: [{ type: "reasoning.encrypted", data: "F==", id: "r2", index: 0 }] },
        { tool_calls: [call] }
      ],
      back: {
        reasoning_details: [
          { type: "reasoning.text", text: "I look.", format: "f", index: 0 },
          { type: "reasoning.encrypted", data: "E==", id: "r1", index: 0 },
          { type: "reasoning.encrypted", data: "F==", id: "r2", index: 0 }
        ],
        tool_calls: [sent]
      }
    },
    {
      name: "fields that nobody knows",
      parts: [
        { later: { state: "a", more: null } },
        { later: { state: "b" }, tool_calls: [{ ...call, function: { ...call.function, later: [1] } }] }
      ],
      back: {
        later: { state: "ab", more: null },
        tool_calls: [{ ...sent, function: { ...sent.function, later: [1] } }]
      }
    }
  ])("goes back to it, and to no other server: $name", ({ back, parts }) =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([deltas(...parts), ModelServer.text("ok")])
      const other = yield* ModelServer.serve([ModelServer.text("ok"), ModelServer.text("ok")])
      const prompt = Resumed.prompt(Models.finished(yield* Models.ask(server, "compatible")))
      yield* Models.ask(server, "compatible", { prompt })
      yield* Models.ask(other, "compatible", { prompt })
      yield* Models.ask(other, "anthropic", { prompt })
      assert.deepStrictEqual(server.requests[1]?.body.messages[1], { ...back, role: "assistant", content: null })
      assert.deepStrictEqual(other.requests[0]?.body.messages[1], {
        role: "assistant",
        content: null,
        tool_calls: [sent]
      })
      for (const { text } of other.requests) assert.notMatch(text, /I |E==|later|compatible/)
    })
  )

  it.scopedLive("is left out where it is nested too deeply for a transcript", () =>
    Effect.gen(function* () {
      const deep = JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`)
      const server = yield* ModelServer.serve([deltas({ deep }, { tool_calls: [call] }), ModelServer.text("ok")])
      const prompt = Resumed.prompt(Models.finished(yield* Models.ask(server, "compatible")))
      yield* Models.ask(server, "compatible", { prompt })
      assert.notProperty(server.requests[1]?.body.messages[1], "deep")
    })
  )
})

const answered = (...parts: ReadonlyArray<object>) =>
  Effect.gen(function* () {
    const server = yield* ModelServer.serve([deltas(...parts)])
    const read = yield* Models.ask(server, "compatible")
    const { calls, text } = Models.finished(read)
    const thoughts = read.map((part) => (part._tag === "Reasoning" ? part.delta : "")).join("")
    return { calls: calls.map(({ arguments: given, name }) => `${name} ${given}`), text, thoughts }
  })

const calling = (more: object, name?: string, given = "") => ({
  tool_calls: [{ index: 0, ...more, function: { ...(name === undefined ? {} : { name }), arguments: given } }]
})
const [one, two] = ['{"command":"one"}', '{"command":"two"}']

describe("a server with ways of its own", () => {
  it.scopedLive.each([
    {
      name: "calls with one index in one delta",
      parts: [
        {
          tool_calls: [...calling({ id: "a" }, "Bash", one).tool_calls, ...calling({ id: "b" }, "Bash", two).tool_calls]
        }
      ],
      expected: { calls: [`Bash ${one}`, `Bash ${two}`], text: "", thoughts: "" }
    },
    {
      name: "calls with one index, in parts",
      parts: [
        calling({ id: "a" }, "Bash"),
        calling({}, undefined, one.slice(0, 5)),
        calling({ id: "b" }, "Bash"),
        calling({ id: "b" }, undefined, two),
        calling({ id: "a" }, undefined, one.slice(5))
      ],
      expected: { calls: [`Bash ${one}`, `Bash ${two}`], text: "", thoughts: "" }
    },
    {
      name: "calls with one index and without ids",
      parts: [calling({}, "Bash", one), calling({}, "Bash", two)],
      expected: { calls: [`Bash ${one}`, `Bash ${two}`], text: "", thoughts: "" }
    }
  ])("is understood: $name", ({ expected, parts }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* answered(...parts), expected)
    })
  )
})
