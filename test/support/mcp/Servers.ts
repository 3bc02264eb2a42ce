/** Servers for tests, the configuration that names them, and a client of its own for each test. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpSettings from "../../../src/extension/mcp/internal/McpSettings.js"
import * as LiveMcpClient from "../../../src/extension/mcp/LiveMcpClient.js"
import { McpClient } from "../../../src/extension/mcp/McpClient.js"
import { McpConfig, McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as Temporary from "../Temporary.js"

const modules = path.resolve(import.meta.dirname, "../../../node_modules/@modelcontextprotocol")
const fixture = path.resolve(import.meta.dirname, "../../fixtures/mcp/odd.mjs")

/** A directory, a configuration that a test may change, and the client over both. */
export interface World {
  readonly directory: string
  readonly root: string
  readonly home: string
  readonly entries: Array<McpEntry>
  /** What the server of this name has noted. */
  readonly log: (name: string) => ReadonlyArray<string>
  readonly odd: (name: string, ...modes: ReadonlyArray<string>) => McpEntry
}

export const server = (name: string, target = name) => ({ name, source: "project", target }) as const

/** A server that is a program, by this Node. */
export const node = (
  { root }: World,
  name: string,
  args: ReadonlyArray<string>,
  more: Partial<McpEntry & { readonly _tag: "Stdio" }> = {}
): McpEntry =>
  McpEntry.Stdio({
    server: server(name, `node ${args.join(" ")}`),
    fingerprint: `f-${name}-${args.join(" ")}`,
    command: process.execPath,
    args,
    env: {},
    cwd: root,
    ...more
  })

/** A server from npm: `everything`, `filesystem`, `memory`, `sequential-thinking`. */
export const fromNpm = (world: World, name: string, ...args: ReadonlyArray<string>): McpEntry =>
  node(world, name, [path.join(modules, `server-${name}/dist/index.js`), ...args])

export const using = <A>(
  use: (world: World, client: McpClient["Type"]) => Effect.Effect<A, unknown, Scope.Scope>,
  settings: Partial<McpSettings.Settings> = {}
): Promise<A> =>
  within((world) => Effect.scoped(Effect.flatMap(client(world, settings), (client) => use(world, client))))

/** A world without a client. */
export const within = <A>(use: (world: World) => Effect.Effect<A, unknown>): Promise<A> =>
  Temporary.using((directory) => {
    const [root, home] = [path.join(directory, "work"), path.join(directory, "home")]
    fs.mkdirSync(root)
    fs.mkdirSync(home)
    const logOf = (name: string) => path.join(directory, `${name}.log`)
    const world: World = {
      directory,
      root,
      home,
      entries: [],
      log: (name) => (fs.existsSync(logOf(name)) ? fs.readFileSync(logOf(name), "utf8").trim().split("\n") : []),
      odd: (name, ...modes) => node(world, name, [fixture, logOf(name), ...modes])
    }
    return Effect.runPromise(use(world))
  })

/** A client of its own, until the scope closes; `delay` is what reading the configuration takes. */
export const client = (
  { root, home, entries }: World,
  settings: Partial<McpSettings.Settings> = {},
  delay: Effect.Effect<void> = Effect.void
): Effect.Effect<McpClient["Type"], never, Scope.Scope> => {
  const config = Layer.succeed(McpConfig, { root, home, entries: Effect.map(delay, () => [...entries]) })
  const live = LiveMcpClient.layer.pipe(
    Layer.provide(config),
    Layer.provide(Layer.succeed(McpSettings.McpSettings, { ...McpSettings.defaults, ...settings }))
  )
  return Effect.map(Layer.build(live), (context) => Context.get(context, McpClient))
}

/** The texts of an answer. */
export const textOf = ({ content }: { readonly content: ReadonlyArray<{ readonly [key: string]: unknown }> }): string =>
  content.map(({ text }) => String(text)).join("\n")

/** Tells whether a process is there and has not ended. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/s.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Waits until it is so. */
export const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.delay(until(isSo), 5)))
