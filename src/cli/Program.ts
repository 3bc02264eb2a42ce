/** The `synapse` program: from its words to its exit code. */
import { isUtf8 } from "node:buffer"
import * as Fs from "node:fs"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as CommandGrammar from "../command/CommandGrammar.js"
import * as Parameter from "../command/Parameter.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Timeout from "../domain/Timeout.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Asking from "./Asking.js"
import * as ExecAction from "./ExecAction.js"
import type { MakeHouse, MakeShell, WrongUsage } from "./Invocation.js"
import { House, Invocation, wrongSettings } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { layerNode, Stdio } from "./Stdio.js"

const config = {
  cwd: Parameter.optional(Parameter.option("cwd")),
  timeout: Parameter.optional(Parameter.count("timeout", 1)),
  noSandbox: Parameter.flag("no-sandbox"),
  allow: Parameter.repeated(Parameter.option("allow")),
  deny: Parameter.repeated(Parameter.option("deny")),
  env: Parameter.repeated(Parameter.option("env")),
  allowUnixSockets: Parameter.flag("allow-unix-sockets"),
  ask: Parameter.optional(Parameter.option("ask")),
  json: Parameter.flag("json")
}
const described = { summary: "", usage: "", help: "" }
const execGrammar = CommandGrammar.make({
  ...described,
  name: "exec",
  config: { ...config, command: Parameter.operand("command") }
})
const callGrammar = CommandGrammar.make({
  ...described,
  name: "call",
  config: { ...config, brief: Parameter.flag("brief") }
})
const { json: _, ...ofSession } = config
const shellGrammar = CommandGrammar.make({ ...described, name: "shell", config: ofSession })

/** Loads what builds a policy. */
const loadIdleAllow = Effect.promise(() => import("./IdleAllow.js"))

/** Load what only these subcommands need. */
const loadFiles = Effect.promise(() => import("./FileAction.js"))
const loadCall = Effect.promise(() => import("./CallAction.js"))
const loadShell = Effect.promise(() => import("./ShellAction.js"))

const isDirectory = (path: string): boolean => {
  try {
    return Fs.statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Takes options before one command that is no option; `--` may stand between. */
const isPlain = (words: ReadonlyArray<string>, hasCommand: boolean): boolean => {
  if (!hasCommand) return isPaired(words)
  const command = words.at(-1)
  const before = words.slice(0, words.at(-2) === "--" ? -2 : -1)
  return command !== undefined && (words.at(-2) === "--" || !command.startsWith("-")) && isPaired(before)
}

/** Takes options alone: each begins with two dashes, and a value that follows one does not begin with a dash. */
const isPaired = (words: ReadonlyArray<string>): boolean =>
  words.every((word, at) => (word.startsWith("-") ? /^--[a-z]/.test(word) : words[at - 1]?.startsWith("--") === true))

const isUsual = (given: SessionOptions.Given): boolean => {
  const { allow, ask, cwd, deny, env, noSandbox, timeout } = given
  return (
    !(noSandbox && SessionOptions.onlyInSandbox(given) !== undefined) &&
    [...allow, ...deny].every((entry) => entry.trim() !== "" && !entry.startsWith("-")) &&
    env.every((name) => ShellEnvironment.refusal(name) === undefined) &&
    (Option.isNone(cwd) || (!cwd.value.startsWith("-") && isDirectory(cwd.value))) &&
    (Option.isNone(ask) || Asking.isMode(ask.value)) &&
    (Option.isNone(timeout) || timeout.value <= Timeout.longest)
  )
}

/** Runs what was asked for, unless an option of it has no effect. */
const checked = <A, E, R>(given: SessionOptions.Given, run: Effect.Effect<A, E, R>) => {
  const option = SessionOptions.onlyInSandbox(given)
  return option === undefined
    ? run
    : Effect.flatMap(loadIdleAllow, ({ check }) => Effect.zipRight(check(given, option), run))
}

/**
 * Finds what to run for words that are plainly `exec`, `call`, `shell`, `read`, `write` or `edit`; undefined for all others.
 *
 * @param args the words after the program's name
 */
export const find = ([name, ...words]: ReadonlyArray<string>):
  | Effect.Effect<void, ConfigError | WrongUsage, House | Invocation | Stdio>
  | undefined => {
  if (name === "read" || name === "write" || name === "edit") return Effect.flatMap(loadFiles, ({ run }) => run)
  if (name === "exec" && isPlain(words, true)) {
    const given = Either.getOrUndefined(execGrammar.parse(words))
    if (given === undefined || !isUsual(given) || given.command.trim() === "") return undefined
    return checked(given, ExecAction.exec(given.command, given.json, given))
  }
  if (name === "call" && isPlain(words, false)) {
    const given = Either.getOrUndefined(callGrammar.parse(words))
    return given === undefined || !isUsual(given)
      ? undefined
      : checked(
          given,
          Effect.flatMap(loadCall, ({ call }) => call(given))
        )
  }
  if (name === "shell" && isPlain(words, false)) {
    const given = Either.getOrUndefined(shellGrammar.parse(words))
    return given === undefined || !isUsual(given)
      ? undefined
      : checked(
          given,
          Effect.flatMap(loadShell, ({ shell }) => shell(given))
        )
  }
  return undefined
}

/** Loads the command line of `@effect/cli`, for words that are not plain. */
const load = Effect.promise(() => import("./Cli.js"))

/**
 * Runs the program and answers its exit code.
 *
 * @param args the words after the program's name
 */
export const run = (
  args: ReadonlyArray<string>,
  app: { readonly layer: MakeHouse; readonly shell: MakeShell }
): Effect.Effect<number> => Effect.provide(program(args), Layer.merge(layerNode, Layer.succeed(House, app)))

/** Runs the program over any streams and any house, and answers its exit code. */
export const program = (args: ReadonlyArray<string>): Effect.Effect<number, never, House | Stdio> =>
  Effect.suspend(() => {
    let exitCode: number = ExitCode.success
    const invocation = Invocation.of({
      args,
      setExitCode: (code) =>
        Effect.sync(() => {
          exitCode = code
        })
    })
    const say = (text: string) =>
      Effect.flatMap(Stdio, ({ write }) =>
        Effect.as(
          Effect.promise(async () => write("stderr", `${text}\n`)),
          ExitCode.wrongUsage
        )
      )
    const garbled = garbledWord(args)
    const plain = garbled === undefined ? find(args) : say(garbled)
    const read = Effect.flatMap(load, (cli) => cli.run(args))
    const running: Effect.Effect<number | undefined, never, House | Invocation | Stdio> =
      plain === undefined
        ? read
        : Effect.catchAll(
            Effect.map(plain, (code) => code ?? undefined),
            (error) => (error._tag === "WrongUsage" ? read : say(wrongSettings(error)))
          )
    return running.pipe(
      Effect.map((code) => code ?? exitCode),
      Effect.provideService(Invocation, invocation),
      Effect.provide(layerLogger)
    )
  })

/**
 * Says which word is not UTF-8: node has put other characters into it, and another command would run. The paths of
 * `synapse sandbox` are read again as the bytes that they were (`RawWord`).
 */
const garbledWord = (args: ReadonlyArray<string>): string | undefined => {
  if (args[0] === "sandbox") return undefined
  const place = args.findIndex((word) => word.includes("\ufffd")) + 1
  if (place === 0) return undefined
  try {
    if (isUtf8(Fs.readFileSync("/proc/self/cmdline"))) return undefined
  } catch {
    // Without /proc, it is not known.
    return undefined
  }
  return `Argument ${place} is not UTF-8, and nothing was run. Let the command write other bytes: $'\\xff'.`
}

/** stdout is for results. */
const layerLogger = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))
