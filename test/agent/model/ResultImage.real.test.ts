import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ResultImage from "../../../src/agent/model/ResultImage.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"

const result = (id: string, text: string, images: ReadonlyArray<ResultImage.ResultImage>) =>
  ResultImage.put(
    Prompt.toolResultPart({ id, name: "Bash", isFailure: false, result: text, providerExecuted: false }),
    images
  )

const call = (id: string) =>
  Prompt.toolCallPart({ id, name: "Bash", params: { command: "read x.png" }, providerExecuted: false })

const png = { mediaType: "image/png", base64: "iVBORw0K" }

const prompt = Prompt.fromMessages([
  Prompt.userMessage({ content: [Prompt.textPart({ text: "What is in it?" })] }),
  Prompt.assistantMessage({ content: [call("a"), call("b")] }),
  Prompt.toolMessage({ content: [result("a", "x.png: PNG\n", [png]), result("b", "no image\n", [])] })
])

const sent = (kind: (typeof Models.kinds)[number]) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.text("A cat.")])
      yield* Models.ask(server, kind, { prompt })
      return server.requests[0]?.body
    })
  )

describe("the images of a result", () => {
  it.live("are blocks of the result for Anthropic", () =>
    Effect.gen(function* () {
      const { messages } = yield* sent("anthropic")
      assert.deepStrictEqual(messages.at(-1), {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "text", text: "x.png: PNG\n" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } }
            ]
          },
          { type: "tool_result", tool_use_id: "b", content: "no image\n", cache_control: { type: "ephemeral" } }
        ]
      })
    })
  )

  it.live("are parts of the output for OpenAI's responses", () =>
    Effect.gen(function* () {
      const { input } = yield* sent("openai")
      assert.deepStrictEqual(input.slice(-2), [
        {
          type: "function_call_output",
          call_id: "a",
          output: [
            { type: "input_text", text: "x.png: PNG\n" },
            { type: "input_image", image_url: "data:image/png;base64,iVBORw0K" }
          ]
        },
        { type: "function_call_output", call_id: "b", output: "no image\n" }
      ])
    })
  )

  it.live("stand in a message behind all results for chat completions", () =>
    Effect.gen(function* () {
      const { messages } = yield* sent("compatible")
      assert.deepStrictEqual(messages.slice(-3), [
        { role: "tool", tool_call_id: "a", content: "x.png: PNG\n" },
        { role: "tool", tool_call_id: "b", content: "no image\n" },
        {
          role: "user",
          content: [
            { type: "text", text: "The image of the result of the call a:" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } }
          ]
        }
      ])
    })
  )

  it.live("a server that calls its model's blindness an error of its own is not asked again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const words = "image input is not supported - hint: you may need to provide the mmproj"
        const server = yield* ModelServer.serve([ModelServer.status(500, {}, { error: { message: words } })])
        const error = yield* Effect.flip(Models.ask(server, "compatible", { prompt }))
        assert.deepStrictEqual([error.kind, server.requests.length], ["bad_request", 1])
        assert.include(error.reason, words)
      })
    )
  )
})
