import * as Redacted from "effect/Redacted"
import type { Proxy } from "./Proxy.js"
import type * as Retry from "./Retry.js"

/** A protocol: Anthropic's messages, OpenAI's responses, or the chat completions that many servers support. */
export type Kind = "anthropic" | "openai" | "compatible"

/** The endpoint of a model. Times are in milliseconds. */
export interface Endpoint {
  /** The provider's name in the settings. */
  readonly provider: string
  readonly kind: Kind
  /** The address up to the version, without a trailing slash, a user name or a password. */
  readonly baseUrl: string
  readonly model: string
  readonly key: Redacted.Redacted | undefined
  /** The setting that the key comes from, or could be set by. */
  readonly keySetting: string
  /** The setting that the address comes from, or could be set by. */
  readonly urlSetting: string
  /** Further headers, whose values may be secret. */
  readonly headers: Readonly<Record<string, Redacted.Redacted>>
  /** The most tokens of an answer; by default, the provider's limit. */
  readonly maxOutput: number | undefined
  /** The longest silence before and within an answer. */
  readonly timeout: number
  readonly retry: Retry.Policy
  readonly proxy?: Proxy | undefined
}

/** Shorter secrets are not masked, because they occur in other words by chance. */
const shortest = 4

const passwordsOf = (url: string): ReadonlyArray<string> => [
  new URL(url).password,
  decodeURIComponent(new URL(url).password)
]

/** Returns a function that masks the key, the header values and the proxy's password in a text. */
export const mask = ({
  headers,
  key,
  proxy
}: Pick<Endpoint, "headers" | "key" | "proxy">): ((text: string) => string) => {
  const secrets = [...(key === undefined ? [] : [key]), ...Object.values(headers)]
    .map(Redacted.value)
    .concat(proxy === undefined ? [] : passwordsOf(Redacted.value(proxy.url)))
    // A header's secret may follow a word, as in `Bearer …` or `Basic …`.
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= shortest && !/^(?:bearer|basic|token)$/i.test(value))
    .sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, "<redacted>"), text)
}
