/**
 * Logs in to remote servers, and stores the tokens in `$SYNAPSE_HOME/mcp/oauth`, which every sandbox hides. The
 * official client implements the protocol: discovery, registration, PKCE, refreshing.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Path from "node:path"
import type * as Client from "@modelcontextprotocol/client"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Attempt from "../../domain/Attempt.js"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import * as Version from "../../domain/Version.js"
import * as FailureCause from "./internal/FailureCause.js"
import * as RemoteFetch from "./internal/RemoteFetch.js"
import type { McpEntry } from "./McpConfig.js"
import * as OwnFile from "./OwnFile.js"

type Remote = McpEntry & { readonly _tag: "Http" }

/** The stored login: the registered client, its tokens, and the rights that a call lacked. */
interface StoredLogin {
  readonly client?: Client.StoredOAuthClientInformation
  readonly lacked?: string
  readonly tokens?: Client.StoredOAuthTokens
}

const largest = 256 * 1024

/** A login belongs to an address, not to a server's name, so that another address never gets it. */
const fileOf = (home: string, url: string): string =>
  Path.join(home, "mcp", "oauth", `${OwnFile.hash(url).slice(0, 32)}.json`)

const read = (file: string): StoredLogin => {
  const kept = OwnFile.readJson(file, largest)
  return typeof kept === "object" && kept !== null ? kept : {}
}

/** Tests whether a login to an address is stored. */
export const isLoggedIn = (home: string, { url }: Remote): boolean => read(fileOf(home, url)).tokens !== undefined

/** Deletes the login to an address, and returns whether there was one. */
export const logout = (home: string, { url }: Remote): boolean =>
  Attempt.orElse(() => {
    Fs.unlinkSync(fileOf(home, url))
    return true
  }, false)

/** A login in progress: the page that the browser returns to, its secret, and how the user gets the address. */
interface Flow {
  readonly redirectUrl: string
  readonly state: string
  readonly redirect: (address: URL) => void
}

/** Makes the token provider of the official client. Without a flow, it never asks the user. */
export const provider = (home: string, url: string, flow?: Flow): Client.OAuthClientProvider => {
  const file = fileOf(home, url)
  const redirectUrl = flow?.redirectUrl ?? "http://127.0.0.1/callback"
  const held: { verifier?: string; discovered?: Client.OAuthDiscoveryState } = {}
  let used: Client.StoredOAuthTokens | undefined
  // A login in progress is stored only when it is complete. Otherwise the file is read each time, because another
  // process may have renewed the tokens.
  let begun: StoredLogin | undefined = flow === undefined ? undefined : {}
  const current = (): StoredLogin => begun ?? read(file)
  const keep = (kept: StoredLogin): void => {
    if (begun !== undefined) begun = kept
    if (begun === undefined || kept.tokens !== undefined) OwnFile.write(file, JSON.stringify(kept))
  }
  return {
    redirectUrl,
    clientMetadata: {
      client_name: `Synapse ${Version.current}`,
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: "none"
    },
    state: () => flow?.state ?? "",
    clientInformation: () => current().client,
    saveClientInformation: (client) => keep({ ...current(), client }),
    tokens: () => {
      used = current().tokens
      return used
    },
    saveTokens: (tokens) => keep({ ...current(), tokens }),
    redirectToAuthorization: (address) => {
      const scope = address.searchParams.get("scope")
      if (flow !== undefined) flow.redirect(address)
      // The next login asks for them.
      else if (scope !== null) keep({ ...current(), lacked: scope })
    },
    saveCodeVerifier: (verifier) => void Object.assign(held, { verifier }),
    codeVerifier: () => held.verifier ?? "",
    saveDiscoveryState: (discovered) => void Object.assign(held, { discovered }),
    discoveryState: () => held.discovered,
    invalidateCredentials: (scope) => {
      const { client, tokens } = current()
      // Keep tokens that another process has renewed.
      if (tokens?.access_token !== used?.access_token) return
      if (scope === "all" || scope === "client") keep({})
      else if (scope === "tokens") keep(client === undefined ? {} : { client })
    }
  }
}

/** Returns the page that the browser shows at the end of a login. */
const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Synapse</title><p>${text} You can close this window.`

/** Listens on the loopback interface for the user to return from the server's page. */
const waiting = (
  state: string
): Effect.Effect<
  { readonly url: string; readonly answer: Effect.Effect<URLSearchParams> },
  ExecutionFailed,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<URLSearchParams>()
    const server = yield* Effect.acquireRelease(
      Effect.async<Http.Server, ExecutionFailed>((resume) => {
        const server = Http.createServer((request, response) => {
          const [path, query] = (request.url ?? "").split("?", 2)
          const parameters = new URLSearchParams(query)
          // Any web page can send a browser here, but only the real server knows the state.
          if (path !== "/callback" || parameters.get("state") !== state) return response.writeHead(404).end()
          const text = parameters.has("code") ? "Synapse is logged in." : "The login was refused."
          response.on("close", () => Deferred.unsafeDone(answer, Effect.succeed(parameters)))
          return response.writeHead(200, { "content-type": "text/html", connection: "close" }).end(page(text))
        })
        server.on("error", (error) =>
          resume(FailureCause.failed(`No port can be opened for the login: ${error.message}.`))
        )
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
      answer: Deferred.await(answer)
    }
  })

/** The time limit of a login, in milliseconds. */
const patience = 600_000

/** The time that a server has to ask for a login when its tools are listed, in milliseconds. */
const probing = 20_000

/**
 * Logs in to a server: the user opens an address and returns from it. Returns false if the server needs no login.
 *
 * @param show shows the address to the user
 */
export const login = <R>(
  home: string,
  { headers, server, url }: Remote,
  show: (address: string) => Effect.Effect<void, never, R>
): Effect.Effect<boolean, ExecutionFailed, Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const library = yield* Effect.tryPromise({
      try: () => import("@modelcontextprotocol/client"),
      catch: FailureCause.noClient
    })
    const state = Crypto.randomBytes(32).toString("hex")
    const callback = yield* waiting(state)
    let address: URL | undefined
    const fail = (cause: unknown) =>
      FailureCause.failed(`The login to the MCP server ${server.name} failed: ${FailureCause.messageOf(cause)}.`, cause)
    if (!RemoteFetch.isPrivate(new URL(url))) {
      return yield* fail(new Error("anybody on the way could read it, for the address begins with http:"))
    }
    const attempt = <A>(run: (signal: AbortSignal) => Promise<A>) => Effect.tryPromise({ try: run, catch: fail })
    const { lacked = "" } = read(fileOf(home, url))
    const redirect = (to: URL) => {
      RemoteFetch.check(new URL(url), to)
      const scopes = `${to.searchParams.get("scope") ?? ""} ${lacked}`.split(" ").filter((scope) => scope !== "")
      if (scopes.length > 0) to.searchParams.set("scope", [...new Set(scopes)].join(" "))
      address = to
    }
    const fetch = RemoteFetch.make(url, headers)
    const transport = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new library.StreamableHTTPClientTransport(new URL(url), {
            fetch: async (to, init) => RemoteFetch.limited(await fetch(to, init), largest),
            authProvider: provider(home, url, { redirectUrl: callback.url, state, redirect })
          })
      ),
      (transport) => Effect.promise(() => transport.close().catch(() => {}))
    )
    const client = new library.Client({ name: "synapse", version: Version.current })
    yield* attempt((signal) =>
      client
        .connect(transport, { signal })
        // Some servers want a login for more than a connection only.
        .then(() => client.listTools({}, { signal, timeout: probing }).catch(() => {}))
        .catch((cause: unknown) => {
          if (address === undefined) throw cause
        })
    )
    if (address === undefined) return false
    yield* show(address.href)
    const answer = yield* callback.answer.pipe(
      Effect.timeoutFail({
        duration: patience,
        onTimeout: () => fail(new Error(`nobody came back within ${patience / 60_000} minutes`))
      })
    )
    const refusal = answer.get("error")
    if (refusal !== null) return yield* fail(new Error(answer.get("error_description") ?? refusal))
    yield* attempt(() => transport.finishAuth(answer))
    return true
  }).pipe(Effect.scoped)
