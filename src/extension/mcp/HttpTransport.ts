/**
 * Carries the messages to and from a server at an address, by streamable HTTP.
 *
 * @since 0.1.0
 */
import type * as Client from "@modelcontextprotocol/client"
import * as Slices from "../../domain/Slices.js"
import * as Backlog from "./Backlog.js"
import * as FailureCause from "./FailureCause.js"
import * as MessageReader from "./MessageReader.js"

/**
 * A transport, and what it knows of a server that refuses.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpTransport extends Client.Transport {
  /** The `WWW-Authenticate` header of the last refusal. */
  readonly challenge: () => string | undefined
}

/**
 * Makes a transport, which sends nothing before the client does.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (client: typeof Client, url: string, headers: Readonly<Record<string, string>>): HttpTransport => {
  let challenge: string | undefined
  const streams = new Map<unknown, AbortController>()
  const untaken = Backlog.make(mostUntaken)
  const transport = new client.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: async (address, init) => {
      const response = await fetch(address, init)
      challenge = response.headers.get("www-authenticate") ?? undefined
      return bounded(response, response.ok ? whole(response, untaken) : beginning())
    }
  })
  const close = transport.close.bind(transport)
  const send = transport.send.bind(transport)
  return Object.assign(transport, {
    challenge: () => challenge,
    // The client would wait for the answer to its timeout where the stream that it was to come in has ended.
    send: (message: Client.JSONRPCMessage, options?: SendOptions) => {
      if ("method" in message && message.method === "notifications/cancelled") {
        streams.get(message.params?.["requestId"])?.abort()
      }
      if (!("method" in message)) {
        const taken = send(message, options)
        untaken.add(1, taken)
        return taken
      }
      if (!("id" in message)) return send(message, options)
      const error = {
        code: noAnswer,
        message: FailureCause.own.noAnswer
      }
      const { id } = message
      // A call that was cancelled is not listened to any more, where its answer is a stream without end.
      const stream = new AbortController()
      streams.set(id, stream)
      for (const old of streams.keys()) if (streams.size > mostStreams) streams.delete(old)
      const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error })
      return send(message, { ...options, onRequestStreamEnd, requestSignal: stream.signal }).catch(reworded)
    },
    close: async () => {
      // A server that keeps sessions is told that this one is over; it is not waited for longer than a moment.
      const told = transport.terminateSession().catch(() => {})
      let timer: NodeJS.Timeout | undefined
      await Promise.race([told, new Promise((resolve) => (timer = setTimeout(resolve, farewell)))])
      clearTimeout(timer)
      untaken.release()
      await close()
    }
  })
}

type SendOptions = Parameters<Client.StreamableHTTPClientTransport["send"]>[1]

const farewell = 500
const noAnswer = -32_000

/** Answers to a server that it has not taken; more are not made before it takes them. */
const mostUntaken = 32

/** Requests whose answers can be cut off. */
const mostStreams = 200

/** Bytes of an answer that tells of a failure. */
const mostOfFailure = 8192

/** Bytes of a stream of events that are read before the event loop has its turn. */
const stride = 8192

type Limit = TransformStream<Uint8Array, Uint8Array>

const bounded = (response: Response, limit: Limit): Response => {
  if (response.body === null) return response
  return new Response(response.body.pipeThrough(limit), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers
  })
}

/** Passes on the beginning, and reads no more. */
const beginning = (): Limit => {
  let left = mostOfFailure
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.terminate()
    }
  })
}

/** Passes on a body, and fails where it has too much for a message: in all, or of a stream of events in a line. */
const whole = (response: Response, untaken: Backlog.Backlog): Limit => {
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true
  let length = 0
  return new TransformStream({
    transform: async (chunk, controller) => {
      const newline = isStream ? chunk.lastIndexOf(0x0a) : -1
      length = newline < 0 ? length + chunk.length : chunk.length - newline - 1
      if (length > MessageReader.largest) {
        controller.error(new Error(`a message of more than ${MessageReader.largest / 1024 ** 2} MiB`))
      } else if (isStream) {
        for (let at = 0; at < chunk.length; at += stride) {
          await untaken.room()
          controller.enqueue(chunk.subarray(at, at + stride))
          await Slices.turn()
        }
      } else controller.enqueue(chunk)
    }
  })
}

/** What the client says of an answer that is no message is a list of all that it could have been. */
const reworded = (cause: unknown): never => {
  const isNoMessage = cause instanceof Error && (cause.name === "ZodError" || cause instanceof SyntaxError)
  throw isNoMessage ? new Error(FailureCause.own.noResult) : cause
}
