/** Connects to the configured MCP servers with the official client. */

import * as fs from "node:fs"
import * as path from "node:path"
import type { ConfigError } from "effect/ConfigError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import { Blocked, type CommandError, type CommandNotFound, type ExecutionFailed } from "../../domain/CommandError.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as FailureCause from "./internal/FailureCause.js"
import type { Gone, Usable } from "./internal/McpConnection.js"
import * as McpConnection from "./internal/McpConnection.js"
import * as McpSettings from "./internal/McpSettings.js"
import * as ToolList from "./internal/ToolList.js"
import { McpClient, type McpServer, type McpTool } from "./McpClient.js"
import * as McpPlaces from "./McpConfig.js"
import { McpConfig, type McpEntry } from "./McpConfig.js"
import * as McpName from "./McpName.js"
import * as OwnFile from "./OwnFile.js"

interface McpConnections {
  /** Uses the connection of an entry. If the server was already gone, it connects again once. */
  readonly use: <A, E>(
    entry: Usable,
    use: (connection: McpConnection.McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
  ) => Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
  /** Closes the connections whose entries were removed or changed. */
  readonly retain: (entries: ReadonlyArray<McpEntry>) => Effect.Effect<void>
}

/** A server that runs or is starting. Interrupting the fiber ends it. */
interface Running {
  readonly ready: Deferred.Deferred<McpConnection.McpConnection, ExecutionFailed>
  readonly fiber: Fiber.RuntimeFiber<never, ExecutionFailed>
}

const isGone = (error: unknown): error is Gone => Predicate.isTagged(error, "Gone")

/** Makes connections with `open`, and closes all of them with the scope. */
export const makeMcpConnections = (
  open: (entry: Usable) => Effect.Effect<McpConnection.McpConnection, ExecutionFailed, Scope.Scope>
): Effect.Effect<McpConnections, never, Scope.Scope> =>
  Effect.gen(function* () {
    const runFork = Runtime.runFork(yield* Effect.runtime())
    // Servers can take a second to end, so they all end at the same time, even while in use.
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const servers = new Map<string, Running>()

    const start = (entry: Usable): Running => {
      const ready = Deferred.unsafeMake<McpConnection.McpConnection, ExecutionFailed>(FiberId.none)
      const ended = FailureCause.failed(`The MCP server ${entry.server.name} was ended before it was ready.`)
      const running = open(entry).pipe(
        Effect.tap((connection) => Deferred.succeed(ready, connection)),
        Effect.zipRight(Effect.never),
        Effect.scoped,
        Effect.onExit((exit) => {
          if (servers.get(keyOf(entry))?.ready === ready) servers.delete(keyOf(entry))
          return Exit.isInterrupted(exit) ? Deferred.fail(ready, ended) : Deferred.done(ready, exit)
        })
      )
      return { ready, fiber: runFork(running, { scope, immediate: false }) }
    }
    const get = (entry: Usable): Running => {
      const server = servers.get(keyOf(entry)) ?? start(entry)
      servers.set(keyOf(entry), server)
      return server
    }

    return {
      use: <A, E>(
        entry: Usable,
        use: (connection: McpConnection.McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
      ): Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed> => {
        const once = Effect.suspend(() => {
          const { fiber, ready } = get(entry)
          return Effect.flatMap(Deferred.await(ready), (connection) =>
            Effect.tapError(use(connection), (error) => (isGone(error) ? Fiber.interrupt(fiber) : Effect.void))
          )
        })
        return once.pipe(
          Effect.catchIf(isGone, () => once),
          Effect.catchIf(isGone, ({ cause }) =>
            FailureCause.failed(
              `The MCP server ${entry.server.name} ends as soon as it is asked, and was tried twice.`,
              cause
            )
          )
        ) as Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
      },
      retain: (entries) =>
        Effect.suspend(() => {
          const current = new Set(entries.flatMap((entry) => (entry._tag === "Unusable" ? [] : [keyOf(entry)])))
          const stale = [...servers].filter(([key]) => !current.has(key))
          return Effect.forEach(stale, ([, { fiber }]) => Fiber.interruptFork(fiber), { discard: true })
        })
    }
  })

/** The tools of a server, as one of its versions listed them. */
interface Listed {
  readonly version: string
  readonly tools: ReadonlyArray<McpTool>
}

/** Caches the tools that servers listed. */
export interface McpCatalog {
  /** Returns the cached list. Its file is read once, and ignored if it is invalid. */
  readonly get: (entry: McpEntry) => Listed | undefined
  /** Caches a list, in memory only if it can't be written. */
  readonly put: (entry: McpEntry, version: string, tools: ReadonlyArray<McpTool>) => Effect.Effect<Listed>
  /** Drops a list until there is a new one. */
  readonly drop: (entry: McpEntry) => void
}

const format = 1
const largest = 32 * 1024 ** 2
/** The most files. The oldest ones are deleted. */
const mostFiles = 200

/** Makes a catalog in a directory, which need not exist. */
export const make = (directory: string): McpCatalog => {
  const kept = new Map<string, Listed | undefined>()

  const get = (entry: McpEntry) => {
    const key = keyOf(entry)
    if (!kept.has(key)) kept.set(key, read(path.join(directory, fileOf(key)), entry.server.name))
    return kept.get(key)
  }

  return {
    get,
    put: (entry, version, tools) =>
      Effect.suspend(() => {
        const key = keyOf(entry)
        const listed = { version, tools }
        kept.set(key, listed)
        return Effect.as(Effect.ignore(Effect.try(() => write(directory, fileOf(key), listed))), listed)
      }),
    drop: (entry) => {
      kept.set(keyOf(entry), undefined)
    }
  }
}

const keyOf = ({ fingerprint, server }: McpEntry): string => JSON.stringify([server.name, fingerprint])

const fileOf = (key: string): string => `${OwnFile.hash(key).slice(0, 32)}.json`

const read = (file: string, server: string): Listed | undefined => {
  const kept = OwnFile.readJson(file, largest)
  if (!Predicate.isReadonlyRecord(kept) || kept["format"] !== format) return undefined
  const { version } = kept
  return typeof version === "string" ? { version, tools: ToolList.page(server, kept) } : undefined
}

const write = (directory: string, name: string, listed: Listed): void => {
  const text = JSON.stringify({ format, version: listed.version, tools: listed.tools })
  if (text.length > largest / 2) return
  OwnFile.write(path.join(directory, name), text)
  const files = fs.readdirSync(directory).map((name) => path.join(directory, name))
  if (files.length <= mostFiles) return
  const byAge = files.map((file) => ({ file, time: fs.lstatSync(file).mtimeMs })).sort((a, b) => b.time - a.time)
  for (const { file } of byAge.slice(mostFiles)) fs.rmSync(file, { force: true })
}

/**
 * Makes the error for a server that is not configured. It also names files that can't be read, which may list the
 * server.
 */
export const unknownServer = (
  command: string,
  name: string,
  servers: ReadonlyArray<McpServer>,
  places: McpPlaces.Places
): CommandNotFound => {
  const known = servers.filter((one) => one.isFile !== true && McpName.refusal(one.name) === undefined)
  const names = known.map(({ name }) => name)
  return UnknownCommand.mcpServer(command, names, {
    name,
    none: `No MCP server is configured: the user names them in ${McpPlaces.fileOf("project", places)} or ${McpPlaces.fileOf("home", places)}.`,
    advice: servers.flatMap(({ isFile, name, problem = "" }) =>
      isFile === true ? [Advice.line`${UntrustedText.word(name, 300)} can't be used: ${problem}.`] : []
    )
  })
}

/**
 * Makes the error for a server whose entry is broken or not trusted: the reason, the file, and what the user can do.
 */
export const toError = (entry: McpEntry & { readonly _tag: "Unusable" }): CommandError => {
  const { denial, problem, server } = entry
  return denial === undefined
    ? FailureCause.failed(`The MCP server ${server.name} can't be used: ${problem}.`)
    : new Blocked({ resource: `mcp:${server.name}`, rule: denial.file, reason: denial.why })
}

/** How long to wait between two lists of a server that reports changed tools, in milliseconds. */
const between = 1000

/** How long `known` assumes that the configuration is unchanged, in milliseconds. */
const fresh = 1000

/**
 * A layer that connects to the configured servers.
 *
 * It caches the tools of servers in `cache/mcp` of `$SYNAPSE_HOME`, by entry and version.
 */
export const layer: Layer.Layer<McpClient, never, McpConfig | McpSettings.McpSettings> = Layer.scoped(
  McpClient,
  Effect.gen(function* () {
    const config = yield* McpConfig
    const settings = yield* McpSettings.McpSettings
    const runtime = yield* Effect.runtime()
    const catalog = make(path.join(config.home, "cache", "mcp"))

    const list = (entry: McpEntry, connection: McpConnection.McpConnection) =>
      Effect.flatMap(connection.list, (tools) => catalog.put(entry, connection.version, tools))

    const connections = yield* makeMcpConnections((entry) =>
      Effect.gen(function* () {
        const connection = yield* McpConnection.open(entry, config, settings)
        // Another version may have other tools.
        if (catalog.get(entry)?.version !== connection.version) catalog.drop(entry)
        const refresh = Effect.zipRight(Queue.take(connection.changes), Effect.ignore(list(entry, connection)))
        yield* Effect.forkScoped(Effect.forever(Effect.zipRight(refresh, Effect.sleep(between))))
        return connection
      })
    )

    let entries: ReadonlyArray<McpEntry> = []
    let readAt = Number.NEGATIVE_INFINITY
    /** Reads the configuration, and closes connections whose entry has changed. */
    const look = Effect.tap(config.entries, (read) => {
      entries = read
      readAt = performance.now()
      return connections.retain(read)
    })

    const usable = (command: string, name: string): Effect.Effect<McpConnection.Usable, CommandError> =>
      Effect.flatMap(look, (entries): Effect.Effect<McpConnection.Usable, CommandError> => {
        const servers = entries.map(({ server }) => server)
        const entry = entries.find(({ server }) => server.name === name && server.isFile !== true)
        if (entry === undefined) return unknownServer(command, name, servers, config)
        return entry._tag === "Unusable" ? toError(entry) : Effect.succeed(entry)
      })

    let parts: ReadonlyArray<Listed> = []
    let known: ReadonlyArray<McpTool> = []

    return {
      servers: Effect.map(look, (entries) => entries.map(({ server }) => server)),
      tools: Effect.fn("McpClient.tools")(function* (server, options = {}) {
        const entry = yield* usable(options.command ?? `mcp:${server}`, server)
        const kept = options.refresh === true ? undefined : catalog.get(entry)
        const { tools } = kept ?? (yield* connections.use(entry, (connection) => list(entry, connection)))
        return tools
      }),
      known: () => {
        // A slow read goes on in the background, for the next call.
        if (performance.now() - readAt > fresh) Runtime.runSyncExit(runtime)(look)
        const now = entries.flatMap((entry) => (entry._tag === "Unusable" ? [] : (catalog.get(entry) ?? [])))
        if (now.length !== parts.length || now.some((each, at) => each !== parts[at])) {
          parts = now
          known = now.flatMap(({ tools }) => tools)
        }
        return known
      },
      call: Effect.fn("McpClient.call")(function* (server, tool, args, options) {
        const entry = yield* usable(`mcp:${server}:${tool}`, server)
        return yield* connections.use(entry, (connection) =>
          Effect.gen(function* () {
            const isTool = ({ name }: McpTool) => name === tool
            if (catalog.get(entry)?.tools.some(isTool) !== true) {
              // The tool may be new, so the server is asked again.
              const { tools } = yield* list(entry, connection)
              if (!tools.some(isTool))
                return yield* McpName.unknownTool(`mcp:${server}:${tool}`, { server, tool }, tools)
            }
            return yield* connection.call(tool, args, options)
          })
        )
      })
    }
  })
)

/** The same layer with settings from the environment. Fails if a variable is invalid. */
export const layerFromEnv: Layer.Layer<McpClient, ConfigError, McpConfig> = Layer.provide(
  layer,
  McpSettings.layerFromEnv
)
