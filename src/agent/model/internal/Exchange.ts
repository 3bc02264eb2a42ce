/** Sends a request to an endpoint, and reads its answer within limits of time and size. */

import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { ModelError } from "../ModelError.js"
import type { Endpoint } from "./Endpoint.js"
import * as Proxy from "./Proxy.js"
import * as Refusal from "./Refusal.js"

const mostOfAnswer = 64 * 1024 ** 2

export const done = "[DONE]"

/** The limits of reading a refusal, in bytes and in milliseconds. */
const mostOfRefusal = 64 * 1024
const timeOfRefusal = 10_000

/** The longest duration of an answer in milliseconds, even while data keeps coming. */
const longestAnswer = 3_600_000

/**
 * Posts a body and streams the answer's events: JSON values, or the end mark. Interrupting the stream closes the
 * connection.
 */
export type Exchange = (
  endpoint: Endpoint,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object
) => Stream.Stream<unknown, ModelError>

/** Makes an exchange over `fetch`, through the proxy if there is one. */
export const make = (proxy?: Proxy.Proxy): Effect.Effect<Exchange> =>
  Effect.gen(function* () {
    const fetch = proxy === undefined ? globalThis.fetch : yield* Proxy.fetchOf(proxy)
    const client = (yield* HttpClient.HttpClient).pipe(
      // Spans would record headers and addresses, and providers have no use for trace headers.
      HttpClient.withTracerDisabledWhen(() => true),
      HttpClient.withTracerPropagation(false),
      HttpClient.withScope
    )
    return (endpoint: Endpoint, path: string, headers: Readonly<Record<string, string>>, body: object) => {
      const request = HttpClientRequest.post(`${endpoint.baseUrl}${path}`, {
        headers: Headers.fromInput({
          accept: "text/event-stream, application/json",
          ...headers,
          ...Record.map(endpoint.headers, Redacted.value)
        }),
        body: HttpBody.text(toJson(body), "application/json")
      })
      const answer = client.execute(request).pipe(
        // A redirect must not send the key to another host.
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
        Effect.provideService(FetchHttpClient.Fetch, fetch),
        Effect.mapError((error) => Refusal.fromTransport(endpoint, error.cause, false)),
        Effect.timeoutFail({ duration: endpoint.timeout, onTimeout: () => Refusal.silent(endpoint) })
      )
      return Stream.unwrapScoped(Effect.flatMap(answer, (response) => answerOf(endpoint, response)))
    }
  }).pipe(Effect.provide(FetchHttpClient.layer))

/** Replaces lone surrogates, which commands may print and providers refuse. */
const toJson = (body: object): string =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value))

const answerOf = (
  endpoint: Endpoint,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Stream.Stream<unknown, ModelError>, ModelError> => {
  // Some servers send a stream without a content type, or with a wrong one.
  const isStream = !/json|html|xml/.test(response.headers["content-type"] ?? "")
  if (!isStream || response.status < 200 || response.status > 299) {
    return Effect.flatMap(beginningOf(response), (text) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { headers, status } = response
        return Effect.fail(Refusal.fromAnswer(endpoint, { headers, status, text }, now))
      })
    )
  }
  const said: Said = { at: Date.now() }
  const texts = eventsOf(bytesOf(endpoint, response, said))
  return Effect.succeed(Stream.mapEffect(texts, (text) => parseEvent(endpoint, text, said)))
}

/** When the model last said something. A proxy can send comments and pings forever, so they do not count. */
interface Said {
  at: number
}

/** Returns the bytes of an answer. Fails if there are too many, or if the model is silent for too long. */
const bytesOf = (
  endpoint: Endpoint,
  response: HttpClientResponse.HttpClientResponse,
  said: Said
): Stream.Stream<Uint8Array, ModelError> => {
  let size = 0
  return response.stream.pipe(
    Stream.mapError((error) => Refusal.fromTransport(endpoint, error.cause, true)),
    Stream.timeoutFail(() => Refusal.silent(endpoint), endpoint.timeout),
    Stream.tap((bytes) => {
      size += bytes.length
      if (Date.now() - said.at > endpoint.timeout) return Effect.fail(Refusal.silent(endpoint))
      return size > mostOfAnswer
        ? Effect.fail(Refusal.broken(endpoint, `is larger than ${mostOfAnswer} bytes`))
        : Effect.void
    }),
    Stream.interruptAfter(Math.max(longestAnswer, endpoint.timeout))
  )
}

const parseEvent = (endpoint: Endpoint, text: string, said: Said): Effect.Effect<unknown, ModelError> =>
  Effect.try({
    try: () => {
      if (text.trim() === done) return done
      const json: unknown = JSON.parse(text)
      if (!(Predicate.isRecord(json) && json["type"] === "ping")) said.at = Date.now()
      return json
    },
    catch: () => Refusal.broken(endpoint, "is no JSON")
  })

/** Returns the data of server-sent events. */
export const eventsOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.suspend(() => {
    let data: Array<string> = []
    return bytes.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      // The empty line after the last event may be missing.
      Stream.concat(Stream.make("")),
      Stream.mapConcat((line) => {
        const [field, value] = /^data(?::\s?(.*))?$/s.exec(line) ?? []
        if (field !== undefined) data.push(value ?? "")
        if (line !== "" || data.length === 0) return []
        const event = data.join("\n")
        data = []
        return [event]
      })
    )
  })

/** Returns the beginning of a refusal's body, or an empty text if it is unreadable. */
const beginningOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> => {
  let size = 0
  return response.stream.pipe(
    Stream.takeUntil((bytes) => {
      size += bytes.length
      return size >= mostOfRefusal
    }),
    Stream.runCollect,
    Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)).toString("utf8").slice(0, mostOfRefusal)),
    Effect.timeout(timeOfRefusal),
    Effect.orElseSucceed(() => "")
  )
}
