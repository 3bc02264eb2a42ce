/**
 * Finds the model that an agent talks to.
 *
 * @since 0.1.0
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import type * as Retry from "./internal/Retry.js"

/**
 * A price in the settings, per million tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Price {
  readonly input: number
  readonly output: number
  /** The price of cached input; the same as `input` by default. */
  readonly cached?: number | undefined
}

/**
 * A model for an agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Model {
  /** The name of the provider in the settings: `anthropic`, `openai` or one that the user named. */
  readonly provider: string
  /** The provider's own name of the model. */
  readonly name: string
  /** The model for `@effect/ai`, which does not retry by itself. The `cause` of its errors is a ModelError. */
  readonly languageModel: Pick<LanguageModel.Service, "streamText">
  /** The bounds of retries; `Retry.defaults` by default. */
  readonly retry?: Retry.Policy | undefined
  /** The most tokens that a request may hold. */
  readonly contextWindow: number
  readonly price: Price | undefined
  /** False for a model without images; true by default. */
  readonly takesImages?: boolean
}

/**
 * Finds models by the settings and the environment.
 *
 * @since 0.1.0
 * @category tags
 */
export class ModelProvider extends Context.Tag("synapse/ModelProvider")<
  ModelProvider,
  {
    /**
     * Returns the model of that name (`name` or `provider/name`), or the default one. Fails with ExecutionFailed if no
     * provider or no key is set, and with InvalidUsage if the settings or the name are wrong. The reason names the
     * setting.
     */
    readonly model: (name?: string) => Effect.Effect<Model, ExecutionFailed | InvalidUsage>
  }
>() {}
