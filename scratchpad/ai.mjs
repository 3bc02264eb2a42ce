// Synapse as a toolkit of @effect/ai: node scratchpad/ai.mjs
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as BashToolkit from "synapse-shell/BashToolkit"
import * as Synapse from "synapse-shell/Synapse"

// In the place of a provider's own, such as AnthropicLanguageModel.layer: it calls the tool once, and needs no network.
const model = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () =>
      Effect.succeed([{ type: "tool-call", id: "1", name: "Bash", params: { command: "echo Hello | tr a-z A-Z" } }]),
    streamText: () => Stream.empty
  })
)

const program = Effect.gen(function* () {
  // The description names the commands that there are.
  const toolkit = yield* BashToolkit.toolkitOfToolset
  const { toolResults } = yield* LanguageModel.generateText({ prompt: "Say hello, loudly.", toolkit })
  for (const { encodedResult, isFailure } of toolResults)
    yield* Console.log(isFailure ? "failed:" : "ok:", encodedResult)
})

const app = BashToolkit.layer.pipe(Layer.provideMerge(Synapse.layer()), Layer.merge(model))

await Effect.runPromise(Effect.provide(program, app))
