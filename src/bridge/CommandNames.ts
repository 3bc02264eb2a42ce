/**
 * Finds the names of our commands that a text holds, for the programs that call them (`xargs -n1 mcp:gh:show`).
 *
 * @since 0.1.0
 */
import * as CommandName from "../command/CommandName.js"

/** The most characters of a text that are looked through; what follows is the content of a file. */
const longest = 256 * 1024

/** The most places of a text that are looked at. */
const mostPlaces = 2000

/** Matches the rest of a name after its prefix; where a `/` follows, it is a path. */
const rest = /[\p{L}\p{M}\p{N}_.:+@-]+(?![/\p{L}\p{M}\p{N}_.:+@-])/uy

/** Matches a character before which no name begins. */
const joined = /[\p{L}\p{M}\p{N}_.:+@/\\-]/u

/**
 * Returns the different words of a text that begin with one of the prefixes and can be names of commands, at most so
 * many.
 *
 * @since 0.1.0
 */
export const within = (text: string, prefixes: Iterable<string>, most: number): ReadonlySet<string> => {
  const names = new Set<string>()
  const head = text.slice(0, longest)
  let places = 0
  for (const prefix of prefixes) {
    for (let at = head.indexOf(prefix); at >= 0; at = head.indexOf(prefix, at + 1)) {
      if (names.size >= most || ++places > mostPlaces) return names
      if (at > 0 && joined.test(text[at - 1] as string)) continue
      rest.lastIndex = at + prefix.length
      const name = prefix + (rest.exec(text)?.[0] ?? "")
      if (name !== prefix && canBeFile(name)) names.add(name)
    }
  }
  return names
}

/**
 * Tests whether a program can have this name: it is one that a command can have, and has no `/`.
 *
 * @since 0.1.0
 */
export const canBeFile = (name: string): boolean => name.length <= 255 && CommandName.problemOf(name) === undefined
