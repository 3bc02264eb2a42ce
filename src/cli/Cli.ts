/** The `synapse` command line, as `@effect/cli` reads it. */

import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
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
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as CommandGrammar from "../command/CommandGrammar.js"
import type { Described } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import type { Form } from "../command/Parameter.js"
import * as Edit from "../commands/edit/Edit.js"
import * as Read from "../commands/read/Read.js"
import * as Write from "../commands/write/Write.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as Similar from "../domain/Similar.js"
import * as Version from "../domain/Version.js"
import type { ToolDefinition } from "../toolset/Tool.js"
import * as ToolFormat from "../toolset/ToolFormat.js"
import { Toolset } from "../toolset/Toolset.js"
import * as Agent from "./Agent.js"
import * as AgentWords from "./AgentWords.js"
import * as CallAction from "./CallAction.js"
import * as ExecAction from "./ExecAction.js"
import * as FileAction from "./FileAction.js"
import * as HelpText from "./HelpText.js"
import { House, Invocation, WrongUsage, wrongSettings } from "./Invocation.js"
import * as Mcp from "./Mcp.js"
import * as ProgramOptions from "./ProgramOptions.js"
import * as ProgramWords from "./ProgramWords.js"
import { Stdio } from "./Stdio.js"

/** Loads the module that only these subcommands need. */
const loadSandbox = Effect.promise(() => import("./SandboxActions.js"))

const json = Options.boolean("json").pipe(Options.withDescription("Print one line of JSON."))
const path = (description: string) => Args.text({ name: "path" }).pipe(Args.withDescription(description))

const policy = Command.make("policy", { json }, (given) =>
  Effect.flatMap(loadSandbox, (actions) => actions.policy(given))
).pipe(Command.withDescription("Show the policy for the current directory, and where each rule comes from."))

const explain = Command.make(
  "explain",
  {
    json,
    write: Options.boolean("write").pipe(Options.withDescription("Ask about writing, in place of reading.")),
    path: path("What it is about, whether it is there or not.")
  },
  (given) =>
    given.path.trim() === ""
      ? new WrongUsage({ message: "The path is empty." })
      : Effect.flatMap(loadSandbox, (actions) => actions.explain(given))
).pipe(Command.withDescription("Say whether a path may be read, and which rule says so; exit code 1 where it may not."))

const allow = Command.make("allow", { path: path("It and all below it; nothing around it.") }, (given) =>
  Effect.flatMap(loadSandbox, (actions) => actions.allow(given))
).pipe(Command.withDescription("Let sandboxed commands write to a path, in every session to come."))

const deny = Command.make(
  "deny",
  { path: path("A path, or a quoted pattern: '*.pem' in every directory, '~/work/**/*.key' below one.") },
  (given) => Effect.flatMap(loadSandbox, (actions) => actions.deny(given))
).pipe(Command.withDescription("Hide a path from sandboxed commands, in every session to come."))

const forget = Command.make("forget", { path: path("As it was allowed or denied.") }, (given) =>
  Effect.flatMap(loadSandbox, (actions) => actions.forget(given))
).pipe(Command.withDescription("Take back what was allowed or denied. What is built in stays."))

/** The usages of the subcommands of `synapse sandbox`. */
const usagesSandbox: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(policy),
  Command.getUsage(explain),
  Command.getUsage(allow),
  Command.getUsage(deny),
  Command.getUsage(forget)
]

/** The subcommand `sandbox`, whose subcommands show, explain and change the sandbox's policy. */
const sandbox = Command.make("sandbox", {}, () => new WrongUsage({ message: "The subcommand is missing." })).pipe(
  Command.withDescription("Show, explain and change what sandboxed commands may read and write."),
  Command.withSubcommands([policy, explain, allow, deny, forget])
)

/** Formats the tools, and the commands that they run. */
type Printer = (tools: ReadonlyArray<ToolDefinition>, commands: ReadonlyArray<Described>) => string

const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

const forPeople: Printer = (tools, commands) =>
  [
    ...tools.map(({ description, name, parameters }) =>
      [`${name}`, description, "Parameters:", toJson(parameters)].join("\n\n")
    ),
    "Commands:",
    ...commands.map(({ summary, usage }) => `  ${usage}\n      ${summary}`)
  ].join("\n")

const forPrograms: Printer = (tools, commands) => toJson({ tools, commands })

const inFormat =
  (format: ToolFormat.ToolFormat): Printer =>
  (tools) =>
    toJson(tools.map((tool) => ToolFormat.toFormat(tool, format)))

const print = (printer: Printer): Effect.Effect<void, never, CommandRegistry | Stdio | Toolset> =>
  Effect.gen(function* () {
    const toolset = yield* Toolset
    // The first command starts the sandbox, or finds that this machine can't: the descriptions say so then.
    yield* toolset.handle({ id: "tools", name: "Bash", arguments: '{"command":":"}' })
    const { tools } = toolset
    const handlers = (yield* CommandRegistry).listed()
    const stdio = yield* Stdio
    const commands = handlers.map(({ name, summary, usage }) => ({ name, usage, summary }))
    yield* Effect.promise(async () => stdio.write("stdout", `${printer(tools, commands)}\n`))
  })

/**
 * The subcommand `tools`, which prints the tools: for people, as JSON, or as the `tools` of a request to a model's API.
 */
const tools = Command.make(
  "tools",
  {
    format: Options.choice("format", ToolFormat.formats).pipe(
      Options.withDescription("As the JSON list of tools that an API takes; openai-strict is for structured outputs."),
      Options.optional
    ),
    json: Options.boolean("json").pipe(Options.withDescription("As JSON: { tools, commands }."))
  },
  ({ format, json }) => {
    const printer = Option.match(format, { onSome: inFormat, onNone: () => (json ? forPrograms : forPeople) })
    return Effect.flatMap(House, (house) => Effect.provide(print(printer), house.layer({}, {})))
  }
).pipe(Command.withDescription("Show the tool definitions for a model's tool list, and the commands."))

/** Loads the module that only these subcommands need. */
const loadSkill = Effect.promise(() => import("./SkillActions.js"))

const nameSkill = Args.text({ name: "name" }).pipe(Args.withDescription("The skill's name: that of its directory."))

const list = Command.make(
  "list",
  { json: Options.boolean("json").pipe(Options.withDescription("Print one line of JSON.")) },
  (given) => Effect.flatMap(loadSkill, (actions) => actions.list(given))
).pipe(Command.withDescription("List the skills: your own, and those of the current directory."))

const info = Command.make("info", { name: nameSkill }, (given) =>
  Effect.flatMap(loadSkill, (actions) => actions.info(given))
).pipe(Command.withDescription("Show what a skill is for, where it lies, its tools, and what is wrong with it."))

const add = Command.make(
  "add",
  {
    force: Options.boolean("force").pipe(Options.withDescription("Replace a skill of the same name.")),
    dir: Args.text({ name: "dir" }).pipe(
      Args.withDescription("A directory with a SKILL.md, or one of several such directories; they are copied.")
    )
  },
  (given) => Effect.flatMap(loadSkill, (actions) => actions.add(given))
).pipe(Command.withDescription("Copy a skill to your own, for every session to come."))

const remove = Command.make("remove", { name: nameSkill }, (given) =>
  Effect.flatMap(loadSkill, (actions) => actions.remove(given))
).pipe(Command.withDescription("Take away a skill of your own."))

/** The usages of the subcommands of `synapse skill`. */
const usagesSkill: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(list),
  Command.getUsage(info),
  Command.getUsage(add),
  Command.getUsage(remove)
]

/** The subcommand `skill`, whose subcommands list, show, add and remove skills. */
const skill = Command.make("skill", {}, () => new WrongUsage({ message: "The subcommand is missing." })).pipe(
  Command.withDescription("List, show, add and remove skills: instructions and programs for special tasks."),
  Command.withSubcommands([list, info, add, remove])
)

const command = Args.text({ name: "command" }).pipe(
  Args.withDescription("The command line, in one argument: synapse exec 'ls -la | head'"),
  Args.repeated
)

/** The one command text among the words that are left of the arguments. */
const commandOf = (words: ReadonlyArray<string>, args: ReadonlyArray<string>): Effect.Effect<string, WrongUsage> => {
  const dashed = args.includes("--") ? undefined : words.find((word) => word.startsWith("-"))
  if (dashed !== undefined && dashed === words[0]) {
    return new WrongUsage({
      message: `Unknown option, or option without its value: ${dashed}. A command that begins with a dash is given after --.`
    })
  }
  if (words.length > 1) {
    return new WrongUsage({
      message: `The command is one argument, and there are ${words.length}. Quote it: synapse exec -- '${words.join(" ").replaceAll("'", "'\\''")}'`
    })
  }
  const [text = ""] = words
  return text.trim() === "" ? new WrongUsage({ message: "The command is missing." }) : Effect.succeed(text)
}

/** Runs one command. */
export const exec = Command.make(
  "exec",
  {
    ...ProgramOptions.session,
    json: Options.boolean("json").pipe(
      Options.withDescription("Print the result as the model gets it, as one line of JSON, in place of the output.")
    ),
    command
  },
  ({ command, json, ...settings }) =>
    Effect.flatMap(Invocation, ({ args }) =>
      Effect.flatMap(Effect.zipRight(ProgramOptions.check(settings), commandOf(command, args)), (text) =>
        ExecAction.exec(text, json, settings)
      )
    )
).pipe(Command.withDescription("Run a command and pass on its output and its exit code."))

const toSubcommand = ({ config, name, summary }: CommandGrammar.CommandGrammar<unknown>) =>
  Command.make(
    name,
    Record.map(config, ({ form }) => (form.kind === "operand" ? toArgs(form) : toOptions(form))),
    () => FileAction.run
  ).pipe(Command.withDescription(summary))

const toArgs = ({ isRepeated, isRequired, name }: Form): Args.Args<unknown> => {
  const args = Args.text({ name: name.slice(1, -1) })
  return isRepeated ? Args.repeated(args) : isRequired ? args : Args.optional(args)
}

const toOptions = ({ isRepeated, isRequired, kind, name, placeholder }: Form): Options.Options<unknown> => {
  if (kind === "flag") return Options.boolean(name.slice(2))
  const option = Options.text(name.slice(2)).pipe(Options.withPseudoName(placeholder))
  return isRepeated ? Options.repeated(option) : isRequired ? option : Options.optional(option)
}

/** The subcommands `read`, `write` and `edit`, for the program's help and completions. */
const commands = [toSubcommand(Edit.grammar), toSubcommand(Read.grammar), toSubcommand(Write.grammar)] as const

/** The usage of `read`, `write` and `edit`, by their names. */
const usagesFileCommands: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = FileAction.grammars.map(
  ({ name, usage }) => [name, [usage]]
)

/** Answers tool calls, a line of JSON each, until its input ends. */
const call = Command.make(
  "call",
  {
    ...ProgramOptions.session,
    brief: Options.boolean("brief").pipe(
      Options.withDescription(
        "Leave out what output tells already: stdout, stderr, notices, and a message that says no more."
      )
    ),
    json: Options.boolean("json").pipe(Options.withDescription("Changes nothing: the results are JSON in any case."))
  },
  (given) => Effect.zipRight(ProgramOptions.check(given), CallAction.call(given))
).pipe(
  Command.withDescription(
    'Answer tool calls: one JSON per line on stdin, {"id","name","arguments"} or {"cancel":"<id>"}; one result per line on stdout.'
  )
)

/** Loads the module that only this subcommand needs. */
const loadDoctor = Effect.promise(() => import("./DoctorActions.js"))

/** The subcommand `doctor`, which checks whether the sandbox can start. */
const doctor = Command.make(
  "doctor",
  { json: Options.boolean("json").pipe(Options.withDescription("Print one line of JSON: { ok, platform, checks }.")) },
  (given) => Effect.flatMap(loadDoctor, (actions) => actions.doctor(given))
).pipe(
  Command.withDescription(
    "Check whether the sandbox can start, and say what to do about it; exit code 1 where it can't."
  )
)

/** Loads the modules that only this subcommand needs. */
const load = Effect.promise(() => import("./ShellAction.js"))

/** Reads command lines and questions at a terminal, until the person leaves. */
const shell = Command.make("shell", ProgramOptions.session, (given) =>
  Effect.zipRight(
    ProgramOptions.check(given),
    Effect.flatMap(load, (actions) => actions.shell(given))
  )
).pipe(
  Command.withDescription("Use the shell yourself, at a terminal, and ask the agent in it. /help there tells more.")
)

const rootWith = (agent: typeof Agent.agent | typeof Agent.sessions) =>
  Command.make("synapse").pipe(
    Command.withDescription("One Bash tool for AI agents: a persistent shell, safe and extensible."),
    Command.withSubcommands([exec, call, shell, agent, tools, ...commands, sandbox, Mcp.mcp, skill, doctor])
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
    ["sandbox", usagesSandbox.map((usage) => `sandbox ${toLine(usage)}`)],
    [
      "mcp",
      Mcp.usages.map(
        (usage) => `mcp ${toLine(usage).replace("<words>...", "[-- <words>...]").replace("<file>...", "[<file>...]")}`
      )
    ],
    ["skill", usagesSkill.map((usage) => `skill ${toLine(usage)}`)],
    ...usagesFileCommands,
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
    ...usagesSandbox,
    ...Mcp.usages,
    ...usagesSkill
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
