/**
 * Reads the program's words where nothing about them is unusual, without `@effect/cli`: to load that, and to read words by it,
 * takes longer than all else that a start does. Whatever is not surely meant like this (help, wrong usage, other
 * subcommands) is left to `Cli`, which reads the same words to the same effect.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as CommandGrammar from "../command/CommandGrammar.js"
import * as Parameter from "../command/Parameter.js"
import * as Timeout from "../domain/Timeout.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Asking from "./Asking.js"
import * as CallAction from "./CallAction.js"
import * as ExecAction from "./ExecAction.js"
import * as FileAction from "./FileAction.js"
import type { House, Invocation, WrongUsage } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import type { Stdio } from "./Stdio.js"

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

/** Loads what only a terminal needs. */
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
 * @since 0.1.0
 */
export const find = ([name, ...words]: ReadonlyArray<string>):
  | Effect.Effect<void, ConfigError | WrongUsage, House | Invocation | Stdio>
  | undefined => {
  if (FileAction.isOne(name)) return FileAction.run
  if (name === "exec" && isPlain(words, true)) {
    const given = Either.getOrUndefined(execGrammar.parse(words))
    if (given === undefined || !isUsual(given) || given.command.trim() === "") return undefined
    return checked(given, ExecAction.exec(given.command, given.json, given))
  }
  if (name === "call" && isPlain(words, false)) {
    const given = Either.getOrUndefined(callGrammar.parse(words))
    return given === undefined || !isUsual(given) ? undefined : checked(given, CallAction.call(given))
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
