/**
 * The `synapse` command line.
 *
 * @since 0.1.0
 */
import type * as CliApp from "@effect/cli/CliApp"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Usage from "@effect/cli/Usage"
import type { ValidationError } from "@effect/cli/ValidationError"
import type { ConfigError } from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ExitCode from "../domain/ExitCode.js"
import * as Version from "../domain/Version.js"
import { call } from "./Call.js"
import { doctor } from "./Doctor.js"
import { exec } from "./Exec.js"
import * as FileCommands from "./FileCommands.js"
import { House, Invocation, type MakeHouse, WrongUsage } from "./Invocation.js"
import * as ProgramWords from "./ProgramWords.js"
import * as Sandbox from "./Sandbox.js"
import { layerNode, Stdio } from "./Stdio.js"
import { tools } from "./Tools.js"

const root = Command.make("synapse").pipe(
  Command.withDescription("One Bash tool for AI agents: a persistent shell, safe and extensible."),
  Command.withSubcommands([exec, call, tools, ...FileCommands.commands, Sandbox.sandbox, doctor])
)

const app = Command.run(root, { name: "synapse", version: Version.current })

/** Turns off the correction of misspelt options: a word that looks like one may be a command. */
const layerConfig = CliConfig.layer({ autoCorrectLimit: 0, isCaseSensitive: true })

/**
 * Runs the program over the process's own streams, and returns its exit code.
 *
 * @param args the words after the program's name
 * @since 0.1.0
 */
export const run = (
  args: ReadonlyArray<string>,
  house: MakeHouse
): Effect.Effect<number, never, CliApp.CliApp.Environment> =>
  Effect.provide(program(args), Layer.merge(layerNode, Layer.succeed(House, { layer: house })))

/**
 * Runs the program over any streams and any house, and returns its exit code.
 *
 * @since 0.1.0
 */
export const program = (
  args: ReadonlyArray<string>
): Effect.Effect<number, never, CliApp.CliApp.Environment | House | Stdio> =>
  Effect.gen(function* () {
    const { isTerminal, write } = yield* Stdio
    const print = (stream: "stdout" | "stderr", text: string) =>
      Effect.promise(async () => {
        const plain = isTerminal(stream) ? text : withoutColours(text)
        await write(stream, `${plain.replaceAll(repeated, "").replaceAll(repeatable, "[$&]").trimEnd()}\n`)
      })

    let exitCode: number = ExitCode.success
    const invocation = Invocation.of({
      args,
      setExitCode: (code) =>
        Effect.sync(() => {
          exitCode = code
        })
    })
    const withoutSubcommand = args.length === 0
    const words = Either.mapLeft(
      ProgramWords.normalise(withoutSubcommand ? ["--help"] : args, options),
      (message) => new WrongUsage({ message })
    )
    const running = FileCommands.isOne(args[0])
      ? FileCommands.run
      : Effect.flatMap(words, (words) => app(["node", "synapse", ...words]))
    const ended = running.pipe(
      Effect.as(withoutSubcommand ? ExitCode.wrongUsage : undefined),
      Effect.catchAll((error) => Effect.as(print("stderr", complaint(error, args)), ExitCode.wrongUsage)),
      Effect.map((code) => code ?? exitCode),
      Effect.provideService(Invocation, invocation),
      Effect.provide(Layer.merge(layerConfig, layerLogger))
    )
    return yield* Console.consoleWith((console) =>
      Effect.withConsole(ended, {
        ...console,
        log: (...texts) => print(withoutSubcommand ? "stderr" : "stdout", texts.join(" ")),
        // @effect/cli prints the reason of wrong usage here, and fails with it as well.
        error: () => Effect.void
      })
    )
  })

/** Logs to stderr, for stdout is for results. */
const layerLogger = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))

/**
 * Matches what the help says of repeated commands: `exec` takes one command, and accepts more words only to explain
 * what is wrong with them.
 */
const repeated = /(?<=<command>)\.\.\.|\n+ *This argument may be repeated zero or more times\./g

/** Matches options that may be repeated, which @effect/cli does not show as optional. */
const repeatable = /--(?:allow path|deny pattern)(?=\.\.\.)/g

const withoutColours = (text: string): string => text.replace(/\x1b\[[0-9;]*m/g, "")

/** Writes the reason why nothing was run, and the usage. */
const complaint = (error: ValidationError | WrongUsage | ConfigError, args: ReadonlyArray<string>): string => {
  if (error._tag === "WrongUsage") return `synapse: ${error.message}\n${usage(args)}`
  // @effect/cli also fails like this for the subcommands of a subcommand, but names those of the root.
  if (error._tag === "CommandMismatch" && args[0] === "sandbox") return `synapse: Unknown subcommand.\n${usage(args)}`
  if ("error" in error) return `synapse: ${HelpDoc.toAnsiText(error.error).trim()}\n${usage(args)}`
  return [...reasons(error)].map((reason) => `synapse: ${reason}`).join("\n")
}

/** Returns the messages about all invalid settings. */
const reasons = (error: ConfigError): ReadonlySet<string> =>
  error._op === "And" || error._op === "Or"
    ? new Set([...reasons(error.left), ...reasons(error.right)])
    : new Set([error.message])

const toLine = (usage: Usage.Usage): string => HelpDoc.toAnsiText(Usage.getHelp(usage)).trim()

const usages = new Map<string, ReadonlyArray<string>>([
  ["exec", [toLine(Command.getUsage(exec))]],
  ["call", [toLine(Command.getUsage(call))]],
  ["tools", [toLine(Command.getUsage(tools))]],
  ["sandbox", Sandbox.usages.map((usage) => `sandbox ${toLine(usage)}`)],
  ...FileCommands.usages,
  ["doctor", [toLine(Command.getUsage(doctor))]]
])

const options = ProgramWords.optionsOf([
  Command.getUsage(exec),
  Command.getUsage(call),
  Command.getUsage(tools),
  Command.getUsage(doctor),
  ...Sandbox.usages
])

const usage = ([name = ""]: ReadonlyArray<string>): string => {
  const known = usages.get(name)
  const lines = (known ?? [...usages.values()].flat()).map((line) => `  synapse ${line}`)
  return ["Usage:", ...lines, `Help: synapse ${known === undefined ? "" : `${name} `}--help`].join("\n")
}
