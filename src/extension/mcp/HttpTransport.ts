/**
 * Carries the messages to and from a server at an address, by streamable HTTP.
 *
 * @since 0.1.0
 */
import type * as Client from "@modelcontextprotocol/client"
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
  const transport = new client.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: async (address, init) => {
      const response = await fetch(address, init)
      challenge = response.headers.get("www-authenticate") ?? undefined
      return response.status === 200 ? bounded(response) : response
    }
  })
  const close = transport.close.bind(transport)
  const send = transport.send.bind(transport)
  return Object.assign(transport, {
    challenge: () => challenge,
    // The client would wait for the answer to its timeout where the stream that it was to come in has ended.
    send: (message: Client.JSONRPCMessage, options?: SendOptions) => {
      if (!("method" in message && "id" in message)) return send(message, options)
      const error = {
        code: noAnswer,
        message: "the connection ended without an answer, and it may have had its effect"
      }
      const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error })
      return send(message, { ...options, onRequestStreamEnd })
    },
    close: async () => {
      // A server that keeps sessions is told that this one is over; it is not waited for longer than a moment.
      const told = transport.terminateSession().catch(() => {})
      let timer: NodeJS.Timeout | undefined
      await Promise.race([told, new Promise((resolve) => (timer = setTimeout(resolve, farewell)))])
      clearTimeout(timer)
      await close()
    }
  })
}

type SendOptions = Parameters<Client.StreamableHTTPClientTransport["send"]>[1]

const farewell = 500
const noAnswer = -32_000

/** The response, whose body fails where it has too much for a message: in all, or of a stream of events in a line. */
const bounded = (response: Response): Response => {
  if (response.body === null) return response
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true
  let length = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const newline = isStream ? chunk.lastIndexOf(0x0a) : -1
      length = newline < 0 ? length + chunk.length : chunk.length - newline - 1
      if (length > MessageReader.largest) {
        controller.error(new Error(`a message of more than ${MessageReader.largest / 1024 ** 2} MiB`))
      } else controller.enqueue(chunk)
    }
  })
  return new Response(response.body.pipeThrough(limit), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers
  })
}
