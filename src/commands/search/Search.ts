/** `command:search <word>...`: finds commands of all kinds by their names and descriptions. */
import * as Arr from "effect/Array"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler, Described, Handler } from "../../command/CommandHandler.js"
import * as CommandName from "../../command/CommandName.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as Parameter from "../../command/Parameter.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import * as Slices from "../../domain/Slices.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as Surroundings from "../../sandbox/Surroundings.js"

/** The kind of a command. `agent`: one of Synapse's own; `extension`: one under a prefix of a user's. */
export type Kind = "agent" | "mcp" | "skill" | "extension" | "native"

/** A command that can be found. */
export interface Entry {
  readonly name: string
  readonly kind: Kind
  readonly summary: string
  /** The name in small letters. */
  readonly full: string
  /** The part of it that sets it apart: of `skill:load pdf`, which is a call with an argument, `pdf`; else all of it. */
  readonly key: string
  /**
   * The words of the name, in small letters: of `mcp:gh:createIssue` these are `mcp`, `gh`, `create` and `issue`; of
   * `skill:load pdf`, `skill` and `pdf`.
   */
  readonly words: ReadonlyArray<string>
  /** The words of the summary, in small letters, after a space each. */
  readonly text: string
}

/** The most characters of a summary that are looked through. */
const longest = 1000

export const makeEntry = (name: string, kind: Kind, summary: string): Entry => {
  const space = name.indexOf(" ")
  const own = space < 0 ? name : `${name.split(":", 1)[0]} ${name.slice(space + 1)}`
  const words = own.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase()
  const full = name.toLowerCase()
  return {
    name,
    kind,
    summary,
    full,
    key: full.slice(space + 1),
    words: words.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [],
    text: ` ${(
      summary
        .slice(0, longest)
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    ).join(" ")} `
  }
}

/** Makes the function that makes the entries of commands, once for each array. */
export const maker = (): ((commands: ReadonlyArray<Described>) => ReadonlyArray<Entry>) => {
  const made = new WeakMap<ReadonlyArray<Described>, ReadonlyArray<Entry>>()
  return (commands) => {
    const known = made.get(commands)
    if (known !== undefined) return known
    const entries = commands.map(({ name, summary }) => makeEntry(name, kindOf(name), summary))
    made.set(commands, entries)
    return entries
  }
}

/** Tests whether the summary of a command is the text of a server or a skill. */
const isForeign = ({ kind, name }: Pick<Entry, "kind" | "name">): boolean =>
  kind === "skill" ? name.includes(" ") : kind !== "agent" && kind !== "native" && !name.endsWith("*")

/** Returns the kind of a command that is not the shell's own. */
const kindOf = (name: string): Kind =>
  name.startsWith("mcp:") ? "mcp" : name.startsWith("skill:") ? "skill" : isOwn(name) ? "agent" : "extension"

const isOwn = (name: string): boolean => !name.includes(":") || /^(?:command|task):/.test(name)

export interface Ranked {
  /** The commands that fit, the best first. */
  readonly entries: ReadonlyArray<Entry>
  /** True where none fits all of the words: these fit the most of them. */
  readonly isPartial: boolean
}

/** The ranks of a word for a command: smaller is better. */
const rank = {
  exact: 0,
  prefix: 1,
  word: 2,
  wordPrefix: 3,
  inName: 4,
  described: 5,
  describedPrefix: 6,
  near: 8
} as const

/** The number of entries that are ranked between two rests. */
const stride = 200

/** The kinds in the order in which they stand where their commands fit equally well. */
const order: Readonly<Record<Kind, number>> = { agent: 0, extension: 1, mcp: 1, skill: 1, native: 2 }

/** Splits what was searched for into its words, in small letters. */
export const wordsOf = (patterns: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(patterns.flatMap((pattern) => pattern.toLowerCase().split(/\s+/)).filter((word) => word !== ""))
]

/** Returns the rank of a word for an entry; undefined where it does not fit. */
const rankOf = (word: string, { full, key, kind, text, words }: Entry): number | undefined => {
  if (key === word) return rank.exact
  if (key.startsWith(word) || full.startsWith(word)) return rank.prefix
  if (words.includes(word)) return rank.word
  if (words.some((one) => one.startsWith(word))) return rank.wordPrefix
  if (key.includes(word)) return rank.inName
  if (kind === "native") return undefined
  const at = text.indexOf(` ${word}`)
  if (at < 0) return undefined
  return text.includes(` ${word} `) ? rank.described : rank.describedPrefix
}

/** Returns the rank of a name that is nearly a word. */
const nearRankOf = (isNear: (name: string) => boolean, { key, kind, words }: Entry): number | undefined =>
  isNear(key) || (kind !== "native" && words.some(isNear)) ? rank.near : undefined

interface Scored {
  readonly entry: Entry
  /** The number of words that do not fit. */
  readonly missed: number
  readonly score: number
}

const scoreOf = (
  words: ReadonlyArray<string>,
  entry: Entry,
  near: ReadonlyArray<(name: string) => boolean>
): Scored => {
  let missed = 0
  let score = 0
  for (const [at, word] of words.entries()) {
    const isNear = near[at]
    const found = rankOf(word, entry) ?? (isNear === undefined ? undefined : nearRankOf(isNear, entry))
    if (found === undefined) missed++
    else score += found
  }
  return { entry, missed, score }
}

/** The system's programs come after all of ours, but for one of exactly this name. */
const isLate = ({ entry, score }: Scored): number => (entry.kind === "native" && score > rank.exact ? 1 : 0)

/** A skill's programs come after what loads one. */
const isPart = ({ entry: { kind, name } }: Scored): number => (kind === "skill" && /:.*:/.test(name) ? 1 : 0)

const compare = (a: Scored, b: Scored): number =>
  a.missed - b.missed ||
  isLate(a) - isLate(b) ||
  a.score - b.score ||
  order[a.entry.kind] - order[b.entry.kind] ||
  isPart(a) - isPart(b) ||
  (a.entry.name < b.entry.name ? -1 : a.entry.name > b.entry.name ? 1 : 0)

function* scored(
  entries: ReadonlyArray<Entry>,
  words: ReadonlyArray<string>,
  near: ReadonlyArray<(name: string) => boolean>
): Slices.Steps<ReadonlyArray<Scored>> {
  const fitting: Array<Scored> = []
  for (const [at, entry] of entries.entries()) {
    const one = scoreOf(words, entry, near)
    if (one.missed < words.length || words.length === 0) fitting.push(one)
    if (at % stride === stride - 1) yield
  }
  return fitting
}

/**
 * Ranks entries. A command fits where all words do: its name, the beginning of its name, a word of it, a part of it, or
 * words of its summary, in this order. Where none does, names are taken that are nearly so, and then those which the most of
 * the words fit. Without words, all fit.
 */
export function* steps(entries: ReadonlyArray<Entry>, words: ReadonlyArray<string>): Slices.Steps<Ranked> {
  let found = yield* scored(entries, words, [])
  if (!found.some(({ missed }) => missed === 0)) {
    found = yield* scored(entries, words, words.map(Similar.isNear))
  }
  const least = found.reduce((least, { missed }) => Math.min(least, missed), words.length)
  const best = found.filter(({ missed }) => missed === least).sort(compare)
  return { entries: best.map(({ entry }) => entry), isPartial: least > 0 }
}

const builtins = Array.from(CommandName.builtins, (name) => makeEntry(name, "native", "A builtin of bash."))

/**
 * Returns the entries of the names that may fit one of the words, or of all without words. Whether a name is a program's
 * is not tested (`existing`), since that takes a look at each file.
 */
const candidates = (around: Surroundings.Surroundings, words: ReadonlyArray<string>): ReadonlyArray<Entry> => {
  const names = new Set<string>()
  around.programs((name) => {
    if (!CommandName.builtins.has(name) && mayFit(name, words)) names.add(name)
    return false
  })
  return [...builtins, ...Array.from(names, (name) => makeEntry(name, "native", ""))]
}

/** A near miss has a length that is near, too. */
const mayFit = (name: string, words: ReadonlyArray<string>): boolean => {
  if (words.length === 0) return true
  const key = name.toLowerCase()
  return words.some((word) => key.includes(word) || Math.abs(key.length - word.length) <= 2)
}

/** Returns the entries without those of files that are no programs, or that the policy hides. */
const existing = (around: Surroundings.Surroundings, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const names = new Set(
    entries.filter(({ kind, name }) => kind === "native" && !CommandName.builtins.has(name)).map(({ name }) => name)
  )
  if (names.size === 0) return entries
  const found = new Set(around.programs((name) => names.has(name)))
  return entries.filter(({ name }) => !names.has(name) || found.has(name))
}

const help = `command:search - find a command by what it is called or what it does

USAGE
  command:search [<word>...] [--type TYPE] [--limit N] [--refresh]

ARGUMENTS
  <word>        What to look for in names and descriptions, in letters of any case. All words must fit. Without any,
                all commands are listed but for the system's programs, which are found by one word only.

OPTIONS
  --type TYPE   agent       Synapse's own commands.
                mcp         Tools of MCP servers.
                skill       Skills and their programs.
                extension   These two, and others of their kind.
                native      Programs of the PATH and builtins of bash, by their names.
                all         All of these: the default.
  --limit N     The most lines; 20 where it is not given.
  --refresh     Asks the MCP servers and the skills anew for what they have.

EXAMPLES
  command:search create issue
  command:search --type=mcp
  command:search zip --type=native

OUTPUT
  A line for each command, the best first: its name, its type, and what it does. What stands in quotes are the words of
  a server or a skill. <name> --help shows how a command is used; skill:load <name> prints a skill's instructions.

EXIT CODE
  0 where something was found, 1 where nothing was.
`

const types = ["all", "native", "agent", "extension", "mcp", "skill"] as const
type Type = (typeof types)[number]

export const grammar = CommandGrammar.make({
  name: "command:search",
  summary: "Finds commands by name and description: those of this shell, of MCP servers and skills, and programs.",
  usage: "command:search [<word>...] [--type TYPE] [--limit N] [--refresh]",
  help,
  config: {
    patterns: Parameter.repeated(Parameter.operand("word")),
    type: Parameter.choice("type", types).pipe(Parameter.withDefault<Type>("all")),
    limit: Parameter.count("limit", 1).pipe(Parameter.withDefault(20)),
    refresh: Parameter.flag("refresh")
  }
})

/** Milliseconds that servers and skills have to tell what they have. */
const patience = 30_000

/** The most characters of a summary, and of a note on what could not be asked. */
const longestSummary = 120
const longestNote = 300

/** The most notes of one search. */
const mostNotes = 20

export const make: Effect.Effect<CommandHandler, never, CommandRegistry | SandboxManager> = Effect.gen(function* () {
  const registry = yield* CommandRegistry
  const sandbox = yield* SandboxManager
  const entriesOf = maker()
  const unsaid = sayOnce()

  return CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ limit, patterns, refresh, type }) {
      const words = wordsOf(patterns)
      const wanted = registry.listed().filter(({ name }) => isKind(kindOf(name), type))
      const notes = unsaid(yield* look(wanted, refresh), refresh)
      // Programs have no descriptions, and hardly one has a name that several words fit.
      const isNative = type === "native" || (type === "all" && words.length === 1)
      const around = isNative ? yield* seen(sandbox) : undefined
      const known = wanted.flatMap((handler) => entriesOf(handler.known?.() ?? []))
      const named = new Set(known.map(({ name }) => name))
      // What lists the commands of a prefix stands for it.
      const registered = entriesOf(registry.listed()).filter(
        ({ kind, name }) => isKind(kind, type) && !named.has(name) && !named.has(name.replace(/\*$/, "list"))
      )
      const own = [...registered, ...known]
      const native = around === undefined ? [] : candidates(around, words)
      // A command of ours stands before the program of its name.
      const entries = [...own, ...(type === "native" ? native : native.filter(({ name }) => !registry.find(name)))]
      const ranked = yield* Slices.run(() => steps(entries, words))
      const first = ranked.entries.slice(0, limit)
      const shown = around === undefined ? first : existing(around, first)
      // What was no program is not counted.
      const left = ranked.entries.length - first.length
      return shown.length === 0
        ? CommandResult.make({ exitCode: ExitCode.failure, stderr: [...notes, nothing(words, type), ""].join("\n") })
        : CommandResult.make({
            stdout: [...shown.map(line), ...(left === 0 ? [] : [more(left, ranked.entries.length)]), ""].join("\n"),
            stderr: [...notes, ...(ranked.isPartial ? [partial] : [])].map((note) => `${note}\n`).join("")
          })
    })
  )
})

const isKind = (kind: Kind, type: Type): boolean =>
  type === "all" || type === kind || (type === "extension" && (kind === "mcp" || kind === "skill"))

/** Lets the handlers complete what they know, all at the same time; returns what to say of it. */
const look = (handlers: ReadonlyArray<Handler>, refresh: boolean): Effect.Effect<ReadonlyArray<string>> => {
  const looks = handlers.flatMap(({ look, name }) => (look === undefined ? [] : [{ look, name }]))
  if (looks.length === 0) return Effect.succeed([])
  return Effect.map(
    Effect.forEach(
      looks,
      ({ look, name }) =>
        Effect.suspend(() => look({ refresh })).pipe(
          Effect.timeoutOption(patience),
          Effect.map(Option.getOrElse(() => [`${name}: no answer within ${patience} ms; what is known was searched`])),
          Effect.catchAllDefect(() => Effect.succeed([`${name}: could not be asked; what is known was searched`]))
        ),
      { concurrency: "unbounded" }
    ),
    (notes) => notes.flat().map((note) => ForeignText.line(note, longestNote))
  )
}

/** Makes the function that leaves out of notes those that were said before, and says how many they are. */
const sayOnce = (): ((notes: ReadonlyArray<string>, again: boolean) => ReadonlyArray<string>) => {
  const said = new Set<string>()
  return (notes, again) => {
    const fresh = again ? notes : notes.filter((note) => !said.has(note))
    const left = fresh.length - mostNotes
    const shown = fresh.slice(0, mostNotes)
    for (const note of notes) said.add(note)
    const old = notes.length - fresh.length
    return [
      ...shown,
      ...(left > 0 ? [`… ${left} more like these`] : []),
      ...(old > 0 ? [`${old} not searched, as said before; --refresh asks again`] : [])
    ]
  }
}

/** Returns the programs around the shell; makes the sandbox where there is none yet, for it tells what can be seen. */
const seen = (sandbox: Context.Tag.Service<SandboxManager>): Effect.Effect<Surroundings.Surroundings> =>
  Effect.flatMap(sandbox.surroundings, (around) =>
    around === Surroundings.none
      ? sandbox.cwd.pipe(Effect.flatMap(sandbox.getSandbox), Effect.ignore, Effect.zipRight(sandbox.surroundings))
      : Effect.succeed(around)
  )

const line = (entry: Entry): string => {
  const { kind, name, summary } = entry
  const text = isForeign(entry)
    ? ForeignText.quoted(summary, longestSummary)
    : ForeignText.line(summary, longestSummary)
  return `${ForeignText.line(name, 255)} [${kind}]${text === "" || text === '""' ? "" : ` ${text}`}`
}

const limits = [50, 100, 200, 500, 1000, 2000, 5000]

const more = (left: number, all: number): string =>
  `… ${left} more: --limit ${Arr.findFirst(limits, (limit) => limit >= all).pipe(Option.getOrElse(() => all))}${all > 100 ? ", or more words" : ""}`

const partial = "No command fits all of the words; these fit some of them:"

const nothing = (words: ReadonlyArray<string>, type: Type): string =>
  words.length === 0
    ? `There are no commands of the type ${type}. command:search shows those of all types.`
    : `No command fits ${ForeignText.quoted(words.join(" "), longestSummary)}${type === "all" ? "" : ` with --type ${type}`}. ` +
      `Try fewer or other words${type === "all" ? "" : ", or another type"}; command:search alone lists the commands; --refresh asks servers and skills anew.`
