/**
 * Sends requests through the proxy that the environment names: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in small
 * letters first. Requests to an https address pass it encrypted.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Attempt from "../../../domain/Attempt.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import type { Settings } from "../ModelSettings.js"

export interface Proxy {
  /** The variable that names it. */
  readonly setting: string
  /** The address, which may hold a password. */
  readonly url: Redacted.Redacted
  /** The hosts that are reached without it, as in `NO_PROXY`. */
  readonly except: string
}

/** No proxy can reach what runs on this machine. */
const own = "localhost,127.0.0.1,[::1]"

const protocols: ReadonlyArray<string> = ["http:", "https:"]

const isAddress = (url: string): boolean =>
  Attempt.orElse(() => {
    const { password, protocol, username } = new URL(url)
    return protocols.includes(protocol) && decodeURIComponent(username + password) !== undefined
  }, false)

/** Returns the proxy for addresses of a protocol, if one is set. */
export const of = (
  variable: Settings["variable"],
  protocol: "http:" | "https:"
): Either.Either<Proxy | undefined, InvalidUsage> => {
  const names = protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"]
  const setting = names.find((name) => variable(name) !== undefined)
  const given = setting === undefined ? undefined : variable(setting)
  if (setting === undefined || given === undefined) return Either.right(undefined)
  const text = Redacted.value(given)
  const url = text.includes("://") ? text : `http://${text}`
  if (!isAddress(url)) {
    return Either.left(
      new InvalidUsage({ reason: `${setting} is no address of a proxy: it is one such as http://proxy.example:3128` })
    )
  }
  const except = variable("no_proxy") ?? variable("NO_PROXY")
  const hosts = except === undefined ? "" : Redacted.value(except)
  return Either.right({ setting, url: Redacted.make(url), except: hosts === "*" ? hosts : `${hosts},${own}` })
}

/** Makes a `fetch` that goes through a proxy. The library for it is loaded here. */
export const fetchOf = ({ except, url }: Proxy): Effect.Effect<typeof globalThis.fetch> =>
  Effect.promise(async () => {
    const loaded = await import("@effect/platform-node/Undici")
    // A bundle has what undici exports in its default only, whose type does not name all of it.
    const { EnvHttpProxyAgent, fetch } = loaded.default as unknown as typeof loaded
    const address = Redacted.value(url)
    const dispatcher = new EnvHttpProxyAgent({
      httpProxy: address,
      httpsProxy: address,
      noProxy: except,
      // Many proxies make tunnels to https addresses only.
      proxyTunnel: false
    })
    const through = (input: never, init: object) => fetch(input, { ...init, dispatcher })
    return through as unknown as typeof globalThis.fetch
  })
