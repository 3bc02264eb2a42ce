/** The requests to a remote server and to the hosts that it names for a login. */
import type { FetchLike } from "@modelcontextprotocol/client"

const isLoopback = ({ hostname }: URL): boolean => /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Tests whether nobody on the way can read what is sent to an address. */
export const isPrivate = (address: URL): boolean => address.protocol === "https:" || isLoopback(address)

/** Throws unless a server may name an address: by TLS, and none that this machine alone reaches. */
export const check = (server: URL, address: URL): void => {
  const { host, hostname, protocol, username } = address
  const isHttp = /^https?:$/.test(protocol) && username === ""
  const isPlain = server.protocol === "http:" && hostname === server.hostname
  const isAllowed = isLoopback(address) ? isLoopback(server) : protocol === "https:" || isPlain
  if (!isHttp || !isAllowed) throw new Error(`the server names ${protocol}//${host}, which it may not`)
}

/**
 * Makes the `fetch` of a server, which asks other hosts only by TLS.
 *
 * @param headers what the server alone gets
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
