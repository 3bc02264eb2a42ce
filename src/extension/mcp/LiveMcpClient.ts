/** Talks to the MCP servers of the configuration, by the official client. */

import * as Crypto from "node:crypto"
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
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import { Blocked, type CommandError, type CommandNotFound, ExecutionFailed } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Directories from "../../files/Directories.js"
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

/** The connections of all servers. */
interface McpConnections {
  /**
   * Uses the connection of an entry. Where the server turns out to be gone before it was reached, it is connected to anew,
   * once.
   */
  readonly use: <A, E>(
    entry: Usable,
    use: (connection: McpConnection.McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
  ) => Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
  /** Closes the connections whose entries are not among these any more, or not as they were. */
  readonly retain: (entries: ReadonlyArray<McpEntry>) => Effect.Effect<void>
}

interface Slot {
  readonly fingerprint: string
  readonly opened: Deferred.Deferred<McpConnection.McpConnection, ExecutionFailed>
  /** The callers that wait for it; where the last one is interrupted, opening it is too. */
  waiting: number
  connection?: McpConnection.McpConnection
  /** Opens the connection and holds it; interruption closes it. */
  fiber?: Fiber.RuntimeFiber<void, ExecutionFailed>
}

/** Makes connections with `open`, and closes all of them with the scope. */
export const makeMcpConnections = (
  open: (entry: Usable) => Effect.Effect<McpConnection.McpConnection, ExecutionFailed, Scope.Scope>
): Effect.Effect<McpConnections, never, Scope.Scope> =>
  Effect.gen(function* () {
    // A server can take a second to end: they end at the same time.
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const slots = new Map<string, Slot>()

    const forget = (name: string, slot: Slot) => {
      if (slots.get(name) === slot) slots.delete(name)
    }

    const hold = (entry: Usable, slot: Slot) =>
      Effect.flatMap(open(entry), (connection) => {
        slot.connection = connection
        return Effect.zipRight(Deferred.succeed(slot.opened, connection), Effect.never)
      }).pipe(
        Effect.scoped,
        Effect.onExit((exit) => {
          forget(entry.server.name, slot)
          return Exit.isInterrupted(exit)
            ? Deferred.fail(slot.opened, changed(entry.server.name))
            : Deferred.done(slot.opened, exit)
        }),
        Effect.interruptible
      )

    const close = (name: string, slot: Slot) =>
      Effect.suspend(() => {
        forget(name, slot)
        return slot.fiber === undefined ? Effect.void : Fiber.interrupt(slot.fiber)
      })

    const isCurrent = (slot: Slot, entry: McpEntry | undefined): boolean =>
      entry !== undefined &&
      entry._tag !== "Unusable" &&
      slot.fingerprint === entry.fingerprint &&
      slot.connection?.isOpen() !== false

    const get = (entry: Usable) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const { name } = entry.server
          const old = slots.get(name)
          const found = old !== undefined && isCurrent(old, entry) ? old : undefined
          if (found?.connection !== undefined) return found.connection
          const { fingerprint } = entry
          const slot: Slot = found ?? { fingerprint, opened: Deferred.unsafeMake(FiberId.none), waiting: 0 }
          // Nothing yields between looking for it and this: two first calls find one slot.
          slots.set(name, slot)
          slot.waiting++
          if (found === undefined) {
            if (old !== undefined) yield* Effect.forkIn(close(name, old), scope)
            slot.fiber = yield* Effect.forkIn(hold(entry, slot), scope)
          }
          return yield* restore(Deferred.await(slot.opened)).pipe(
            Effect.ensuring(
              Effect.suspend(() => {
                slot.waiting--
                return slot.waiting === 0 && slot.connection === undefined ? close(name, slot) : Effect.void
              })
            )
          )
        })
      )

    return {
      use: <A, E>(
        entry: Usable,
        use: (connection: McpConnection.McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
      ): Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed> => {
        const once = Effect.flatMap(get(entry), use)
        const isGone = (error: E | ExecutionFailed | Gone): error is Gone =>
          typeof error === "object" && error !== null && "_tag" in error && error._tag === "Gone"
        return once.pipe(
          Effect.catchIf(isGone, () => once),
          Effect.catchIf(
            isGone,
            ({ cause }) =>
              new ExecutionFailed({
                kind: "io",
                reason: `The MCP server ${entry.server.name} ends as soon as it is asked, and was tried twice.`,
                cause
              })
          )
        ) as Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
      },
      retain: (entries) =>
        Effect.suspend(() => {
          const byName = new Map(entries.map((entry) => [entry.server.name, entry]))
          const stale = [...slots].filter(([name, slot]) => !isCurrent(slot, byName.get(name)))
          return Effect.forEach(stale, ([name, slot]) => Effect.forkIn(close(name, slot), scope), { discard: true })
        })
    }
  })

const changed = (server: string) =>
  new ExecutionFailed({
    kind: "io",
    reason: `The entry of the MCP server ${server} has changed while it was being started: nothing was called.`
  })

/** The tools of a server, as one version of it has listed them. */
interface Listed {
  readonly version: string
  readonly tools: ReadonlyArray<McpTool>
  readonly names: ReadonlySet<string>
}

/** Keeps what the servers of entries have listed. */
export interface McpCatalog {
  /** Returns what is kept. A file is read once, and ignored where it is not one of ours. */
  readonly get: (entry: McpEntry) => Listed | undefined
  /** Keeps a list. Where it can't be written, it is kept in memory. */
  readonly put: (entry: McpEntry, version: string, tools: ReadonlyArray<McpTool>) => Effect.Effect<Listed>
  /** Forgets a list, until there is another. */
  readonly drop: (entry: McpEntry) => void
}

const format = 1
const largest = 32 * 1024 ** 2
/** The most files; those of entries that are long gone make room. */
const mostFiles = 200

/** Makes a catalog whose files lie in a directory, which need not be there. */
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
        const listed = listedOf(version, tools)
        kept.set(key, listed)
        return Effect.as(Effect.ignore(Effect.tryPromise(() => write(directory, fileOf(key), version, tools))), listed)
      }),
    drop: (entry) => {
      kept.set(keyOf(entry), undefined)
    }
  }
}

const keyOf = ({ fingerprint, server }: McpEntry): string => JSON.stringify([server.name, fingerprint])

const fileOf = (key: string): string => `${OwnFile.hash(key).slice(0, 32)}.json`

const listedOf = (version: string, tools: ReadonlyArray<McpTool>): Listed => ({
  version,
  tools,
  names: new Set(tools.map(({ name }) => name))
})

const read = (file: string, server: string): Listed | undefined => {
  try {
    const content = OwnFile.read(file, { most: largest })
    if (content._tag !== "Content") return undefined
    const kept: unknown = JSON.parse(new TextDecoder().decode(content.bytes))
    if (typeof kept !== "object" || kept === null || !("format" in kept) || kept.format !== format) return undefined
    if (!("version" in kept) || typeof kept.version !== "string") return undefined
    return listedOf(kept.version, ToolList.page(server, kept).tools)
  } catch {
    return undefined
  }
}

/** Writes a file beside it, and renames it: a reader finds the old list or the new one. */
const write = async (
  directory: string,
  name: string,
  version: string,
  tools: ReadonlyArray<McpTool>
): Promise<void> => {
  const text = JSON.stringify({ format, version, tools })
  if (text.length > largest / 2) return
  Directories.make(directory)
  const draft = path.join(directory, `.${name}.${Crypto.randomBytes(6).toString("hex")}`)
  try {
    await fs.promises.writeFile(draft, text, { flag: "wx", mode: 0o600 })
    await fs.promises.rename(draft, path.join(directory, name))
  } finally {
    await fs.promises.rm(draft, { force: true })
  }
  await prune(directory)
}

const prune = async (directory: string): Promise<void> => {
  const names = await fs.promises.readdir(directory)
  if (names.length <= mostFiles) return
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name)
      return { file, time: (await fs.promises.lstat(file)).mtimeMs }
    })
  )
  const old = files.sort((a, b) => a.time - b.time).slice(0, files.length - mostFiles)
  await Promise.all(old.map(({ file }) => fs.promises.rm(file, { force: true })))
}

/**
 * Makes the error for a server that is not configured.
 *
 * @param files those that can't be read, for it may stand in one of them
 */
export const unknownServer = (
  command: string,
  name: string,
  servers: ReadonlyArray<string>,
  places: McpPlaces.Places,
  files: ReadonlyArray<McpServer> = []
): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "MCP server",
    name,
    known: servers,
    toWord: (server) => UnknownCommand.withServer(command, name, server),
    none: `No MCP server is configured: the user names them in ${McpPlaces.fileOf("project", places)} or ${McpPlaces.fileOf("home", places)}.`,
    advice: (near) => [
      ...UnknownCommand.onServer(command, servers, near),
      ...(servers.length === 0 || near.length > 0
        ? []
        : [Advice.line`${Advice.run("command:search")} lists what there is.`]),
      ...files.map(({ name, problem = "" }) => Advice.line`${ForeignText.word(name, 300)} can't be used: ${problem}.`)
    ]
  })

/** Makes the error for a tool that a server does not have. */
export const unknownTool = (
  command: string,
  { server, tool }: McpName.Name,
  tools: ReadonlyArray<string>
): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "MCP tool",
    kinds: `tools of ${server}`,
    name: tool,
    known: tools,
    toWord: (name) => McpName.toWord(server, name),
    advice: tools.length === 0 ? [] : [Advice.line`${Advice.run(McpName.toWord(server))} lists its tools.`]
  })

/**
 * Makes the error for a server whose entry is broken, or which runs what is not trusted: what is wrong or
 * not trusted in which file, and what the user can do.
 */
export const toError = (entry: McpEntry & { readonly _tag: "Unusable" }, places: McpPlaces.Places): CommandError => {
  const { denial, problem, reason, server } = entry
  const file = McpPlaces.fileOf(server.source, places)
  return reason === "broken"
    ? FailureCause.failed(`The MCP server ${server.name} can't be used: ${problem}.`)
    : new Blocked({ resource: `mcp:${server.name}`, rule: denial?.file ?? file, reason: denial?.why ?? problem })
}

/** Milliseconds between two looks at the tools of a server which says that they have changed. */
const between = 1000

/** Milliseconds for which `known` takes the configuration for unchanged. */
const fresh = 1000

/**
 * A layer which talks to the servers of the configuration.
 *
 * What servers list is kept in `cache/mcp` of `$SYNAPSE_HOME`, for each entry and version of its server.
 */
export const layer: Layer.Layer<McpClient, never, McpConfig | McpSettings.McpSettings> = Layer.scoped(
  McpClient,
  Effect.gen(function* () {
    const config = yield* McpConfig
    const settings = yield* McpSettings.McpSettings
    const runtime = yield* Effect.runtime()
    const places = { home: config.home, root: config.root, temporary: config.temporary }
    const catalog = make(path.join(config.home, "cache", "mcp"))

    const list = (entry: McpEntry, connection: McpConnection.McpConnection) =>
      Effect.flatMap(connection.list, (tools) => catalog.put(entry, connection.version, tools))

    const connections = yield* makeMcpConnections((entry) =>
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
          const names = servers.filter((one) => one.isFile !== true && McpName.refusal(one.name) === undefined)
          const files = servers.filter(({ isFile }) => isFile === true)
          return unknownServer(
            command,
            name,
            names.map(({ name }) => name),
            places,
            files
          )
        }
        return entry._tag === "Unusable" ? toError(entry, places) : Effect.succeed(entry)
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
              if (!names.has(tool)) return yield* unknownTool(`mcp:${server}:${tool}`, { server, tool }, [...names])
            }
            return yield* connection.call(tool, args, options)
          })
        )
      })
    }
  })
)

/** The same layer, with its settings from the environment. Fails where a variable has an invalid value. */
export const layerFromEnv: Layer.Layer<McpClient, ConfigError, McpConfig> = Layer.provide(
  layer,
  McpSettings.layerFromEnv
)
