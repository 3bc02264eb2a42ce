/** Sends a request to an endpoint, and reads its answer within bounds of time and size. */

import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { ModelError } from "../ModelError.js"
import type { Endpoint } from "./Endpoint.js"
import * as Proxy from "./Proxy.js"
import * as Refusal from "./Refusal.js"

/** The most characters of an event, and the most bytes of a whole answer. */
const limits = { event: 16 * 1024 ** 2, answer: 64 * 1024 ** 2 } as const

/** Collects bytes to events; the end of the bytes is told by `end`. */
interface EventStream {
  /** Takes bytes, and returns the data of the events that they complete; undefined where an event is too long. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string> | undefined
  /** Returns the data of an event whose empty line is missing at the end. */
  readonly end: () => ReadonlyArray<string>
}

/** Makes a reader of one stream. */
export const makeEventStream = (most: number = limits.event): EventStream => {
  const decoder = new TextDecoder()
  let line: Array<string> = []
  let lineLength = 0
  let data: Array<string> = []
  let dataLength = 0
  // A carriage return may be the first half of a line's end.
  let isAfterReturn = false

  const take = (events: Array<string>): void => {
    const text = line.length === 1 ? (line[0] as string) : line.join("")
    line = []
    lineLength = 0
    if (text === "") {
      if (data.length > 0) events.push(data.join("\n"))
      data = []
      dataLength = 0
      return
    }
    const colon = text.indexOf(":")
    if ((colon < 0 ? text : text.slice(0, colon)) !== "data") return
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1)
    data.push(value)
    dataLength += value.length + 1
  }

  return {
    push: (bytes) => {
      const events: Array<string> = []
      let text = decoder.decode(bytes, { stream: true })
      if (text !== "") {
        if (isAfterReturn && text.startsWith("\n")) text = text.slice(1)
        isAfterReturn = text.endsWith("\r")
      }
      let from = 0
      for (const end of text.matchAll(/\r\n|\n|\r/g)) {
        if (end.index > from) line.push(text.slice(from, end.index))
        take(events)
        from = end.index + end[0].length
      }
      if (from < text.length) {
        line.push(text.slice(from))
        lineLength += text.length - from
      }
      return lineLength + dataLength > most ? undefined : events
    },
    end: () => {
      const events: Array<string> = []
      if (line.length > 0) take(events)
      take(events)
      return events
    }
  }
}

/** A message of an answer: an event of a stream, the whole answer, or the mark `[DONE]` at the end. */
export type Message = Data.TaggedEnum<{
  Event: { readonly value: unknown }
  Whole: { readonly value: unknown }
  Done: object
}>

/** Makes messages, and takes them apart with `$match`. */
export const Message = Data.taggedEnum<Message>()

/** The most bytes that are read of a refusal, and the time for it in milliseconds. */
const mostOfRefusal = 64 * 1024
const timeOfRefusal = 10_000

/** The longest time of a whole answer in milliseconds, however busily it comes. */
const longestAnswer = 3_600_000

/** Sends requests. */
export interface Exchange {
  /** Posts a body, and returns the messages of the answer. Interrupting the stream ends the connection. */
  readonly post: (
    endpoint: Endpoint,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: object
  ) => Stream.Stream<Message, ModelError>
}

/** Makes an exchange over `fetch`, or over one that goes through a proxy. */
export const make = (proxy?: Proxy.Proxy): Effect.Effect<Exchange> =>
  proxy === undefined ? over(undefined) : Effect.flatMap(Proxy.fetchOf(proxy), over)

const over = (fetch: typeof globalThis.fetch | undefined): Effect.Effect<Exchange> =>
  Effect.map(HttpClient.HttpClient, (plain): Exchange => {
    const client = plain.pipe(
      // A span would hold headers and addresses, and a provider has no use for it.
      HttpClient.withTracerDisabledWhen(() => true),
      HttpClient.withTracerPropagation(false),
      HttpClient.withScope
    )
    const post: Exchange["post"] = (endpoint, path, headers, body) => {
      const request = HttpClientRequest.post(`${endpoint.baseUrl}${path}`, {
        headers: Headers.fromInput({
          accept: endpoint.isStreaming ? "text/event-stream, application/json" : "application/json",
          ...headers,
          ...Object.fromEntries(Object.entries(endpoint.headers).map(([name, value]) => [name, Redacted.value(value)]))
        }),
        body: HttpBody.text(toJson(body), "application/json")
      })
      const answer = client.execute(request).pipe(
        // A key must not follow a redirect to another host.
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
        fetch === undefined ? identity : Effect.provideService(FetchHttpClient.Fetch, fetch),
        Effect.mapError((error) => Refusal.fromTransport(endpoint, error.cause, false)),
        Effect.timeoutFail({ duration: endpoint.timeout, onTimeout: () => Refusal.silent(endpoint) })
      )
      return Stream.unwrapScoped(Effect.flatMap(answer, (response) => messagesOf(endpoint, response)))
    }
    return { post }
  }).pipe(Effect.provide(FetchHttpClient.layer))

/** Half a character, as a command may have written it, is refused by providers: it becomes the sign for that. */
const toJson = (body: object): string =>
  JSON.stringify(body, (_, value: unknown) =>
    typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value
  )

const messagesOf = (
  endpoint: Endpoint,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Stream.Stream<Message, ModelError>, ModelError> => {
  if (response.status < 200 || response.status > 299) {
    return Effect.flatMap(beginningOf(response), (text) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { headers, status } = response
        return Effect.fail(Refusal.fromAnswer(endpoint, { headers, status, text }, now))
      })
    )
  }
  const type = response.headers["content-type"]
  const bytes = bytesOf(endpoint, response)
  if (type?.includes("json") === true) return Effect.succeed(wholeOf(endpoint, bytes))
  // Some servers don't name the type of a stream, or not rightly; a page is none in any case.
  const isStream =
    type?.includes("text/event-stream") === true || (endpoint.isStreaming && !/html|xml/.test(type ?? ""))
  return isStream ? Effect.succeed(eventsOf(endpoint, bytes)) : Effect.fail(Refusal.foreign(endpoint, type))
}

/** Returns the bytes of an answer, until there are too many, or none comes for too long. */
const bytesOf = (
  endpoint: Endpoint,
  response: HttpClientResponse.HttpClientResponse
): Stream.Stream<Uint8Array, ModelError> => {
  let size = 0
  return response.stream.pipe(
    Stream.mapError((error) => Refusal.fromTransport(endpoint, error.cause, true)),
    Stream.timeoutFail(() => Refusal.silent(endpoint), endpoint.timeout),
    Stream.tap((bytes) => {
      size += bytes.length
      return size > limits.answer
        ? Effect.fail(Refusal.broken(endpoint, `is larger than ${limits.answer} bytes`))
        : Effect.void
    }),
    Stream.interruptWhen(
      Effect.zipRight(
        Effect.sleep(Math.max(longestAnswer, endpoint.timeout)),
        Effect.fail(Refusal.broken(endpoint, `took longer than ${longestAnswer} ms`))
      )
    )
  )
}

const parse = (endpoint: Endpoint, text: string): Effect.Effect<unknown, ModelError> =>
  Effect.try({ try: (): unknown => JSON.parse(text), catch: () => Refusal.broken(endpoint, "is no JSON") })

const eventsOf = (
  endpoint: Endpoint,
  bytes: Stream.Stream<Uint8Array, ModelError>
): Stream.Stream<Message, ModelError> =>
  Stream.suspend(() => {
    const events = makeEventStream()
    const read = (datum: string): Effect.Effect<Message, ModelError> =>
      datum.trim() === "[DONE]"
        ? Effect.succeed(Message.Done())
        : Effect.map(parse(endpoint, datum), (value) => Message.Event({ value }))
    const pushed = Stream.mapConcatEffect(bytes, (some) => {
      const data = events.push(some)
      return data === undefined
        ? Effect.fail(Refusal.broken(endpoint, `has an event of more than ${limits.event} characters`))
        : Effect.forEach(data, read)
    })
    return Stream.concat(
      pushed,
      Stream.suspend(() => Stream.mapEffect(Stream.fromIterable(events.end()), read))
    )
  })

const wholeOf = (
  endpoint: Endpoint,
  bytes: Stream.Stream<Uint8Array, ModelError>
): Stream.Stream<Message, ModelError> =>
  Stream.fromEffect(
    Effect.flatMap(Stream.runCollect(bytes), (chunks) =>
      Effect.map(parse(endpoint, textOf(chunks)), (value) => Message.Whole({ value }))
    )
  )

const textOf = (chunks: Chunk.Chunk<Uint8Array>): string =>
  Buffer.concat(Chunk.toReadonlyArray(chunks)).toString("utf8")

/** Returns the beginning of a refusal's body; empty where it can't be read. */
const beginningOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> => {
  let size = 0
  return response.stream.pipe(
    Stream.takeUntil((bytes) => {
      size += bytes.length
      return size >= mostOfRefusal
    }),
    Stream.runCollect,
    Effect.map((chunks) => textOf(chunks).slice(0, mostOfRefusal)),
    Effect.timeoutOption(timeOfRefusal),
    Effect.map(Option.getOrElse(() => "")),
    Effect.orElseSucceed(() => "")
  )
}
