/** Counts the tokens that an agent has used. */
import type { Price } from "../model/ModelProvider.js"

/** Tokens, as the provider counts them, and their price. */
export interface TokenUsage {
  /** All tokens that were sent, also those that the provider read from its cache. */
  readonly input: number
  readonly output: number
  /** The part of `input` that was read from the provider's cache. */
  readonly cached: number
  /** In the currency of the settings' prices; undefined where the model has no price. */
  readonly cost: number | undefined
}

/** The usage of an agent that has not begun. */
export const none: TokenUsage = { input: 0, output: 0, cached: 0, cost: undefined }

/** Adds two usages; the cost is that of those which have one. */
export const add = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  cost: a.cost === undefined ? b.cost : a.cost + (b.cost ?? 0)
})

/** Makes a usage of counted tokens, with their cost where the model has a price. */
export const of = (
  { cached, input, output }: Pick<TokenUsage, "cached" | "input" | "output">,
  price: Price | undefined
): TokenUsage => ({
  input,
  output,
  cached,
  cost:
    price === undefined
      ? undefined
      : ((input - cached) * price.input + cached * (price.cached ?? price.input) + output * price.output) / 1_000_000
})
