/**
 * Tells how to add all files but those that the sandbox hides, where `git add` stopped at them.
 *
 * @since 0.1.0
 */

/** Matches the files that git could not add, which it names from the top of the working tree. */
const unindexed = /^error: unable to index file '([^'\n]*)'$/gm

/** Matches `git add` of all that there is. */
const all = /\bgit add (-A|--all|\.)(?=\s*(?:$|[;&|\n)]|\d?>))/

/** Matches names that have one meaning only in a pathspec and in quotes. */
const plain = /^[\w.@%+,=/-]+$/

/** The most files that are named. */
const mostFiles = 5

/**
 * Returns the command that adds the rest; undefined where it is not certain.
 *
 * @since 0.1.0
 */
export const find = (command: string, stderr: string): string | undefined => {
  const what = all.exec(command)?.[1]
  const names = [...new Set(Array.from(stderr.matchAll(unindexed), ([, name = ""]) => name))]
  if (what === undefined || names.length === 0 || names.length > mostFiles) return undefined
  if (!names.every((name) => plain.test(name))) return undefined
  return ["git add", what, "--", ...names.map((name) => `':!/${name}'`)].join(" ")
}
