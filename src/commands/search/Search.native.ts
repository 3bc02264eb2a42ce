/**
 * The shell's own commands as entries of a search: bash's builtins, and the programs of its PATH.
 *
 * @since 0.1.0
 */
import * as Hint from "../../command/Hint.js"
import type { Surroundings } from "../../sandbox/Surroundings.js"
import * as Entry from "./Search.entry.js"

const builtins = Array.from(Hint.builtins, (name) => Entry.make(name, "native", "A builtin of bash."))

/**
 * Returns the entries of the names that may fit one of the words, or of all without words. Whether a name is a program's
 * is not tested (`existing`), since that takes a look at each file.
 *
 * @since 0.1.0
 */
export const candidates = (around: Surroundings, words: ReadonlyArray<string>): ReadonlyArray<Entry.Entry> => {
  const names = new Set<string>()
  around.programs((name) => {
    if (!Hint.builtins.has(name) && mayFit(name, words)) names.add(name)
    return false
  })
  return [...builtins, ...Array.from(names, (name) => Entry.make(name, "native", ""))]
}

/** A near miss has a length that is near, too. */
const mayFit = (name: string, words: ReadonlyArray<string>): boolean => {
  if (words.length === 0) return true
  const key = name.toLowerCase()
  return words.some((word) => key.includes(word) || Math.abs(key.length - word.length) <= 2)
}

/**
 * Returns the entries without those of files that are no programs, or that the policy hides.
 *
 * @since 0.1.0
 */
export const existing = (around: Surroundings, entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Entry.Entry> => {
  const names = new Set(
    entries.filter(({ kind, name }) => kind === "native" && !Hint.builtins.has(name)).map(({ name }) => name)
  )
  if (names.size === 0) return entries
  const found = new Set(around.programs((name) => names.has(name)))
  return entries.filter(({ name }) => !names.has(name) || found.has(name))
}
