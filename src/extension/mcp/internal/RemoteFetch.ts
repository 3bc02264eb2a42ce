/** The requests to a remote server and to what it names: it could name what only this machine reaches. */

const isLoopback = ({ hostname }: URL): boolean => /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Tests whether nobody on the way can read what is sent to an address. */
export const isPrivate = (address: URL): boolean => address.protocol === "https:" || isLoopback(address)

const isAllowed = (server: URL, address: URL): boolean =>
  address.hostname === server.hostname || (isPrivate(address) && (!isLoopback(address) || isLoopback(server)))

const mostRedirects = 5

/**
 * Makes the `fetch` of a server. It asks other hosts only by TLS, and follows a redirect to the same host only: a request by this
 * user's rights is not the server's to send.
 */
export const make = (server: string): typeof fetch => {
  const own = new URL(server)
  return async (input, init) => {
    let address = new URL(input instanceof Request ? input.url : input)
    for (let left = mostRedirects; ; left--) {
      if (!isAllowed(own, address)) throw new Error(`the server names ${address.origin}, which it may not`)
      const response = await fetch(address, { ...init, redirect: "manual" })
      const location = response.headers.get("location")
      const isFollowed = [307, 308].includes(response.status) || (init?.method ?? "GET") === "GET"
      if (response.status < 300 || response.status > 399 || location === null) return response
      const next = new URL(location, address)
      const isSame = next.host === address.host && (next.protocol === "https:" || next.protocol === address.protocol)
      await response.body?.cancel()
      if (!isFollowed || !isSame || left === 0) throw new Error(`it redirects to ${next.origin}${next.pathname}`)
      address = next
    }
  }
}
