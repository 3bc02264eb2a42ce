/**
 * Finds models by `$SYNAPSE_HOME/settings.json` and the environment.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import * as EndpointSettings from "./EndpointSettings.js"
import * as ModelChoice from "./ModelChoice.js"
import * as ModelLimits from "./ModelLimits.js"
import { type Model, ModelProvider } from "./ModelProvider.js"
import { ModelSettings } from "./ModelSettings.js"
import * as SettingsFile from "./SettingsFile.js"

/**
 * A layer which reads the file each time that a model is asked for. Nothing of `@effect/ai` is loaded before.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ModelProvider, never, ModelSettings | SandboxSettings> = Layer.effect(
  ModelProvider,
  Effect.gen(function* () {
    const settings = yield* ModelSettings
    const { home } = yield* SandboxSettings
    const file = SettingsFile.pathIn(home)
    const found = (name: string | undefined) =>
      Either.gen(function* () {
        const content = yield* SettingsFile.read(home)
        const sources: ModelChoice.Sources = { settings, content, file }
        const choice = yield* ModelChoice.make(sources, name)
        return { choice, content, endpoint: yield* EndpointSettings.make(choice, sources) }
      })
    return {
      model: Effect.fn("ModelProvider.model")(function* (name?: string) {
        const { choice, content, endpoint } = yield* found(name)
        const LiveModel = yield* Effect.promise(() => import("./LiveModel.js"))
        const model: Model = {
          provider: choice.provider,
          name: choice.model,
          languageModel: yield* LiveModel.make(endpoint),
          retry: endpoint.retry,
          contextWindow: choice.settings.contextWindow ?? ModelLimits.windowOf(endpoint.kind, choice.model),
          price: ModelLimits.priceOf(content.prices, choice.provider, choice.model),
          takesImages: choice.settings.images ?? true
        }
        return model
      })
    }
  })
)
