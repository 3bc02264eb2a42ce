/** Models behind a ModelServer, and what they said. */
import type * as Prompt from "@effect/ai/Prompt"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Endpoint, Kind } from "../../../src/agent/model/internal/Endpoint.js"
import * as LiveModel from "../../../src/agent/model/internal/LiveModel.js"
import type { ModelError } from "../../../src/agent/model/ModelError.js"
import type { Finished, TurnPart } from "../../../src/agent/model/Turn.js"
import * as Turn from "../../../src/agent/model/Turn.js"
import type { ToolDefinition } from "../../../src/toolset/Tool.js"
import * as ModelServer from "./ModelServer.js"

export const kinds = ["anthropic", "openai", "compatible"] as const

export const bash: ToolDefinition = {
  name: "Bash",
  description: "Runs a command.",
  parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] }
}

/** The endpoint of a server; its retries come at once. */
export const endpoint = (
  server: Pick<ModelServer.ModelServer, "url">,
  kind: Kind,
  given: Partial<Endpoint> = {}
): Endpoint => ({
  provider: kind,
  kind,
  baseUrl: `${server.url}/v1`,
  model: "test-model",
  key: Redacted.make(ModelServer.key),
  keySetting: "TEST_API_KEY",
  urlSetting: "TEST_BASE_URL",
  headers: {},
  maxOutput: undefined,
  timeout: 20_000,
  retry: { retries: 3, first: 1, longest: 5, longestAsked: 10_000 },
  ...given
})

/** The parts of one turn. */
export const ask = (
  server: Pick<ModelServer.ModelServer, "url">,
  kind: Kind,
  options: { readonly prompt?: Prompt.RawInput; readonly endpoint?: Partial<Endpoint> } = {}
): Effect.Effect<ReadonlyArray<TurnPart>, ModelError> => {
  const to = endpoint(server, kind, options.endpoint)
  return Effect.flatMap(LiveModel.make(to), (languageModel) =>
    Turn.stream(
      { languageModel, retry: to.retry },
      { prompt: options.prompt ?? "How many files?", tools: [bash] }
    ).pipe(Stream.runCollect, Effect.map(Chunk.toReadonlyArray))
  )
}

export const finished = (parts: ReadonlyArray<TurnPart>): Finished => {
  const last = parts.at(-1)
  if (last?._tag !== "Finished") throw new Error(`the last part is ${last?._tag}`)
  return last
}

/** Parts as short lists. */
export const shown = (parts: ReadonlyArray<TurnPart>): ReadonlyArray<ReadonlyArray<unknown>> =>
  parts.flatMap((part): ReadonlyArray<ReadonlyArray<unknown>> => {
    switch (part._tag) {
      case "Arguments":
        return []
      case "Text":
      case "Reasoning":
        return [[part._tag, part.delta]]
      case "Retrying":
        return [[part._tag, part.attempt]]
      default:
        return [[part._tag, part.reason, part.text, part.calls]]
    }
  })
