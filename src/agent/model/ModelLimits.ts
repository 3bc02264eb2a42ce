/**
 * Knows the windows and the prices of models.
 *
 * @since 0.1.0
 */
import type { Kind } from "./Endpoint.js"
import type { Price } from "./ModelProvider.js"

/** The windows of models by the beginning of their name, in tokens. */
const windows: ReadonlyArray<readonly [RegExp, number]> = [
  [/claude/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-4o|^gpt-4-turbo/, 128_000],
  [/^gpt-[5-9]/, 400_000],
  [/^o\d/, 200_000]
]

/** The windows of models that are not known: what their protocol's models have at least, as far as that is known. */
const usual: Readonly<Record<Kind, number>> = { anthropic: 200_000, openai: 128_000, compatible: 32_768 }

/**
 * Returns the window of a model where the settings don't tell it, in tokens.
 *
 * @since 0.1.0
 * @category reading
 */
export const windowOf = (kind: Kind, model: string): number =>
  windows.find(([name]) => name.test(model))?.[1] ?? usual[kind]

/** Tests whether a name has the parts of a pattern between its stars, in their order. */
const matches = (pattern: string, name: string): boolean => {
  const [start = "", ...rest] = pattern.split("*")
  const end = rest.pop()
  if (end === undefined) return name === pattern
  if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false
  let at = start.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - end.length
}

/**
 * Returns the price of a model: that of its own name, or of the longest pattern that matches `name` or `provider/name`.
 *
 * @since 0.1.0
 * @category reading
 */
export const priceOf = (
  prices: Readonly<
    Record<string, { readonly input: number; readonly output: number; readonly cached?: number | undefined }>
  >,
  provider: string,
  model: string
): Price | undefined => {
  const names = [`${provider}/${model}`, model]
  const rank = (pattern: string) => (pattern.includes("*") ? pattern.length : Number.MAX_SAFE_INTEGER)
  const [best] = Object.entries(prices)
    .filter(([pattern]) => names.some((name) => matches(pattern, name)))
    .sort(([a], [b]) => rank(b) - rank(a) || b.length - a.length)
  if (best === undefined) return undefined
  const { cached, input, output } = best[1]
  return { input, output, ...(cached === undefined ? {} : { cached }) }
}
