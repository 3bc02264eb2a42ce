/** The requests to a remote server and to the hosts that it names for a login. */
import type { FetchLike } from "@modelcontextprotocol/client"

const isLoopback = ({ hostname }: URL): boolean => /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Tests whether nobody on the way can read what is sent to an address. */
export const isPrivate = (address: URL): boolean => address.protocol === "https:" || isLoopback(address)

/** A server could name what this machine alone reaches. */
const isAllowed = (server: URL, address: URL): boolean =>
  address.hostname === server.hostname || (isPrivate(address) && (!isLoopback(address) || isLoopback(server)))

/**
 * Makes the `fetch` of a server, which asks other hosts only by TLS.
 *
 * @param headers what the server alone gets
 */
export const make = (server: string, headers: Readonly<Record<string, string>>): FetchLike => {
  const own = new URL(server)
  return async (to, init) => {
    const address = new URL(to)
    if (!isAllowed(own, address)) throw new Error(`the server names ${address.origin}, which it may not`)
    const sent = new Headers(init?.headers)
    for (const [name, value] of address.host === own.host ? Object.entries(headers) : []) {
      if (!sent.has(name)) sent.set(name, value)
    }
    return fetch(address, { redirect: "manual", ...init, headers: sent })
  }
}
