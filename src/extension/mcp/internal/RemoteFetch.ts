/** Sends requests to a remote server, and to the hosts that it names for a login. */
import type { FetchLike } from "@modelcontextprotocol/client"

const isLoopback = ({ hostname }: URL): boolean => /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Tests whether requests to an address are encrypted, or stay on this machine. */
export const isPrivate = (address: URL): boolean => address.protocol === "https:" || isLoopback(address)

/** Throws if a server may not name this address. It must use TLS, and may be local only if the server is local too. */
export const check = (server: URL, address: URL): void => {
  const { host, hostname, protocol, username } = address
  const isHttp = /^https?:$/.test(protocol) && username === ""
  const isPlain = server.protocol === "http:" && hostname === server.hostname
  const isAllowed = isLoopback(address) ? isLoopback(server) : protocol === "https:" || isPlain
  if (!isHttp || !isAllowed) throw new Error(`the server names ${protocol}//${host}, which it may not`)
}

/**
 * Makes the `fetch` of a server. Requests to other hosts must use TLS.
 *
 * @param headers sent to the server only
 */
export const make = (server: string, headers: Readonly<Record<string, string>>): FetchLike => {
  const own = new URL(server)
  return async (to, init) => {
    const address = new URL(to)
    check(own, address)
    const sent = new Headers(init?.headers)
    for (const [name, value] of address.host === own.host ? Object.entries(headers) : []) {
      if (!sent.has(name)) sent.set(name, value)
    }
    return fetch(address, { redirect: "manual", ...init, headers: sent })
  }
}

type Bytes = TransformStream<Uint8Array, Uint8Array>

export const piped = (response: Response, through: Bytes): Response =>
  new Response(response.body?.pipeThrough(through) ?? null, response)

export const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") === true

/** Passes on a body, and fails if it is too long. In a stream of events, the limit applies to each line. */
export const limited = (response: Response, most: number): Response => {
  const isEvents = isStream(response)
  let length = 0
  const through: Bytes = new TransformStream({
    transform: (chunk, controller) => {
      const newline = isEvents ? chunk.lastIndexOf(0x0a) : -1
      length = newline < 0 ? length + chunk.length : chunk.length - newline - 1
      if (length > most) controller.error(new Error(`a message of more than ${most / 1024 ** 2} MiB`))
      else controller.enqueue(chunk)
    }
  })
  return piped(response, through)
}

/** Passes on the beginning of a body. */
export const begun = (response: Response, most: number): Response => {
  let left = most
  const through: Bytes = new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.terminate()
    }
  })
  return piped(response, through)
}
