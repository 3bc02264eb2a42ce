/** The action of `synapse mcp serve`. */
import { Readable, Writable } from "node:stream"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as ExitCode from "../domain/ExitCode.js"
import type * as Permission from "../sandbox/permission/Permission.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as McpConnection from "../serve/McpConnection.js"
import * as McpHttp from "../serve/McpHttp.js"
import { Toolset } from "../toolset/Toolset.js"
import { App, print, WrongUsage, wrongSettings } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

export interface Given extends SessionOptions.Given {
  /** The port to listen on, or host and port. Undefined for standard input and output. */
  readonly http: Option.Option<string>
}

const maxBufferSize = 64 * 1024 ** 2

/** Serves one client over the standard streams, until it ends. */
const overStdio = (options: McpConnection.Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { pull, write } = yield* Stdio
      const ended = yield* Deferred.make<void>()
      const run = yield* FiberSet.makeRuntimePromise<never>()
      const scope = yield* Effect.scope
      const stdin = Readable.from(
        (async function* () {
          for (let chunk = await pull(); chunk !== undefined; chunk = await pull()) yield chunk
        })(),
        { objectMode: false }
      )
      const stdout = new Writable({
        write: (chunk, _, done) => void Promise.resolve(write("stdout", chunk)).then(() => done(), done)
      })
      const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize })
      const end = () => void run(Deferred.succeed(ended, undefined))
      stdin.on("close", end)
      const handle = serveStdio(
        () =>
          run(
            Effect.map(Effect.provideService(McpConnection.make(options), Scope.Scope, scope), ({ server }) => server)
          ),
        { transport }
      )
      yield* Deferred.await(ended)
      yield* Effect.promise(() => handle.close())
    })
  )

const tokenSetting = "SYNAPSE_MCP_TOKEN"

const addressOf = (text: string): Option.Option<Omit<McpHttp.Address, "token">> => {
  const [, bracketed, name = "127.0.0.1", digits = ""] = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(text) ?? []
  const port = digits === "" ? Number.NaN : Number(digits)
  return port <= 65_535 ? Option.some({ host: bracketed ?? name, port }) : Option.none()
}

/** Serves every client at an address, until the program ends. */
const overHttp = (text: string, options: McpConnection.Options) =>
  Effect.gen(function* () {
    const address = yield* addressOf(text).pipe(
      Effect.mapError(() => new WrongUsage({ message: `--http must be a port, or host:port, and is ${text}.` }))
    )
    const token = Option.getOrUndefined(yield* Config.option(Config.nonEmptyString(tokenSetting)))
    if (token === undefined && !McpHttp.isLoopback(address.host)) {
      return yield* new WrongUsage({
        message: `On ${address.host} others can connect: set ${tokenSetting} to the bearer token that clients send.`
      })
    }
    const port = yield* McpHttp.serve({ ...address, token }, options).pipe(
      Effect.mapError(({ message }) => new WrongUsage({ message }))
    )
    const host = address.host.includes(":") ? `[${address.host}]` : address.host
    const open = `Every user of this machine can connect: set ${tokenSetting} to ask for a bearer token.`
    yield* print("stderr", [`MCP at http://${host}:${port}/mcp`, ...(token === undefined ? [open] : [])].join("\n"))
    return yield* Effect.never
  }).pipe(Effect.scoped)

/** Serves the tool over MCP. Each client has its own session, in its own directory if it names one. */
export const serve = (given: Given): Effect.Effect<number, ConfigError | WrongUsage, App | Stdio> =>
  Effect.gen(function* () {
    yield* SessionOptions.tell(given)
    const app = yield* App
    const [session, sandbox] = SessionOptions.toSettings(given)
    const asked = (permission: Layer.Layer<Permission.Permission> | undefined) => {
      if (Option.contains(given.ask, "never")) return undefined
      return SessionOptions.isTold(given.ask) ? PermissionPrompt.layer : permission
    }
    const open: McpConnection.Options["open"] = (root, permission) =>
      app.layer(
        root === undefined || Option.isSome(given.cwd) ? session : { ...session, cwd: root },
        sandbox,
        asked(permission)
      )
    // The first command shows whether the sandbox works here, and the description mentions it. Read the description
    // before the app closes.
    const tools = yield* Effect.forkScoped(
      Effect.provide(
        Effect.flatMap(Toolset, (toolset) =>
          Effect.map(toolset.handle({ id: "tools", name: "Bash", arguments: '{"command":":"}' }), () =>
            toolset.tools.map((tool) => ({ ...tool }))
          )
        ),
        open(undefined, undefined)
      )
    )
    const options = { tools: Effect.orDie(Fiber.join(tools)), open, words: wrongSettings }
    // A wrong setting ends the server.
    const wrong = Effect.zipRight(Fiber.join(tools), Effect.never)
    yield* Effect.raceFirst(
      Option.match(given.http, {
        onNone: () => overStdio(options),
        onSome: (text) => overHttp(text, options)
      }),
      wrong
    )
    return ExitCode.success
  }).pipe(Effect.scoped)
