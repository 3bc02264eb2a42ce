// An agent in an Effect program: node scratchpad/agent.mjs
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as AgentLoop from "synapse-shell/AgentLoop"
import * as AgentSettings from "synapse-shell/AgentSettings"
import * as Synapse from "synapse-shell/Synapse"
import * as Toolset from "synapse-shell/Toolset"

/** @typedef {ReadonlyArray<import("@effect/ai/Response").StreamPartEncoded>} Parts */
/** @type {Parts} */
const call = [
  { type: "tool-call", id: "1", name: "Bash", params: { command: "echo Hello | tr a-z A-Z" } },
  { type: "finish", reason: "tool-calls", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }
]
/** @type {Parts} */
const answer = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "It is loud now." },
  { type: "text-end", id: "1" },
  { type: "finish", reason: "stop", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }
]

const program = Effect.gen(function* () {
  // In the place of a real one, such as `ModelProvider` has with `LiveModelProvider.layer`: it needs no network.
  const languageModel = yield* LanguageModel.make({
    generateText: () => Effect.succeed([]),
    streamText: ({ prompt }) => Stream.fromIterable(prompt.content.at(-1)?.role === "tool" ? answer : call)
  })
  const model = { provider: "scratchpad", name: "scripted", languageModel, contextWindow: 100_000, price: undefined }
  const run = { prompt: "Say hello, loudly.", model, toolset: yield* Toolset.Toolset, limits: { maxTurns: 5 } }
  yield* Stream.runForEach((yield* AgentLoop.AgentLoop).run(run), (event) =>
    event._tag === "ToolEnded" || event._tag === "Ended" ? Console.log(event) : Effect.void
  )
})

const app = Layer.merge(Synapse.layer(), Layer.provide(AgentLoop.layer, AgentSettings.layerFromEnv))
await Effect.runPromise(Effect.provide(program, app))
