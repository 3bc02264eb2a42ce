/** The help and the usage of the program, from its table of subcommands. */
import type * as Parameter from "../command/Parameter.js"
import * as Similar from "../domain/Similar.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as Version from "../domain/Version.js"
import * as Columns from "../terminal/Columns.js"
import * as Subcommands from "./Subcommands.js"

const columns = 80

const formsOf = ({ config }: Subcommands.Subcommand): ReadonlyArray<Parameter.Form> =>
  Object.values(config).map(({ form }) => form)

/** Formats a parameter: `--cwd directory`, `<path>`. */
const formText = ({ aliases, kind, name, placeholder }: Parameter.Form): string => {
  if (kind === "operand") return placeholder === "text" ? name : placeholder
  return `${[...aliases, name].join(", ")}${kind === "option" ? ` ${placeholder}` : ""}`
}

const inUsage = (form: Parameter.Form): string =>
  form.kind === "operand" ? formText(form) : `[${formText(form)}]${form.isRepeated ? "..." : ""}`

const usageOf = (one: Subcommands.Subcommand): string => [one.name, ...formsOf(one).map(inUsage)].join(" ")

const within = (group: string): ReadonlyArray<Subcommands.Subcommand> =>
  Subcommands.all.filter(({ name }) => name === group || name.startsWith(`${group} `))

/** Returns the usage without the names of the options. */
const shortUsageOf = (one: Subcommands.Subcommand): string => {
  const forms = formsOf(one)
  const operands = forms.filter(({ kind }) => kind === "operand").map(inUsage)
  return [one.name, ...(operands.length < forms.length ? ["[options]"] : []), ...operands].join(" ")
}

/** Returns the usage of the subcommand or group that the words name, or of the whole program. */
export const usage = (words: ReadonlyArray<string>): string => {
  const [name = ""] = words
  const one = Subcommands.find(words)
  const shown = one === undefined ? within(name) : one.name === "agent" ? within(name) : [one]
  const help = one?.name ?? name
  return ["Usage:", ...shown.map((each) => `  synapse ${shortUsageOf(each)}`), `Help: synapse ${help} --help`].join(
    "\n"
  )
}

const indent = (text: string, by: number): string => Columns.wrap(text, columns - by).replaceAll(/^/gm, " ".repeat(by))

const listOf = (entries: ReadonlyArray<readonly [name: string, text: string]>): ReadonlyArray<string> => {
  const width = Math.max(...entries.map(([name]) => name.length)) + 2
  return entries.map(([name, text]) => `  ${name.padEnd(width)}${indent(text, width + 2).trimStart()}`)
}

const commands = (shown: ReadonlyArray<Subcommands.Subcommand>): ReadonlyArray<string> => [
  "COMMANDS",
  ...listOf(shown.map(({ name, summary }) => [name, summary])),
  "",
  "synapse <command> --help tells what a command takes."
]

const ofProgram = [
  ["--completions bash | zsh | fish | sh", "Print completions; sh starts no program."],
  ["--version", "Show the version."],
  ["-h, --help", "Show the help."]
] as const

const root = (): ReadonlyArray<string> => [
  `synapse ${Version.current}`,
  "",
  "USAGE",
  "  synapse <command> [<words>...]",
  "",
  "DESCRIPTION",
  "  One Bash tool for AI agents: a persistent shell, safe and extensible.",
  "",
  "OPTIONS",
  ...ofProgram.flatMap(([name, text]) => [`  ${name}`, `      ${text}`]),
  "",
  ...commands(Subcommands.all)
]

/** Returns the help of the subcommand or group that the words name, or of the program. */
export const help = (words: ReadonlyArray<string>): string => {
  const [name = ""] = words
  const one = Subcommands.find(words)
  const about = Subcommands.groups[name]
  return (one !== undefined ? helpOf(one) : about !== undefined ? groupHelp(name, about) : root()).join("\n")
}

const groupHelp = (name: string, about: string): ReadonlyArray<string> => [
  "USAGE",
  `  synapse ${name} <subcommand> [<words>...]`,
  "",
  "DESCRIPTION",
  indent(about, 2),
  "",
  ...commands(within(name))
]

const helpOf = (one: Subcommands.Subcommand): ReadonlyArray<string> => {
  const forms = formsOf(one)
  const section = (title: string, kept: ReadonlyArray<Parameter.Form>) =>
    kept.length === 0
      ? []
      : ["", title, ...kept.flatMap((form) => [`  ${formText(form)}`, indent(form.description ?? "", 6)])]
  const help: Parameter.Form = {
    kind: "flag",
    name: "--help",
    aliases: ["-h"],
    placeholder: "",
    isRequired: false,
    isRepeated: false,
    description: "Show the help."
  }
  return [
    "USAGE",
    indent(`synapse ${usageOf(one)}`, 2),
    "",
    "DESCRIPTION",
    indent(one.summary, 2),
    ...section(
      "ARGUMENTS",
      forms.filter(({ kind }) => kind === "operand")
    ),
    ...section("OPTIONS", [...forms.filter(({ kind }) => kind !== "operand"), help])
  ]
}

/** Explains what is wrong with words that name no subcommand. */
export const unknown = ([word = "", subcommand]: ReadonlyArray<string>): string => {
  if (Subcommands.groups[word] === undefined) return unknownWord(word)
  if (subcommand === undefined) return `The subcommand is missing.\n${usage([word])}`
  const names = within(word).map(({ name }) => name.slice(word.length + 1))
  const near = Similar.nearest(subcommand, names)
  const said = `Unknown subcommand: ${UntrustedText.word(subcommand)}.`
  return near === undefined ? `${said}\n${usage([word])}` : `${said} Did you mean ${near}?\n${usage([word, near])}`
}

const unknownWord = (word: string): string => {
  const name = JSON.stringify(word.slice(0, 100))
  if (word.startsWith("-")) return `There is no option ${name} before the command.\nHelp: synapse --help`
  const near = Similar.nearest(word, [...new Set(Subcommands.all.map((one) => one.name.replace(/ .*/, "")))])
  return `There is no command ${name}${near === undefined ? "." : `: did you mean synapse ${near}?`}\nHelp: synapse --help`
}
