import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"

const image = new Uint8Array([1, 2, 3])

/** A conversation with all that an agent puts into one. */
const conversation = Prompt.fromMessages([
  Prompt.systemMessage({ content: "You are terse." }),
  Prompt.userMessage({ content: [Prompt.textPart({ text: "List." })] }),
  Prompt.assistantMessage({
    content: [
      Prompt.textPart({ text: "I look." }),
      Prompt.toolCallPart({ id: "c1", name: "Bash", params: { command: "ls" }, providerExecuted: false }),
      Prompt.toolCallPart({ id: "c2", name: "no.such tool", params: { x: 1 }, providerExecuted: false })
    ]
  }),
  Prompt.toolMessage({
    content: [
      Prompt.toolResultPart({
        id: "c1",
        name: "Bash",
        result: 'a "b"\n\ud800c',
        isFailure: false,
        providerExecuted: false
      }),
      Prompt.toolResultPart({
        id: "c2",
        name: "no.such tool",
        result: "no such tool",
        isFailure: true,
        providerExecuted: false
      })
    ]
  }),
  Prompt.userMessage({ content: [Prompt.filePart({ mediaType: "image/png", data: image })] })
])

describe.each(Models.kinds)("a model behind the protocol of %s", (kind) => {
  it.scopedLive("says its text in parts, and its usage", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.answer({ reasoning: ["Hm."], text: ["There are ", "3 files."] })
      ])
      const parts = yield* Models.ask(server, kind)
      assert.deepStrictEqual(Models.shown(parts), [
        ["Reasoning", "Hm."],
        ["Text", "There are "],
        ["Text", "3 files."],
        ["Finished", "stop", "There are 3 files.", []]
      ])
      assert.deepStrictEqual(Models.finished(parts).usage, { input: 120, output: 7, cached: 20 })
    })
  )

  it.scopedLive("calls tools as it wrote the calls: unknown ones, and arguments that are no JSON", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.calls(
          { id: "a", name: "Bash", arguments: { command: "ls -la" } },
          { id: "b", name: "no.such tool", arguments: { x: 1 } },
          { id: "c", name: "Bash", arguments: '{"command": "ls' },
          { id: "d", name: "Bash", arguments: "" }
        )
      ])
      const turn = Models.finished(yield* Models.ask(server, kind))
      assert.strictEqual(turn.reason, "tool-calls")
      assert.deepStrictEqual(turn.calls, [
        { id: "a", name: "Bash", arguments: '{"command":"ls -la"}' },
        { id: "b", name: "no.such tool", arguments: '{"x":1}' },
        { id: "c", name: "Bash", arguments: '{"command": "ls' },
        { id: "d", name: "Bash", arguments: "{}" }
      ])
      assert.deepStrictEqual(
        turn.message?.content.map((part) => part.type === "tool-call" && part.params),
        [{ command: "ls -la" }, { x: 1 }, { invalid_arguments: '{"command": "ls' }, {}]
      )
    })
  )

  it.scopedLive("gives calls with the same id, or none, ids of their own", () =>
    Effect.gen(function* () {
      const call = { name: "Bash", arguments: { command: "ls" } }
      const server = yield* ModelServer.serve([
        ModelServer.calls(
          { ...call, id: "a" },
          { ...call, id: "a" },
          { ...call, id: "" },
          { ...call, id: "x".repeat(99) }
        )
      ])
      const { calls } = Models.finished(yield* Models.ask(server, kind))
      assert.deepStrictEqual(
        calls.map(({ id }) => id),
        ["a", "a_2", "call_3", "call_4"]
      )
    })
  )

  it.scopedLive("tells that an answer was cut by the limit of its tokens", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.answer({ text: ["Once"], reason: "max_tokens" })])
      assert.strictEqual(Models.finished(yield* Models.ask(server, kind)).reason, "length")
    })
  )

  it.scopedLive("tells no usage of a server that tells none", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.answer({ text: ["12345678"], usage: undefined })])
      const { usage } = Models.finished(yield* Models.ask(server, kind))
      assert.deepStrictEqual(usage, { input: undefined, output: undefined, cached: 0 })
    })
  )

  it.scopedLive("gets results of tools as plain text, words for a file, and no half of a character", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.text("ok")])
      yield* Models.ask(server, kind, { prompt: conversation })
      const [request] = server.requests
      assert.strictEqual(request?.body.model, "test-model")
      assert.notInclude(request?.text, "\\ud800")
      assert.notInclude(request?.text, 'no.such tool",')
      const text = 'a "b"\n\ufffdc'
      const file = "[a file of type image/png, which can't be shown]"
      if (kind === "anthropic") {
        const cache = { cache_control: { type: "ephemeral" } }
        assert.strictEqual(request?.headers["x-api-key"], ModelServer.key)
        assert.deepStrictEqual(request?.body.system, [{ type: "text", text: "You are terse.", ...cache }])
        assert.deepStrictEqual(request?.body.messages, [
          { role: "user", content: [{ type: "text", text: "List." }] },
          {
            role: "assistant",
            content: [
              { type: "text", text: "I look." },
              { type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" } },
              { type: "tool_use", id: "c2", name: "no_such_tool", input: { x: 1 } }
            ]
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "c1", content: text },
              { type: "tool_result", tool_use_id: "c2", content: "no such tool", is_error: true },
              { type: "text", text: file, ...cache }
            ]
          }
        ])
        assert.deepStrictEqual(request?.body.tools, [
          { name: "Bash", description: Models.bash.description, input_schema: Models.bash.parameters }
        ])
        return
      }
      assert.strictEqual(request?.headers.authorization, `Bearer ${ModelServer.key}`)
      if (kind === "openai") {
        assert.deepStrictEqual(request?.body.input, [
          { role: "user", content: [{ type: "input_text", text: "List." }] },
          { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
          { type: "function_call", call_id: "c1", name: "Bash", arguments: '{"command":"ls"}' },
          { type: "function_call", call_id: "c2", name: "no_such_tool", arguments: '{"x":1}' },
          { type: "function_call_output", call_id: "c1", output: text },
          { type: "function_call_output", call_id: "c2", output: "no such tool" },
          { role: "user", content: [{ type: "input_text", text: file }] }
        ])
        assert.deepStrictEqual([request?.body.instructions, request?.body.store], ["You are terse.", false])
        return
      }
      assert.deepStrictEqual(request?.body.messages, [
        { role: "system", content: "You are terse." },
        { role: "user", content: "List." },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "Bash", arguments: '{"command":"ls"}' } },
            { id: "c2", type: "function", function: { name: "no_such_tool", arguments: '{"x":1}' } }
          ]
        },
        { role: "tool", tool_call_id: "c1", content: text },
        { role: "tool", tool_call_id: "c2", content: "no such tool" },
        { role: "user", content: file }
      ])
      assert.deepStrictEqual(request?.body.tools, [
        {
          type: "function",
          function: { name: "Bash", description: Models.bash.description, parameters: Models.bash.parameters }
        }
      ])
    })
  )

  it.scopedLive("goes on with its own turn as it was", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.answer({
          reasoning: ["Hm."],
          text: ["I look."],
          calls: [{ id: "a", name: "Bash", arguments: "{}" }]
        }),
        ModelServer.text("done")
      ])
      const { message } = Models.finished(yield* Models.ask(server, kind))
      const prompt = Prompt.fromMessages([
        Prompt.userMessage({ content: [Prompt.textPart({ text: "Go" })] }),
        ...(message === undefined ? [] : [message])
      ])
      yield* Models.ask(server, kind, { prompt })
      const said = JSON.stringify(server.requests[1]?.body)
      assert.include(said, "I look.")
      // Only Anthropic signs what its model thought, and takes it back.
      assert.strictEqual(
        said.includes('{"type":"thinking","thinking":"Hm.","signature":"sig-1"}'),
        kind === "anthropic"
      )
    })
  )
})
