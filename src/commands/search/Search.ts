/** `command:search <word>...`: finds commands of Synapse, MCP servers and skills by name and description. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler, Described, Handler } from "../../command/CommandHandler.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as Parameter from "../../command/Parameter.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as UntrustedText from "../../domain/UntrustedText.js"

export type Entry = Pick<Described, "name" | "summary">

/** The number of characters searched in a summary. */
const longest = 1000

/** The prefixes of Synapse's own commands. */
const own = new Set(["command", "job", "task"])

/** Tests whether a command's summary is untrusted, because a server or a skill wrote it. */
const isForeign = (name: string): boolean => {
  const [prefix = "", rest] = name.split(":")
  if (rest === undefined || own.has(prefix)) return false
  return prefix === "skill" ? name.includes(" ") : !name.endsWith("*")
}

/** Words that tell nothing about a command. They stand in the descriptions of other commands. */
const idle = /^(?:an?|and|for|from|how|i|in|my|of|on|or|the|to|with)$/

export const wordsOf = (patterns: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = [...new Set(patterns.flatMap((pattern) => pattern.toLowerCase().split(/\s+/)))].filter(
    (word) => word !== ""
  )
  const telling = words.filter((word) => !idle.test(word))
  return telling.length > 0 ? telling : words
}

/** Makes a function that rates a word: 0 is the whole name, 1 a word of it, 2 a part of it, 3 in the summary. */
const distanceFrom = ({ name, summary }: Entry) => {
  const full = name.toLowerCase()
  // For `mcp:gh:createIssue`: `mcp`, `gh`, `create` and `issue`.
  const parts = name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase()
  const named = new Set(parts.match(/[\p{L}\p{M}\p{N}]+/gu))
  const text = summary.slice(0, longest).toLowerCase()
  return (word: string): number | undefined => {
    if (full === word) return 0
    if (named.has(word)) return 1
    if (full.includes(word)) return 2
    return text.includes(word) ? 3 : undefined
  }
}

interface Ranked {
  readonly entries: ReadonlyArray<Entry>
  /** True if no command fits all words, and these fit the most of them. */
  readonly isPartial: boolean
}

/** Ranks commands by the number of words that fit, then by how well, then by name. Without words, all fit. */
export const rank = (entries: ReadonlyArray<Entry>, words: ReadonlyArray<string>): Ranked => {
  const scored = entries.flatMap((entry) => {
    const distance = distanceFrom(entry)
    const found = words.flatMap((word) => distance(word) ?? [])
    const score = found.reduce((sum, one) => sum + one, 0)
    return found.length > 0 || words.length === 0 ? [{ entry, missed: words.length - found.length, score }] : []
  })
  const least = scored.reduce((least, { missed }) => Math.min(least, missed), words.length)
  const best = scored
    .filter(({ missed }) => missed === least)
    .sort((a, b) => a.score - b.score || (a.entry.name < b.entry.name ? -1 : 1))
  return { entries: best.map(({ entry }) => entry), isPartial: least > 0 }
}

const help = `
ARGUMENTS
  <word>        What to look for in names and descriptions, in letters of any case. All words must fit. Without any,
                all commands are listed.

OPTIONS
  --limit N     The most lines; 20 by default.

EXAMPLES
  command:search create issue
  command:search mcp gh

OUTPUT
  A line for each command, the best first: its name, and what it does. What stands in quotes are the words of
  a server or a skill. <name> --help shows how a command is used; skill:load <name> prints a skill's instructions.

EXIT CODE
  0 where something was found, 1 where nothing was.
`

export const grammar = CommandGrammar.described({
  name: "command:search",
  summary: "Finds commands by name and description: those of this shell, of MCP servers and of skills.",
  usage: "command:search [<word>...] [--limit N]",
  more: help,
  config: {
    patterns: Parameter.repeated(Parameter.operand("word")),
    limit: Parameter.count("limit", 1).pipe(Parameter.withDefault(20))
  }
})

/** How long to wait for servers and skills, in milliseconds. */
const patience = 30_000

/** The most characters of a summary, and of a note about a server that could not be asked. */
const longestSummary = 120
const longestNote = 300

const mostNotes = 20

export const make: Effect.Effect<CommandHandler, never, CommandRegistry> = Effect.map(CommandRegistry, (registry) =>
  CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ limit, patterns }) {
      const words = wordsOf(patterns)
      const wanted = registry.listed()
      const notes = yield* look(wanted)
      const known = wanted.flatMap((handler) => handler.known?.() ?? [])
      const named = new Set(known.map(({ name }) => name))
      // A prefix's entry is left out if its `list` command is known.
      const registered = wanted.filter(({ name }) => !named.has(name) && !named.has(name.replace(/\*$/, "list")))
      const { entries, isPartial } = rank([...registered, ...known], words)
      const left = entries.length - limit
      return entries.length === 0
        ? CommandResult.make({ exitCode: ExitCode.failure, stderr: [...notes, nothing(words), ""].join("\n") })
        : CommandResult.make({
            stdout: [
              ...entries.slice(0, limit).map(line),
              ...(left > 0 ? [`… ${left} more: --limit ${entries.length}, or more words`] : []),
              ""
            ].join("\n"),
            stderr: [...notes, ...(isPartial ? [partial] : [])].map((note) => `${note}\n`).join("")
          })
    })
  )
)

/** Runs each handler's `look` at the same time, and returns the notes to show. */
const look = (handlers: ReadonlyArray<Handler>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(
    Effect.forEach(
      handlers,
      ({ look, name }) =>
        look === undefined
          ? Effect.succeed([])
          : look.pipe(
              Effect.timeoutOption(patience),
              Effect.map(
                Option.getOrElse(() => [`${name}: no answer within ${patience} ms; what is known was searched`])
              ),
              Effect.catchAllDefect(() => Effect.succeed([`${name}: could not be asked; what is known was searched`]))
            ),
      { concurrency: "unbounded" }
    ),
    (notes) => {
      const all = notes.flat().map((note) => UntrustedText.line(note, longestNote))
      const left = all.length - mostNotes
      return left > 0 ? [...all.slice(0, mostNotes), `… ${left} more like these`] : all
    }
  )

const line = ({ name, summary }: Entry): string => {
  const text = isForeign(name)
    ? UntrustedText.quoted(summary, longestSummary)
    : UntrustedText.line(summary, longestSummary)
  return `${UntrustedText.line(name, 255)}${text === "" || text === '""' ? "" : ` - ${text}`}`
}

const partial = "No command fits all of the words: those listed fit some of them."

const nothing = (words: ReadonlyArray<string>): string =>
  `No command fits ${UntrustedText.quoted(words.join(" "), longestSummary)}. Try fewer or other words; command:search alone lists the commands.`
