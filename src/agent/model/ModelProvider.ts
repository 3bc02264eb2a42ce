/**
 * Finds the model that an agent uses.
 *
 * @since 0.1.0
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import type * as Retry from "./internal/Retry.js"

/**
 * A price per million tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Price {
  readonly input: number
  readonly output: number
  /** The price of cached input; by default, the same as `input`. */
  readonly cached?: number | undefined
}

/**
 * A model that an agent can use, with its limits and its price.
 *
 * @since 0.1.0
 * @category models
 */
export interface Model {
  /** The provider's name in the settings: `anthropic`, `openai` or a name that the user chose. */
  readonly provider: string
  /** The provider's own name of the model. */
  readonly name: string
  /** The model for `@effect/ai`, without retries. The `cause` of its errors is a ModelError. */
  readonly languageModel: Pick<LanguageModel.Service, "streamText">
  /** When to retry; by default, `Retry.defaults`. */
  readonly retry?: Retry.Policy | undefined
  /** The most tokens of a request. */
  readonly contextWindow: number
  readonly price: Price | undefined
  /** False for a model without images; by default, true. */
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
     * Returns the model with a name (`name` or `provider/name`), or the default model. Fails with ExecutionFailed if no
     * provider or key is set. Fails with InvalidUsage if the settings or the name are wrong. The reason names the
     * setting.
     */
    readonly model: (name?: string) => Effect.Effect<Model, ExecutionFailed | InvalidUsage>
  }
>() {}
