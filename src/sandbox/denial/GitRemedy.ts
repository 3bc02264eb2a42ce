/**
 * Tells how git can do what it was asked for with all files but those that the sandbox hides, where it stopped at them.
 */

/** Matches the files that git could not read, which it names from the top of the working tree. */
const unread = /^(?:error: unable to index file '([^'\n]*)'|fatal: (?:cannot hash|Unable to process path) (.+))$/gm

/** The end of a command. */
const end = String.raw`(?=\s*(?:$|[;&|\n)]|\d?[<>]))`

/** The commands that can leave files out, each with what does so, and what that does. */
const forms: ReadonlyArray<readonly [written: RegExp, does: string, form?: string]> = [
  [new RegExp(String.raw`\bgit add (?:-A|--all|-u|--update|\.)${end}`), "adds"],
  // By patches, it asks; nobody is there to answer.
  [new RegExp(String.raw`\bgit add (?:-p|--patch)${end}`), "adds", "git add -u"],
  [/\bgit commit(?: -[qvs]+| --[\w-]+)*? (?:-[qvs]*a[a-z]*|--all)(?=\s|$)/, "adds", "git add -u"],
  [new RegExp(String.raw`\bgit diff(?: --(?:stat|name-only|name-status|shortstat|color|word-diff))?${end}`), "shows"],
  [new RegExp(String.raw`\bgit stash(?: push)?${end}`), "stashes", "git stash push"]
]

/** Matches names that have one meaning only in a pathspec and in quotes. */
const plain = /^[\w.@%+,=/-]+$/

/** The most files that are named. */
const mostFiles = 5

/** Returns the sentence on the command that does the rest; undefined where it is not certain. */
export const find = (command: string, stderr: string): string | undefined => {
  const names = [...new Set(Array.from(stderr.matchAll(unread), ([, indexed, hashed]) => indexed ?? hashed ?? ""))]
  if (names.length === 0 || names.length > mostFiles || !names.every((name) => plain.test(name))) return undefined
  const [does, form, ...others] = forms.flatMap(([written, does, form]) => {
    const found = written.exec(command)?.[0]
    return found === undefined ? [] : [does, form ?? found]
  })
  if (does === undefined || others.length > 0) return undefined
  return `${[form, "--", ...names.map((name) => `':!/${name}'`)].join(" ")} ${does} the rest.`
}

/** Tests whether a line is such a sentence. */
export const isRemedy = (line: string): boolean => /^git .* (?:adds|shows|stashes) the rest\.$/.test(line)
