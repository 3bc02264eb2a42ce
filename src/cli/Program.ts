/** The `synapse` program, from its words to its exit code. */
import { isUtf8 } from "node:buffer"
import * as Fs from "node:fs"
import type { FileSystem } from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as ExitCode from "../domain/ExitCode.js"
import * as Version from "../domain/Version.js"
import { App, print, succeed, WrongUsage, wrongSettings } from "./Invocation.js"
import { makeNode, Stdio } from "./Stdio.js"
import * as Subcommands from "./Subcommands.js"

/** Loaded only when needed, since each module slows the start. */
const loadHelp = Effect.promise(() => import("./Help.js"))
const loadCompletions = Effect.promise(() => import("./Completions.js"))
const loadTelemetry = Effect.promise(() => import("./Telemetry.js"))
const loadDaemon = Effect.promise(() => import("./DaemonActions.js"))

/**
 * Runs the program and returns its exit code.
 *
 * @param args the words after the program's name
 */
export const main = (args: ReadonlyArray<string>, app: Context.Tag.Service<App>): Effect.Effect<number> =>
  Effect.provide(traced(program(args)), Context.make(App, app).pipe(Context.add(Stdio, makeNode())))

/** Runs the program with telemetry if the environment names a collector. */
const traced = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.option(Config.nonEmptyString("OTEL_EXPORTER_OTLP_ENDPOINT")), (endpoint) =>
    endpoint._tag === "None"
      ? run
      : Effect.flatMap(loadTelemetry, ({ layer }) => Effect.provide(run, layer(endpoint.value)))
  )

/** Runs the program with any streams and any app, and returns its exit code. */
export const program = (args: ReadonlyArray<string>): Effect.Effect<number, never, App | Stdio> =>
  Effect.suspend(() => run(args)).pipe(
    Effect.catchAll((error) => Effect.as(tell(error, args), ExitCode.wrongUsage)),
    // Logs go to stderr, because stdout is for results.
    Effect.locally(FiberRef.currentLoggers, HashSet.make(Logger.withConsoleError(Logger.stringLogger))),
    Effect.provide(NodeFileSystem.layer)
  )

/** Explains why nothing was run. */
const tell = (error: ConfigError | WrongUsage, args: ReadonlyArray<string>): Effect.Effect<void, never, Stdio> =>
  error._tag === "WrongUsage" && error.hasForm !== true
    ? Effect.flatMap(loadHelp, ({ usage }) => print("stderr", `synapse: ${error.message}\n${usage(args)}`))
    : print("stderr", error._tag === "WrongUsage" ? `synapse: ${error.message}` : wrongSettings(error))

/** Prints a complete explanation of why nothing was run. */
const refuse = (text: string) => Effect.as(print("stderr", text), ExitCode.wrongUsage)

const run = (
  args: ReadonlyArray<string>
): Effect.Effect<number, ConfigError | WrongUsage, FileSystem | App | Stdio> => {
  const [name = ""] = args
  const garbled = garbledWord(args)
  if (garbled !== undefined) return refuse(garbled)
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
  const asksForHelp = name !== "--complete" && own.some((word) => word === "--help" || word === "-h")
  if (asksForHelp) return Effect.flatMap(loadHelp, ({ help }) => succeed(help(args)))
  if (name === "--version") return succeed(Version.current)
  if (/^--completions(=|$)/.test(name)) return Effect.flatMap(loadCompletions, ({ run }) => run(args))
  if (name === "--complete") return Effect.flatMap(loadCompletions, ({ complete }) => complete(args.slice(1)))
  if (name === "--daemon") return Effect.flatMap(loadDaemon, ({ run }) => run(args[1] ?? "", args[2] ?? ""))
  const subcommand = Subcommands.find(args)
  if (subcommand === undefined) {
    return Effect.flatMap(loadHelp, ({ help, unknown }) =>
      refuse(args.length === 0 ? help([]) : `synapse: ${unknown(args)}`)
    )
  }
  const words = args.slice(subcommand.name.split(" ").length)
  return Either.getOrElse(subcommand.read(words), (message) => new WrongUsage({ message }))
}

/**
 * Explains which word is not UTF-8. Node has replaced its bytes, so another command would run. `synapse sandbox` reads
 * its paths as bytes instead.
 */
const garbledWord = (args: ReadonlyArray<string>): string | undefined => {
  if (args[0] === "sandbox") return undefined
  const place = args.findIndex((word) => word.includes("\ufffd")) + 1
  if (place === 0) return undefined
  try {
    if (isUtf8(Fs.readFileSync("/proc/self/cmdline"))) return undefined
  } catch {
    // Without /proc, the original bytes are unknown.
    return undefined
  }
  return `Argument ${place} is not UTF-8, and nothing was run. Let the command write other bytes: $'\\xff'.`
}
