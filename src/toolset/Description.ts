/**
 * Writes the description of the tool `Bash`, which a model reads with every request, so it is short and true of this
 * shell.
 */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Described } from "../command/CommandHandler.js"
import * as TextCut from "../domain/TextCut.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import { type Conditions, Confinement } from "../sandbox/Conditions.js"

export interface Settings {
  /**
   * True to list MCP commands and skills in the description, one line each, up to 2,000 bytes
   * (`SYNAPSE_DESCRIBE_EXTENSIONS`). Otherwise, it only tells how to find them.
   */
  readonly describeExtensions: boolean
}

const defaults: Settings = { describeExtensions: false }

/** The settings of the description, with defaults. */
export class DescriptionSettings extends Context.Reference<DescriptionSettings>()("synapse/DescriptionSettings", {
  defaultValue: () => defaults
}) {}

/**
 * A layer of the settings from the environment; `overrides` take precedence. Fails if a variable has an invalid value.
 */
export const layerFromEnv = (overrides: Partial<Settings> = {}): Layer.Layer<never, ConfigError> =>
  Layer.effect(
    DescriptionSettings,
    Effect.map(
      Config.boolean("SYNAPSE_DESCRIBE_EXTENSIONS").pipe(Config.withDefault(defaults.describeExtensions)),
      (describeExtensions) => ({ describeExtensions, ...overrides })
    )
  )

/**
 * @param handlers the commands that Synapse adds to the shell
 * @param conditions the conditions that commands run under, if known
 */
export const make = (
  handlers: ReadonlyArray<Described>,
  conditions?: Conditions,
  { describeExtensions }: Settings = defaults
): string => {
  const extensions = handlers.filter(isExtension)
  const others = handlers.filter(
    (handler) =>
      !isExtension(handler) && !handler.name.startsWith(jobs) && !(extensions.length > 0 && handler.name === search)
  )
  const commands = [
    ...others.map(line),
    ...(extensions.length === 0 ? [] : [`- ${found(extensions)}`]),
    ...(describeExtensions ? described(extensions) : [])
  ]
  return `${[
    ...shell,
    conditions?.confinement === undefined ? [] : confined(conditions.confinement),
    `A command is ended after ${conditions === undefined ? "its timeout" : `${conditions.timeout} ms, or its own timeout`}. What it leaves running, behind & or as a daemon, is a job, which its result names: job:output N prints what is new, job:wait N [--for REGEX | --port P] waits for it, job:stop N ends it, job:list shows all. job:start [--pty] <command> starts one that job:send N writes to and job:screen N shows.`,
    ...results
  ]
    .flat()
    .map((fact, at) => (at === 0 ? `${fact}\n` : `- ${fact}`))
    .join("\n")}${
    commands.length === 0
      ? ""
      : `\n\nCommands that only this shell has; they work anywhere in a line, in pipes, loops and scripts:\n${commands.join("\n")}`
  }`
}

const line = ({ summary, usage }: Described): string => `- ${usage}: ${summary}`

/** The prefix of the commands that the text about jobs names. */
const jobs = "job:"

const search = "command:search"

/** Tests whether a handler stands for many commands, which `command:search` finds. */
const isExtension = ({ known, name }: Described): boolean => known !== undefined && name.endsWith(":*")

/** The limits, in bytes, of the line about extensions and of the list of their commands. */
const mostFound = 300
const mostDescribed = 2000

const forms: Readonly<Record<string, string>> = {
  "mcp:*": "of MCP servers (mcp:<server>:<tool>)",
  "skill:*": "of skills (skill:list; skill:load <name> prints one's instructions)",
  "task:*": "of sub-agents (task:general, task:explore -d <words> -p <prompt>)"
}

/** Says which kinds of extension commands there are, and how to find them. */
const found = (extensions: ReadonlyArray<Described>): string => {
  const named: Array<string> = []
  const text = () => `More commands, ${named.join(", ")}: ${search} <words> finds them; each has --help.`
  const isLong = () => Buffer.byteLength(text()) > mostFound
  for (const { name } of extensions) {
    named.push((Object.hasOwn(forms, name) ? forms[name] : undefined) ?? UntrustedText.escape(name))
    if (!isLong()) continue
    named[named.length - 1] = "others"
    if (isLong()) named.splice(-2, 2, "others")
    break
  }
  return text()
}

/** The longest line about an extension command, in characters. */
const longestDescribed = 160

/** Lists extension commands with their authors' summaries. */
const described = (extensions: ReadonlyArray<Described>): ReadonlyArray<string> => {
  const lines = extensions.flatMap((extension) => (extension.known?.() ?? []).filter(isDescribed)).map(toLine)
  const more = (shown: number) => `- and ${lines.length - shown} more`
  let room = mostDescribed - Buffer.byteLength(more(0))
  const shown = lines.findIndex((line) => {
    room -= Buffer.byteLength(line) + 1
    return room < 0
  })
  return shown < 0 ? lines : [...lines.slice(0, shown), more(shown)]
}

const toLine = ({ name, summary }: Described): string => {
  const shown = UntrustedText.line(name, longestDescribed)
  return `- ${shown}: ${UntrustedText.quoted(summary, Math.max(longestDescribed - shown.length, 20))}`
}

/** Skips the programs of skills, since the instructions of a skill name them. */
const isDescribed = ({ name }: Described): boolean => !name.startsWith("skill:") || name.includes(" ")

const shell = [
  "Runs a command in a persistent bash and returns its stdout and stderr, in the order they came where that can be known.",
  "The shell stays: the directory, variables, functions and aliases of one command are there for the next. restart=true starts a new shell first.",
  "Commands run one at a time, in the order of the calls.",
  "No command can ask anything: there is no terminal, and stdin is empty. Give all input with the command: options such as -y, a pipe, a here-document."
]

const results = [
  "Long output is cut in the middle; a line says how much is missing and which file holds all of it.",
  "A failed command is answered with its output, its exit code, and what that means where it is known."
]

const confined = Confinement.$match({
  Open: () => "There is no sandbox: commands have all rights of the user who runs them.",
  Confined: ({ hosts, writable }) =>
    `A sandbox holds every command: it writes only ${written(writable)}, can't read secrets such as ~/.ssh or .env files, and ${reaching(hosts)}: its localhost is the sandbox's own. A denial names its rule.`,
  Impossible: ({ reason }) => `No command can run at present: ${bounded(reason)}`
})

const reaching = (hosts: ReadonlyArray<string>): string => {
  if (hosts.length === 0) return "has no network"
  const named = hosts.slice(0, mostHosts).map(UntrustedText.escape)
  return `reaches no host but ${named.join(", ")}${hosts.length > mostHosts ? ` and ${hosts.length - mostHosts} more` : ""}`
}

const mostHosts = 8
/** The most directories that are named, and the longest list of them in characters. */
const mostRoots = 6
const longestRoots = 300
const longestReason = 300

const written = (roots: ReadonlyArray<string>): string => {
  const named: Array<string> = []
  for (const root of roots) {
    const shown = UntrustedText.escape(root)
    if (named.length < mostRoots && named.join(", ").length + shown.length <= longestRoots) named.push(shown)
  }
  const left = roots.length - named.length
  if (named.length === 0)
    return left === 0 ? "nowhere" : `in ${left === 1 ? "one directory" : `${left} directories`}, with long names`
  return `under ${named.join(", ")}${left === 0 ? "" : ` and ${left} more`}`
}

const bounded = (text: string): string => {
  const shown = UntrustedText.escape(text.split("\n", 1)[0] ?? "")
  return shown.length > longestReason ? `${TextCut.startOf(shown, longestReason)}…` : shown
}
