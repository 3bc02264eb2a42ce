/**
 * Talks to the MCP servers of the configuration, by the official client.
 *
 * @since 0.1.0
 */
import * as path from "node:path"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import type { CommandError } from "../../domain/CommandError.js"
import * as McpCatalog from "./McpCatalog.js"
import { McpClient, type McpTool } from "./McpClient.js"
import { McpConfig, type McpEntry } from "./McpConfig.js"
import * as McpConnection from "./McpConnection.js"
import * as McpConnections from "./McpConnections.js"
import * as McpSettings from "./McpSettings.js"
import * as ServerName from "./ServerName.js"
import * as UnknownMcp from "./UnknownMcp.js"
import * as UnusableEntry from "./UnusableEntry.js"

/** Milliseconds between two looks at the tools of a server which says that they have changed. */
const between = 1000

/** Milliseconds for which `known` takes the configuration for unchanged. */
const fresh = 1000

/**
 * A layer which talks to the servers of the configuration.
 *
 * What servers list is kept in `cache/mcp` of `$SYNAPSE_HOME`, for each entry and version of its server.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<McpClient, never, McpConfig | McpSettings.McpSettings> = Layer.scoped(
  McpClient,
  Effect.gen(function* () {
    const config = yield* McpConfig
    const settings = yield* McpSettings.McpSettings
    const runtime = yield* Effect.runtime()
    const places = { home: config.home, root: config.root }
    const catalog = McpCatalog.make(path.join(config.home, "cache", "mcp"))

    const list = (entry: McpEntry, connection: McpConnection.McpConnection) =>
      Effect.flatMap(connection.list, (tools) => catalog.put(entry, connection.version, tools))

    const connections = yield* McpConnections.make((entry) =>
      Effect.gen(function* () {
        const connection = yield* McpConnection.open(entry, places, settings)
        // Another version can have other tools.
        if (catalog.get(entry)?.version !== connection.version) catalog.drop(entry)
        const refresh = Effect.zipRight(Queue.take(connection.changes), Effect.ignore(list(entry, connection)))
        yield* Effect.forkScoped(Effect.forever(Effect.zipRight(refresh, Effect.sleep(between))))
        return connection
      })
    )

    let entries: ReadonlyArray<McpEntry> = []
    let readAt = Number.NEGATIVE_INFINITY
    /** Reads the configuration. A connection whose entry has changed is of no use from here on. */
    const look = Effect.tap(config.entries, (read) => {
      entries = read
      readAt = performance.now()
      return connections.retain(read)
    })

    const usable = (command: string, name: string): Effect.Effect<McpConnection.Usable, CommandError> =>
      Effect.flatMap(look, (entries): Effect.Effect<McpConnection.Usable, CommandError> => {
        const servers = entries.map(({ server }) => server)
        const entry = entries.find(({ server }) => server.name === name && server.isFile !== true)
        if (entry === undefined) {
          const names = servers.filter((one) => one.isFile !== true && ServerName.refusal(one.name) === undefined)
          const files = servers.filter(({ isFile }) => isFile === true)
          return UnknownMcp.server(
            command,
            name,
            names.map(({ name }) => name),
            places,
            files
          )
        }
        return entry._tag === "Unusable" ? UnusableEntry.toError(entry, places) : Effect.succeed(entry)
      })

    let parts: ReadonlyArray<McpCatalog.Listed> = []
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
        // Where reading takes longer than a moment, it goes on by itself, and the next call has it.
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
            if (catalog.get(entry)?.names.has(tool) !== true) {
              // It may be new.
              const { names } = yield* list(entry, connection)
              if (!names.has(tool)) return yield* UnknownMcp.tool(`mcp:${server}:${tool}`, { server, tool }, [...names])
            }
            return yield* connection.call(tool, args, options)
          })
        )
      })
    }
  })
)

/**
 * The same layer, with its settings from the environment. Fails where a variable has an invalid value.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv: Layer.Layer<McpClient, ConfigError, McpConfig> = Layer.provide(
  layer,
  McpSettings.layerFromEnv
)
