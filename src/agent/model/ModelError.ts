/** The error of a request to a model. */
import type * as AiError from "@effect/ai/AiError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as UntrustedText from "../../domain/UntrustedText.js"

/**
 * The kinds of errors:
 * - `auth`: the key is missing or refused.
 * - `rate`: too many requests; `retryAfter` often says when to try again.
 * - `overloaded`: the provider can't answer now, because of an internal error or too much load.
 * - `transport`: the connection failed, or broke before an answer began.
 * - `timeout`: the provider was silent for too long.
 * - `broken`: an answer began, but broke off or made no sense.
 * - `refused`: the provider refuses permanently, for lack of credit or permission.
 * - `bad_request`: the request is wrong, such as an unknown model, address or parameter.
 * - `context_length`: the request exceeds the model's window.
 * - `too_long`: the answer exceeds any useful length.
 */
export const Kind = Schema.Literal(
  "auth",
  "rate",
  "overloaded",
  "transport",
  "timeout",
  "broken",
  "refused",
  "bad_request",
  "context_length",
  "too_long"
)

export type Kind = typeof Kind.Type

const retryable: ReadonlyArray<Kind> = ["rate", "overloaded", "transport", "timeout", "broken"]

/**
 * The error of a request to a model. `reason` says in one line what went wrong and what to do, without keys or control
 * characters.
 */
export class ModelError extends Schema.TaggedError<ModelError>("synapse/ModelError")("ModelError", {
  kind: Kind,
  reason: Schema.String,
  /** The HTTP status of the provider's answer. */
  status: Schema.optional(Schema.Number),
  /** The wait that the provider asks for, in milliseconds. */
  retryAfter: Schema.optional(Schema.Number)
}) {
  /** True if the same request may succeed later. */
  get isRetryable(): boolean {
    return retryable.includes(this.kind)
  }
  override get message(): string {
    return this.reason
  }
}

/** The longest text of a provider in a reason, in characters. */
const longestQuote = 500

/** Kinds by the `type` or `code` of a provider's error. */
const kindByName: Readonly<Record<string, Kind>> = {
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  rate_limit_error: "rate",
  rate_limit_exceeded: "rate",
  overloaded_error: "overloaded",
  insufficient_quota: "refused",
  billing_error: "refused",
  billing_hard_limit_reached: "refused",
  request_too_large: "context_length",
  context_length_exceeded: "context_length",
  exceed_context_size_error: "context_length",
  invalid_request_error: "bad_request",
  not_found_error: "bad_request",
  model_not_found: "bad_request"
}

const kindOfStatus = (status: number): Kind => {
  if (status === 401 || status === 403) return "auth"
  if (status === 402) return "refused"
  if (status === 413) return "context_length"
  if (status === 429) return "rate"
  return status >= 500 || status === 408 || status === 409 ? "overloaded" : "bad_request"
}

/**
 * Returns the kind of a provider's error, by its status or a more precise name. An unknown error in the middle of an
 * answer is `overloaded`, because the request was accepted.
 *
 * @param isTooLong whether the provider's message says that the request is too long
 */
export const kindOf = (status: number | undefined, error: unknown, isTooLong: boolean): Kind => {
  const field = (name: string) => (Predicate.isReadonlyRecord(error) ? error[name] : undefined)
  const [named] = [field("code"), field("type")].flatMap((name) =>
    typeof name === "string" && Object.hasOwn(kindByName, name) ? [kindByName[name] as Kind] : []
  )
  const told = status === undefined ? (named ?? "overloaded") : kindOfStatus(status)
  if (named === "refused" || named === "context_length") return named
  return told === "bad_request" && isTooLong ? "context_length" : told
}

/** Converts an error of `@effect/ai`. Errors of Synapse's own providers are unwrapped unchanged. */
export const fromAiError = (error: AiError.AiError | ModelError): ModelError => {
  if (error._tag === "ModelError") return error
  if ("cause" in error && error.cause instanceof ModelError) return error.cause
  const isOfStatus = error._tag === "HttpResponseError" && error.reason === "StatusCode"
  const isTransport = error._tag === "HttpRequestError" && error.reason === "Transport"
  const isWrong = error._tag === "HttpRequestError" || error._tag === "MalformedInput"
  // Only the body and the description are shown: the messages contain addresses, which may contain keys.
  const said = ("body" in error ? error.body : undefined) ?? error.description ?? "no reason is known"
  return new ModelError({
    kind: isOfStatus
      ? kindOfStatus(error.response.status)
      : isTransport
        ? "transport"
        : isWrong
          ? "bad_request"
          : "broken",
    reason: `The request to the model failed: ${UntrustedText.line(said, longestQuote)}`,
    ...(isOfStatus ? { status: error.response.status } : {})
  })
}

/** Converts an error that a provider sent within an answer: an object with `type` or `code`, and `message`. */
export const fromEvent = (event: unknown): ModelError => {
  const message = Predicate.isReadonlyRecord(event) ? event["message"] : undefined
  const said = typeof message === "string" ? message : (JSON.stringify(event) ?? "unknown")
  return new ModelError({
    kind: kindOf(undefined, event, false),
    reason: `The model ended its answer with an error: ${UntrustedText.line(said, longestQuote)}`
  })
}
