/** Makes an endpoint's errors, which say what went wrong and which setting to change. */
import * as Attempt from "../../../domain/Attempt.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import { type Kind, kindOf, ModelError } from "../ModelError.js"
import * as Endpoint from "./Endpoint.js"
import * as Wire from "./Wire.js"

/** The longest quote of a provider's message, in characters. */
const longestQuote = 400

/** Matches messages about a too long request, since some providers send no error code for it. */
const tooLong =
  /prompt is too long|(?:maximum|exceeds?\b.{0,40}) context|context (?:length|window|size)|too many (?:input )?tokens/i

/** Matches messages of a server whose model does not support images. */
const noImages =
  /\b(?:images?|vision|multimodal|mmproj)\b.{0,80}(?:not |un)support|(?:not |un)support.{0,80}\b(?:images?|vision|multimodal)\b/i

/** An answer with an error status, or one that is not a stream. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The beginning of its body. */
  readonly text: string
}

/** Makes the error for an answer. `now` is the current time in ms. */
export const fromAnswer = (endpoint: Endpoint.Endpoint, { headers, status, text }: Answer, now: number): ModelError => {
  const body = parse(text)
  const error = Wire.at(body, "error") ?? body
  const said = wordsOf(error) || Wire.textAt(error, "detail") || (body === undefined ? text : "")
  // Some servers answer 500 if their model does not support images.
  const isForImages = status >= 500 && noImages.test(said)
  const kind = isForImages ? "bad_request" : kindOf(status, error, tooLong.test(said))
  const words = UntrustedText.line(Endpoint.mask(endpoint)(said), longestQuote)
  const facts = words === "" ? String(status) : `${status}: ${words}`
  const wait = retryAfter(headers, now)
  return new ModelError({
    kind,
    status,
    reason:
      status >= 300 && status < 400
        ? `${endpoint.provider} redirects to ${placeOf(headers["location"])}: set that address by ${endpoint.urlSetting}`
        : reasonOf(endpoint, kind, facts, status),
    ...(wait === undefined ? {} : { retryAfter: wait })
  })
}

/** Makes the error for an error event within an answer. */
export const fromEvent = (endpoint: Endpoint.Endpoint, event: unknown): ModelError => {
  const said = wordsOf(event) || JSON.stringify(event ?? null)
  const kind = kindOf(undefined, event, tooLong.test(said))
  return new ModelError({
    kind,
    reason: reasonOf(endpoint, kind, UntrustedText.line(Endpoint.mask(endpoint)(said), longestQuote), undefined)
  })
}

/** Returns the message of an error, which is a text or an object. */
const wordsOf = (error: unknown): string => (typeof error === "string" ? error : Wire.textAt(error, "message"))

const reasonOf = (endpoint: Endpoint.Endpoint, kind: Kind, facts: string, status: number | undefined): string => {
  const { key, keySetting, model, provider, urlSetting } = endpoint
  const name = UntrustedText.word(model)
  switch (kind) {
    case "auth":
      return key === undefined
        ? `${provider} wants a key (${facts}): set ${keySetting}`
        : `${provider} refuses the key (${facts}): set another one by ${keySetting}`
    case "rate":
      return `${provider} has got too many requests (${facts})`
    case "overloaded":
      return `${provider} can't answer now (${facts})`
    case "refused":
      return `${provider} refuses the request (${facts}): see to the credit and the limits of its account`
    case "context_length":
      return `The conversation is too long for the model ${name} of ${provider} (${facts})`
    default:
      if (status === 200) return `${provider} does not answer as a model (${facts}): check ${urlSetting}`
      return status === 404 || status === 405
        ? `${provider} does not know the request (${facts}): check the model ${name}, and the address in ${urlSetting}${elsewhere(endpoint)}`
        : `${provider} finds the request wrong (${facts})`
  }
}

/** Advises what to set for a server that only has chat completions. */
const elsewhere = ({ kind }: Endpoint.Endpoint): string =>
  kind === "openai" ? "; for a server with chat completions only, set SYNAPSE_PROVIDER=compatible" : ""

const parse = (text: string): unknown => Attempt.orUndefined(() => JSON.parse(text))

/** Shows an address without a user name, a password or parameters. */
const placeOf = (location: string | undefined): string =>
  Attempt.orElse(() => {
    const { host, pathname, protocol } = new URL(location ?? "")
    return UntrustedText.word(`${protocol}//${host}${pathname}`, 200)
  }, "another address")

/** Returns how long an answer asks to wait, in ms. `now` is the current time in ms. */
export const retryAfter = (headers: Answer["headers"], now: number): number | undefined => {
  const [exact, given] = [headers["retry-after-ms"]?.trim() ?? "", headers["retry-after"]?.trim() ?? ""]
  if (/^\d{1,12}(?:\.\d*)?$/.test(exact)) return Math.ceil(Number(exact))
  if (/^\d{1,9}(?:\.\d*)?$/.test(given)) return Math.ceil(Number(given) * 1000)
  // Only dates start with letters; `Date.parse` would read other numbers as years.
  const date = /^[A-Za-z]{3,9}, /.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** The longest chain of causes that is followed. */
const deepest = 8

/** Makes the error for a failed connection. `isBegun` is true after an answer began. */
export const fromTransport = (endpoint: Endpoint.Endpoint, error: unknown, isBegun: boolean): ModelError => {
  const { code, message } = causeOf(error)
  const { provider, proxy, urlSetting } = endpoint
  // The code for a proxy's refusal says nothing, but its message does.
  const why = UntrustedText.line(
    Endpoint.mask(endpoint)(code === "" || code === "UND_ERR_ABORTED" ? message : code),
    200
  )
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return silent(endpoint)
  if (isBegun) return new ModelError({ kind: "broken", reason: `The connection to ${provider} broke off (${why})` })
  // Retrying does not fix a certificate.
  const kind = /CERT|SIGNATURE|SELF_SIGNED|ERR_TLS|bad port/i.test(`${code} ${message}`) ? "bad_request" : "transport"
  const place = UntrustedText.word(endpoint.baseUrl, 200)
  return new ModelError({
    kind,
    reason: `No connection to ${provider} at ${place} (${why}): check ${urlSetting}${proxy === undefined ? "" : `, and the proxy of ${proxy.setting}`}`
  })
}

const causeOf = (error: unknown): { readonly code: string; readonly message: string } => {
  let [code, message] = ["", ""]
  for (let cause = error, depth = 0; cause instanceof Error && depth < deepest; cause = cause.cause, depth++) {
    message = cause.message || message
    if ("code" in cause && typeof cause.code === "string") code = cause.code
    const [first] = cause instanceof AggregateError ? cause.errors : []
    if (first instanceof Error && "code" in first && typeof first.code === "string") code = first.code
  }
  return { code, message: message === "" ? "unknown" : message }
}

/** Makes the error for an endpoint that is silent for too long. */
export const silent = ({ provider, timeout }: Endpoint.Endpoint): ModelError =>
  new ModelError({
    kind: "timeout",
    reason: `${provider} said nothing for ${timeout} ms: SYNAPSE_MODEL_TIMEOUT sets how long to wait`
  })

export const broken = ({ provider }: Endpoint.Endpoint, reason: string): ModelError =>
  new ModelError({ kind: "broken", reason: `The answer of ${provider} ${reason}` })
