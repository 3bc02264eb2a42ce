/** Completes the word that a person is typing: a command, an option, a path. */
import * as Effect from "effect/Effect"
import * as CommandLine from "../bash/CommandLine.js"
import { beforeCommand } from "../bash/CommandTree.js"
import type { Token } from "../bash/Token.js"
import { isRedirection } from "../bash/Token.js"
import * as ForeignText from "../domain/ForeignText.js"
import type { Completions } from "./LineEditor.js"

/** Matches characters that bash treats specially outside of quotes. */
const special = /[^\p{L}\p{N}\p{M}_./:@%+,=^-]/gu
const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e" }

/** Quotes a name in the quote that was begun, and leaves it open unless `isWhole`. Invisible characters need `$'…'`. */
export const write = (name: string, quote: WordAtPlace["quote"], isWhole: boolean): string => {
  const end = isWhole ? quote.slice(-1) : ""
  const readable = hide(name)
  if (quote === "$'" || readable !== name) return `$'${hide(name.replace(/[\\']/g, "\\$&"))}${isWhole ? "'" : ""}`
  if (quote === "'") return `'${name.replaceAll("'", "'\\''")}${end}`
  if (quote === '"') return `"${name.replace(/[\\"$`]/g, "\\$&")}${end}`
  return name.replace(special, "\\$&")
}

const hide = (name: string): string => ForeignText.replaceInvisible(name, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: number, value = code) => value.toString(16).padStart(digits, "0")
  // A byte that is not UTF-8 is a surrogate here.
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(2, code - 0xdc00)}`
  return short[character] ?? (code < 128 ? `\\x${hex(2)}` : `\\U${hex(8)}`)
}

/** The word before the cursor; empty if a new word begins there. */
export interface WordAtPlace {
  readonly start: number
  /** The word without its quotes. */
  readonly value: string
  /** The open quote; `$'` for ANSI-C quotes. */
  readonly quote: "" | "'" | '"' | "$'"
  /** True if a part is quoted, so that `~` is not expanded. */
  readonly isQuoted: boolean
  /** True if bash expands a part; such words are not completed. */
  readonly expands: boolean
  /** The words of its command before it. */
  readonly before: ReadonlyArray<string>
  readonly isTarget: boolean
}

/** Words before a command. */
const leading = new Set([...beforeCommand, "sudo", "exec", "command"])
const assignment = /^[A-Za-z_]\w*\+?=/

const find = (text: string): WordAtPlace => {
  const { tokens } = CommandLine.parse(text)
  const last = tokens.at(-1)
  const word = last?._tag === "Word" ? last : undefined
  const start = word?.start ?? text.length
  const written = text.slice(start)
  const open = openQuote(written)
  const read = open === undefined ? undefined : CommandLine.parse(`${written}${closing(open)}`).tokens
  const [whole] = read ?? []
  const value = whole?._tag === "Word" ? whole.value : written
  const expands = whole?._tag === "Word" && (read?.length !== 1 || !whole.closed || expandsOf(written))
  return {
    start,
    value,
    quote: open ?? "",
    isQuoted: /^["'\\$]/.test(written),
    expands: open === undefined || expands,
    ...commandBefore(word === undefined ? tokens : tokens.slice(0, -1))
  }
}

const closing = (quote: WordAtPlace["quote"]): string => quote.slice(-1)

/** Tests for expansions. A glob is not one while it is being typed. */
const expandsOf = (written: string): boolean => /(?<!\\)(?:\$[^']|`)/.test(written.replace(/'[^']*'?/g, ""))

/** Returns the open quote; undefined after a lone backslash. */
const openQuote = (written: string): WordAtPlace["quote"] | undefined => {
  let quote: WordAtPlace["quote"] = ""
  for (let at = 0; at < written.length; at++) {
    const character = written[at] as string
    if (character === "\\" && quote !== "'") {
      if (++at >= written.length) return undefined
    } else if (quote === "") {
      if (character === "'" && written[at - 1] === "$") quote = "$'"
      else if (character === "'" || character === '"') quote = character
    } else if (character === closing(quote)) quote = ""
  }
  return quote
}

const commandBefore = (tokens: ReadonlyArray<Token>): Pick<WordAtPlace, "before" | "isTarget"> => {
  let before: Array<string> = []
  let isTarget = false
  for (const token of tokens) {
    if (token._tag === "Newline") before = []
    if (token._tag === "Operator") {
      isTarget = isRedirection(token.value)
      if (!isTarget) before = []
    }
    if (token._tag !== "Word") continue
    const isFirst = before.length === 0
    if (isTarget) isTarget = false
    else if (!isFirst || !(leading.has(token.value) || assignment.test(token.value))) before.push(token.value)
  }
  return { before, isTarget }
}

export interface Name {
  readonly name: string
  readonly isDirectory: boolean
}

export interface Sources {
  /** Finds names of commands: Synapse's, the shell's, programs, `mcp:` and `skill:` names. */
  readonly commands: Effect.Effect<ReadonlyArray<string>>
  /** Commands of `synapse shell` itself: `/help`. */
  readonly ownCommands: ReadonlyArray<string>
  /** Returns the options of a command: `--limit`. */
  readonly options: (command: string) => ReadonlyArray<string>
  /** Lists a directory as commands see it, or returns nothing. The path may be relative. */
  readonly list: (directory: string) => Effect.Effect<ReadonlyArray<Name>>
  /** The directory that `~` stands for. */
  readonly home: string | undefined
}

/** Commands that take directories only. */
const ofDirectories = new Set(["cd", "pushd", "rmdir"])

const matching = (names: ReadonlyArray<string>, start: string): ReadonlyArray<string> =>
  [...new Set(names)].filter((name) => name !== "" && name.startsWith(start)).toSorted()

/** Makes the function that finds the completions of a text at a place. */
export const make = (sources: Sources): ((text: string, place: number) => Effect.Effect<Completions>) =>
  Effect.fn("Completion.complete")(function* (text: string, place: number) {
    const typed = text.slice(0, place)
    const word = find(typed)
    const own = /^\/\S*$/.test(typed) ? matching(sources.ownCommands, typed).map((name) => wordOf(name)) : []
    const isName = word.before.length === 0 && !word.isTarget
    if (word.expands) return { start: word.start, words: [] }
    if (isName && !word.value.includes("/") && !word.value.startsWith("~")) {
      const commands = matching(yield* sources.commands, word.value)
      return { start: word.start, words: commands.map((name) => wordOf(name, word.quote)) }
    }
    const [command = ""] = word.before
    const isOption = word.value.startsWith("-") && !word.isTarget && !word.before.includes("--")
    const options = isOption ? matching(sources.options(command), word.value) : []
    if (options.length > 0) return { start: word.start, words: options.map((name) => wordOf(name, word.quote)) }
    const paths = yield* pathsOf(sources, word, ofDirectories.has(command) && !word.isTarget)
    return { start: word.start, words: [...own, ...paths] }
  })

const wordOf = (name: string, quote: WordAtPlace["quote"] = "") => ({
  text: `${write(name, quote, true)} `,
  shown: name
})

/** Finds paths with the word's beginning; hidden ones only if it begins with a dot. */
const pathsOf = (
  { home, list }: Sources,
  { isQuoted, quote, value }: WordAtPlace,
  onlyDirectories: boolean
): Effect.Effect<Completions["words"]> => {
  const slash = value.lastIndexOf("/") + 1
  const directory = value.slice(0, slash)
  const base = value.slice(slash)
  const isHome = !isQuoted && directory.startsWith("~/") && home !== undefined
  const listed = isHome ? `${home}/${directory.slice(2)}` : directory
  return Effect.map(list(listed === "" ? "." : listed), (names) =>
    names
      .filter(({ isDirectory, name }) => {
        const isWanted = isDirectory || !onlyDirectories
        return (
          isWanted && name !== "." && name !== ".." && name.startsWith(base) && (base !== "" || !name.startsWith("."))
        )
      })
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ isDirectory, name }) => {
        // A name that begins with a dash would be an option.
        const path = `${directory === "" && name.startsWith("-") ? "./" : directory}${name}${isDirectory ? "/" : ""}`
        const written = isHome ? `~/${write(path.slice(2), quote, !isDirectory)}` : write(path, quote, !isDirectory)
        return { text: isDirectory ? written : `${written} `, shown: isDirectory ? `${name}/` : name }
      })
  )
}
