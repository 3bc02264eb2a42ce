/** Tells a prompt of `synapse agent` from its subcommands: a prompt is one argument, and no subcommand's name. */
import * as Effect from "effect/Effect"
import * as ForeignText from "../domain/ForeignText.js"
import * as Similar from "../domain/Similar.js"
import { WrongUsage } from "./Invocation.js"
import * as Subcommands from "./Subcommands.js"

/** The subcommands, each with the words that follow it. */
const subcommands: Readonly<Record<string, ReadonlyArray<string>>> = { list: [], show: ["id"], remove: ["id"] }

/** The words that other programs have for what is asked for here. */
const synonyms: Readonly<Record<string, string>> = {
  ls: "list",
  lst: "list",
  sessions: "list",
  history: "list",
  get: "show <id>",
  info: "show <id>",
  view: "show <id>",
  rm: "remove <id>",
  delete: "remove <id>",
  resume: "--resume <id>",
  continue: "--continue",
  help: "--help",
  run: "'<prompt>'",
  exec: "'<prompt>'"
}

/**
 * Tests whether words ask for a subcommand of `synapse agent`.
 *
 * @param args the words after the program's name
 */
export const isSubcommand = ([name, subcommand]: ReadonlyArray<string>): boolean =>
  name === "agent" && subcommand !== undefined && Object.hasOwn(subcommands, subcommand)

const quoted = (words: ReadonlyArray<string>): string => Subcommands.inQuotes("agent", words)

/**
 * Returns what is wrong with a subcommand that more words follow than it takes: they are a prompt that was not quoted.
 */
export const refusal = (args: ReadonlyArray<string>): string | undefined => {
  if (args[0] === "mcp" && args[1] === "add" && args.some((word) => /^(?:--transport(?:=|$)|-t$)/.test(word)))
    return "There is no --transport: give an address with --url <address>, or a command after --."
  if (!isSubcommand(args)) return undefined
  const [, subcommand = "", ...others] = args
  const words = others.filter((word) => !word.startsWith("-"))
  const taken = subcommands[subcommand] ?? []
  if (words.length <= taken.length) return undefined
  const what = taken.length === 0 ? "no words" : "one id"
  return `agent ${subcommand} takes ${what}. A prompt is one argument: ${quoted([subcommand, ...others])}`
}

/** Returns the prompt among the words that are left of the arguments; empty where there is none. */
export const promptOf = (
  words: ReadonlyArray<string>,
  args: ReadonlyArray<string>
): Effect.Effect<string, WrongUsage> => {
  const [first = ""] = words
  const isPlain = !args.includes("--")
  if (isPlain && first.startsWith("-")) {
    return new WrongUsage({
      message: `Unknown option, or option without its value: ${ForeignText.word(first)}. A prompt that begins with a dash is given after --.`
    })
  }
  const meant = isPlain ? meantBy(first) : undefined
  if (meant !== undefined && words.length <= 2) {
    return new WrongUsage({
      message: `There is no agent ${ForeignText.word(first)}: it is synapse agent ${meant}. As a prompt: ${quoted(words)}`
    })
  }
  if (words.length > 1) {
    return new WrongUsage({ message: Subcommands.notOne("prompt", "agent", words) })
  }
  return words.length === 1 && first.trim() === ""
    ? new WrongUsage({ message: "The prompt is empty." })
    : Effect.succeed(first)
}

/** Returns what a word is meant for, where it is the name of something else than a task. */
const meantBy = (word: string): string | undefined => {
  const synonym = Object.entries(synonyms).find(([name]) => name === word.toLowerCase())?.[1]
  if (synonym !== undefined) return synonym
  const near = Similar.nearest(word, [...Object.keys(subcommands), "resume", "continue"])
  if (near === undefined) return undefined
  const ids = subcommands[near]?.map((name) => ` <${name}>`).join("")
  return ids === undefined ? synonyms[near] : `${near}${ids}`
}
