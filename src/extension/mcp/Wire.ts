/**
 * Makes the transport of an entry, together with what its errors mean.
 *
 * @since 0.1.0
 */
import * as fs from "node:fs"
import type * as Client from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import * as HttpTransport from "./HttpTransport.js"
import type { McpEntry } from "./McpConfig.js"
import * as McpEnvironment from "./McpEnvironment.js"
import * as McpPlaces from "./McpPlaces.js"
import * as NamedFiles from "./NamedFiles.js"
import * as StartFailure from "./StartFailure.js"
import * as StdioTransport from "./StdioTransport.js"

/**
 * A transport, and what its errors mean.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wire {
  readonly transport: Client.Transport
  /** Makes the error of a server that could not be connected to. */
  readonly notReady: (cause: unknown) => ExecutionFailed
  /** Tells of a failed request whether it did not reach the server. */
  readonly isUnsent: (cause: unknown) => boolean
  /** Tells of a failed request whether its sender was refused, rather than the request. */
  readonly isRefusal: (cause: unknown) => boolean
  /** How the server ended; undefined while it is there, or may be. */
  readonly ending: () => string | undefined
  /** What it said last, for an error. */
  readonly lastWords: () => string
}

/**
 * Makes the wire to a program, which is found here and started by the client.
 *
 * @since 0.1.0
 * @category constructors
 */
export const stdio = (
  entry: McpEntry & { readonly _tag: "Stdio" },
  places: McpPlaces.Places
): Effect.Effect<Wire, ExecutionFailed> =>
  Effect.suspend(() => {
    const environment = McpEnvironment.make(entry.env, places.root)
    if (!fs.existsSync(entry.cwd)) {
      return StartFailure.notStarted(entry, places, `there is no directory ${entry.cwd}`)
    }
    const found = McpEnvironment.find(entry.command, entry.cwd, environment)
    if (found === undefined) return StartFailure.notStarted(entry, places, `there is no program ${entry.command}`)
    if (found.isWithheld) {
      return StartFailure.notStarted(
        entry,
        places,
        `${entry.command} is ${found.program}, in the working directory, where any command can put one: give its path as "command"`
      )
    }
    const change = entry.named === undefined ? undefined : NamedFiles.changeOf(entry.named, found.program)
    if (change !== undefined) {
      return StartFailure.notStarted(entry, places, `${change}; ${McpPlaces.howToTrust(places.root)}`)
    }
    const transport = StdioTransport.make({ ...entry, program: found.program, environment: environment.variables })
    return Effect.succeed({
      transport,
      notReady: (cause) =>
        isSystemError(cause) && transport.ending() === undefined
          ? StartFailure.notStarted(entry, places, `${found.program} in ${entry.cwd}: ${cause.message}`, cause)
          : StartFailure.notReady(entry.server.name, transport.ending(), cause, transport.lastWords()),
      isUnsent: (cause) => cause instanceof StdioTransport.NotSent,
      isRefusal: () => false,
      ending: transport.ending,
      lastWords: transport.lastWords
    })
  })

/**
 * Makes the wire to an address.
 *
 * @since 0.1.0
 * @category constructors
 */
export const http = (
  library: typeof Client,
  entry: McpEntry & { readonly _tag: "Http" },
  places: McpPlaces.Places
): Effect.Effect<Wire, ExecutionFailed> =>
  Effect.map(
    Effect.try({
      try: () => HttpTransport.make(library, entry.url, entry.headers),
      catch: (cause) => StartFailure.notReached(entry, places, cause, undefined)
    }),
    (transport) => ({
      transport,
      notReady: (cause) => StartFailure.notReached(entry, places, cause, transport.challenge()),
      // A server that was started anew does not know the session any more, and says so with either of these.
      isUnsent: (cause) =>
        isRefusedConnection(cause) || (transport.sessionId !== undefined && [400, 404].includes(statusOf(cause))),
      isRefusal: (cause) => [401, 403].includes(statusOf(cause)),
      ending: () => undefined,
      lastWords: () => ""
    })
  )

const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined)

const statusOf = (cause: unknown): number =>
  cause instanceof Error && "status" in cause && typeof cause.status === "number" ? cause.status : 0

const isSystemError = (cause: unknown): cause is NodeJS.ErrnoException => cause instanceof Error && "syscall" in cause

/** No connection was made, so nothing was sent. */
const isRefusedConnection = (cause: unknown): boolean =>
  cause instanceof Error && codeOf(cause.cause) === "ECONNREFUSED"
