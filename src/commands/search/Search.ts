/**
 * `command:search <word>...`: finds commands of all kinds by their names and descriptions.
 *
 * @since 0.1.0
 */
import * as Array from "effect/Array"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler, Handler } from "../../command/CommandHandler.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as Parameter from "../../command/Parameter.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Slices from "../../domain/Slices.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as Surroundings from "../../sandbox/Surroundings.js"
import * as Entry from "./Search.entry.js"
import { help } from "./Search.help.js"
import * as Native from "./Search.native.js"
import * as Rank from "./Search.rank.js"

const types = ["all", "native", "agent", "extension", "mcp", "skill"] as const
type Type = (typeof types)[number]

/**
 * The grammar of `command:search`.
 *
 * @since 0.1.0
 * @category grammar
 */
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

/** The most notes of one search, and those that are remembered. */
const mostNotes = 20
const mostSaid = 10_000

/**
 * Makes the handler of `command:search`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler, never, CommandRegistry | SandboxManager> = Effect.gen(function* () {
  const registry = yield* CommandRegistry
  const sandbox = yield* SandboxManager
  const entriesOf = Entry.maker()
  const unsaid = sayOnce()

  return CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ limit, patterns, refresh, type }) {
      const words = Rank.wordsOf(patterns)
      const wanted = registry.listed().filter(({ name }) => isKind(Entry.kindOf(name), type))
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
      const native = around === undefined ? [] : Native.candidates(around, words)
      // A command of ours stands before the program of its name.
      const entries = [...own, ...(type === "native" ? native : native.filter(({ name }) => !registry.find(name)))]
      const ranked = yield* Slices.run(() => Rank.steps(entries, words))
      const first = ranked.entries.slice(0, limit)
      const shown = around === undefined ? first : Native.existing(around, first)
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

const isKind = (kind: Entry.Kind, type: Type): boolean =>
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
    if (said.size + notes.length > mostSaid) said.clear()
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

const line = (entry: Entry.Entry): string => {
  const { kind, name, summary } = entry
  const text = Entry.isForeign(entry)
    ? ForeignText.quoted(summary, longestSummary)
    : ForeignText.line(summary, longestSummary)
  return `${ForeignText.line(name, 255)} [${kind}]${text === "" || text === '""' ? "" : ` ${text}`}`
}

const limits = [50, 100, 200, 500, 1000, 2000, 5000]

const more = (left: number, all: number): string =>
  `… ${left} more: --limit ${Array.findFirst(limits, (limit) => limit >= all).pipe(Option.getOrElse(() => all))}${all > 100 ? ", or more words" : ""}`

const partial = "No command fits all of the words; these fit some of them:"

const nothing = (words: ReadonlyArray<string>, type: Type): string =>
  words.length === 0
    ? `There are no commands of the type ${type}. command:search shows those of all types.`
    : `No command fits ${ForeignText.quoted(words.join(" "), longestSummary)}${type === "all" ? "" : ` with --type ${type}`}. ` +
      `Try fewer or other words${type === "all" ? "" : ", or another type"}; command:search alone lists the commands; --refresh asks servers and skills anew.`
