/**
 * The `synapse` command line, as `@effect/cli` reads it.
 *
 * @since 0.1.0
 */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Usage from "@effect/cli/Usage"
import type { ValidationError } from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import type { ConfigError } from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ExitCode from "../domain/ExitCode.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as Similar from "../domain/Similar.js"
import * as Version from "../domain/Version.js"
import * as Agent from "./Agent.js"
import * as AgentWords from "./AgentWords.js"
import { call } from "./Call.js"
import { doctor } from "./Doctor.js"
import { exec } from "./Exec.js"
import * as FileCommands from "./FileCommands.js"
import * as HelpText from "./HelpText.js"
import { type House, type Invocation, WrongUsage, wrongSettings } from "./Invocation.js"
import * as Mcp from "./Mcp.js"
import * as ProgramWords from "./ProgramWords.js"
import * as Sandbox from "./Sandbox.js"
import { shell } from "./Shell.js"
import * as Skill from "./Skill.js"
import { Stdio } from "./Stdio.js"
import { tools } from "./Tools.js"

const rootWith = (agent: typeof Agent.agent | typeof Agent.sessions) =>
  Command.make("synapse").pipe(
    Command.withDescription("One Bash tool for AI agents: a persistent shell, safe and extensible."),
    Command.withSubcommands([
      exec,
      call,
      shell,
      agent,
      tools,
      ...FileCommands.commands,
      Sandbox.sandbox,
      Mcp.mcp,
      Skill.skill,
      doctor
    ])
  )

const app = (args: ReadonlyArray<string>) =>
  Command.run(rootWith(AgentWords.isSubcommand(args) ? Agent.sessions : Agent.agent), {
    name: "synapse",
    version: Version.current
  })(["node", "synapse", ...args])

/** Words that look like an option are not taken for a misspelt one: they may be a command. */
const layerConfig = CliConfig.layer({ autoCorrectLimit: 0, isCaseSensitive: true })

/**
 * Runs what the words ask for. Returns the exit code where they are used wrongly; else an action has set it.
 *
 * @param args the words after the program's name
 * @since 0.1.0
 */
export const run = (
  args: ReadonlyArray<string>
): Effect.Effect<number | undefined, never, House | Invocation | Stdio> =>
  Effect.gen(function* () {
    const { isTerminal, write } = yield* Stdio
    const print = (stream: "stdout" | "stderr", text: string) =>
      Effect.promise(async () => {
        const plain = called(isTerminal(stream) ? text : withoutColours(text), args)
        const exact = plain.replaceAll(repeated, "").replaceAll(repeatable, "[$1]").trimEnd()
        await write(stream, `${isHelp(exact) ? HelpText.layOut(exact, !args.some(isName)) : exact}\n`)
      })
    const withoutSubcommand = args.length === 0
    const refusal = Mcp.refusal(args) ?? AgentWords.refusal(args)
    const words = Either.mapLeft(
      refusal === undefined
        ? ProgramWords.normalise(withoutSubcommand ? ["--help"] : Mcp.ownWords(args), options())
        : Either.left(refusal),
      (message) => new WrongUsage({ message })
    )
    const ended = Effect.flatMap(words, (words) => app(words)).pipe(
      Effect.as(withoutSubcommand ? ExitCode.wrongUsage : undefined),
      Effect.catchAll((error) => Effect.as(print("stderr", complaint(error, args)), ExitCode.wrongUsage)),
      Effect.provide(Layer.mergeAll(layerConfig, NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer))
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

/** `exec` takes one command, `agent` one prompt. That they take more words is for telling what is wrong with them. */
const repeated = /(?<=<(?:command|prompt)>)\.\.\.|\n+ *This argument may be repeated zero or more times\./g

/** May be left out, which @effect/cli does not show of options that may be repeated. */
const repeatable = /\(?((?:-e, )?--(?:allow path|deny pattern|env name(?:=value)?|header name:value))\)?(?=\.\.\.)/g

/** Writes the usage of a subcommand as it is called: `$ synapse shell`, where @effect/cli writes `$ shell`. */
const called = (text: string, args: ReadonlyArray<string>): string =>
  text.replace(/^\$ ([a-z]+)/m, (line, name: string) => {
    const at = args.indexOf(name)
    return at < 0 ? line : `$ synapse ${args.slice(0, at + 1).join(" ")}`
  })

const isHelp = (text: string): boolean => withoutColours(text).includes("\nUSAGE\n")

const isName = (word: string): boolean => !word.startsWith("-")

const withoutColours = (text: string): string => text.replace(/\x1b\[[0-9;]*m/g, "")

/** Why nothing was run, and how it is used. */
const complaint = (error: ValidationError | WrongUsage | ConfigError, args: ReadonlyArray<string>): string => {
  if (error._tag === "WrongUsage") return `synapse: ${error.message}\n${usage(args)}`
  // @effect/cli says this of the subcommands' subcommands as well, and names those of the root.
  if (error._tag === "CommandMismatch" && ["sandbox", "mcp", "skill"].includes(args[0] ?? ""))
    return unknownSubcommand(args)
  const unknown = unknownWord(args)
  if (error._tag === "CommandMismatch" && unknown !== undefined) return `synapse: ${unknown}\nHelp: synapse --help`
  if ("error" in error) return `synapse: ${HelpDoc.toAnsiText(error.error).trim()}\n${usage(args)}`
  return wrongSettings(error)
}

/** The names that other programs give to our subcommands. */
const synonyms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mcp: {
    distrust: "untrust",
    revoke: "untrust",
    rm: "remove",
    delete: "remove",
    ls: "list",
    get: "list",
    show: "list",
    info: "list"
  },
  skill: { rm: "remove", delete: "remove", ls: "list", show: "info", get: "info", install: "add" }
}

const unknownSubcommand = (args: ReadonlyArray<string>): string => {
  const [name = "", subcommand = ""] = args
  const meant = Object.entries(synonyms[name] ?? {}).find(([other]) => other === subcommand)?.[1]
  if (meant !== undefined) return `synapse: There is no ${subcommand}: it is called ${meant}.\n${usage([name, meant])}`
  const names = Array.from(usage([name]).matchAll(/^ +synapse [a-z]+ ([a-z]+)/gm), ([, found = ""]) => found)
  const near = Similar.nearest(subcommand, names)
  return near === undefined
    ? `synapse: Unknown subcommand: ${ForeignText.word(subcommand)}.\n${usage(args)}`
    : `synapse: Unknown subcommand: ${ForeignText.word(subcommand)}. Did you mean ${near}?\n${usage([name, near])}`
}

/** Says what the first word is taken for that is no subcommand; undefined where it is one. */
const unknownWord = ([word = ""]: ReadonlyArray<string>): string | undefined => {
  const names = [...usages().keys()]
  if (names.includes(word)) return undefined
  const name = word.slice(0, 100)
  if (name.startsWith("-")) return `There is no option ${JSON.stringify(name)} before the command.`
  const near = Similar.nearest(name, names)
  return `There is no command ${JSON.stringify(name)}${near === undefined ? "." : `: did you mean synapse ${near}?`}`
}

const toLine = (usage: Usage.Usage): string => HelpDoc.toAnsiText(Usage.getHelp(usage)).trim()

/** Made only where they are shown: to lay them out takes longer than to load them. */
const usages = () =>
  new Map<string, ReadonlyArray<string>>([
    ["exec", [toLine(Command.getUsage(exec))]],
    ["call", [toLine(Command.getUsage(call))]],
    ["shell", [toLine(Command.getUsage(shell))]],
    ["agent", Agent.usages.map((usage, at) => `${at === 0 ? "" : "agent "}${toLine(usage)}`)],
    ["tools", [toLine(Command.getUsage(tools))]],
    ["sandbox", Sandbox.usages.map((usage) => `sandbox ${toLine(usage)}`)],
    [
      "mcp",
      Mcp.usages.map(
        (usage) => `mcp ${toLine(usage).replace("<words>...", "[-- <words>...]").replace("<file>...", "[<file>...]")}`
      )
    ],
    ["skill", Skill.usages.map((usage) => `skill ${toLine(usage)}`)],
    ...FileCommands.usages,
    ["doctor", [toLine(Command.getUsage(doctor))]]
  ])

const options = () =>
  ProgramWords.optionsOf([
    Command.getUsage(exec),
    Command.getUsage(call),
    Command.getUsage(shell),
    Command.getUsage(tools),
    Command.getUsage(doctor),
    ...Agent.usages,
    ...Sandbox.usages,
    ...Mcp.usages,
    ...Skill.usages
  ])

/** Says how a subcommand is used; that of a name which is none is answered by `unknownWord`. */
const usage = ([name = "", subcommand]: ReadonlyArray<string>): string => {
  const known = usages().get(name) ?? []
  const own =
    Object.hasOwn(synonyms, name) || AgentWords.isSubcommand([name, subcommand ?? ""])
      ? known.find((line) => `${line} `.startsWith(`${name} ${subcommand} `))
      : undefined
  const help = own === undefined ? name : `${name} ${subcommand}`
  return [
    "Usage:",
    ...(own === undefined ? known : [own]).map((line) => `  synapse ${line}`),
    `Help: synapse ${help} --help`
  ].join("\n")
}
