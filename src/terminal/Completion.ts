/** Completes the word that a person is typing: a command, an option, a path. */
import * as Effect from "effect/Effect"
import * as CompletionQuote from "./CompletionQuote.js"
import * as WordAtPlace from "./internal/WordAtPlace.js"
import type { Completions } from "./LineEditor.js"

/** A name in a directory. */
export interface Name {
  readonly name: string
  readonly isDirectory: boolean
}

/** The sources of completions. */
export interface Sources {
  /** Finds the names with which a command may begin: ours, the shell's, programs, `mcp:` and `skill:` names. */
  readonly commands: Effect.Effect<ReadonlyArray<string>>
  /** The commands to the shell's program itself: `/help`. */
  readonly ownCommands: ReadonlyArray<string>
  /** Returns the options of a command, as they are written: `--limit`. */
  readonly options: (command: string) => ReadonlyArray<string>
  /** Lists a directory as the commands would see it; nothing where that fails. A path may be relative. */
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
    const word = WordAtPlace.find(typed)
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

const wordOf = (name: string, quote: WordAtPlace.WordAtPlace["quote"] = "") => ({
  text: `${CompletionQuote.write(name, quote, true)} `,
  shown: name
})

/** Finds the paths that begin as the word does; hidden ones only where it has their dot. */
const pathsOf = (
  { home, list }: Sources,
  { isQuoted, quote, value }: WordAtPlace.WordAtPlace,
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
        const written = isHome
          ? `~/${CompletionQuote.write(path.slice(2), quote, !isDirectory)}`
          : CompletionQuote.write(path, quote, !isDirectory)
        return { text: isDirectory ? written : `${written} `, shown: isDirectory ? `${name}/` : name }
      })
  )
}
