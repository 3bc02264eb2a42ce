/**
 * Sends requests through the proxy in `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or their lower-case forms, which win.
 * Requests to https addresses pass the proxy encrypted.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Attempt from "../../../domain/Attempt.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import type { Settings } from "../ModelSettings.js"

export interface Proxy {
  /** The variable that sets it. */
  readonly setting: string
  /** The address, which may contain a password. */
  readonly url: Redacted.Redacted
  /** The hosts that are reached directly, as in `NO_PROXY`. */
  readonly except: string
}

/** A proxy can't reach this machine's own services. */
const own = "localhost,127.0.0.1,[::1]"

const protocols: ReadonlyArray<string> = ["http:", "https:"]

const isAddress = (url: string): boolean =>
  Attempt.orElse(() => {
    const { password, protocol, username } = new URL(url)
    return protocols.includes(protocol) && decodeURIComponent(username + password) !== undefined
  }, false)

/** Returns the proxy for a protocol, if one is set. */
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

/** Makes a `fetch` that goes through a proxy, and loads the library for it. */
export const fetchOf = ({ except, url }: Proxy): Effect.Effect<typeof globalThis.fetch> =>
  Effect.promise(async () => {
    const loaded = await import("@effect/platform-node/Undici")
    // In a bundle, undici's exports are only on its default export, whose type is incomplete.
    const { EnvHttpProxyAgent, fetch } = loaded.default as unknown as typeof loaded
    const address = Redacted.value(url)
    const dispatcher = new EnvHttpProxyAgent({
      httpProxy: address,
      httpsProxy: address,
      noProxy: except,
      // Many proxies only open tunnels to https addresses.
      proxyTunnel: false
    })
    const through = (input: never, init: object) => fetch(input, { ...init, dispatcher })
    return through as unknown as typeof globalThis.fetch
  })
