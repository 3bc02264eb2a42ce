/**
 * Reads the file names in the headers of unified diffs.
 *
 * @since 0.1.0
 */

/**
 * The name that stands for no file.
 *
 * @since 0.1.0
 */
export const none = "/dev/null"

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\"
}

/** Matches a name in quotes, as git and GNU diff write it. */
const quoted = /^"((?:[^"\\]|\\[0-3][0-7]{2}|\\[abtnvfr"\\])*)"/

/**
 * Returns a name without its quotes; a name that has none is returned as it is.
 *
 * @since 0.1.0
 */
export const unquoted = (name: string): string => {
  const inner = quoted.exec(name)?.[1]
  return inner === undefined
    ? name
    : inner.replace(
        /\\([0-3][0-7]{2}|[abtnvfr"\\])/g,
        (_, escape: string) => escapes[escape] ?? String.fromCharCode(Number.parseInt(escape, 8))
      )
}

/**
 * The name and the time in a header line.
 *
 * @since 0.1.0
 * @category models
 */
export interface Header {
  readonly name: string
  /** True where the time is the beginning of time: GNU diff writes it for a file that does not exist. */
  readonly isEpoch: boolean
}

/**
 * Reads a `--- ` or `+++ ` line.
 *
 * @since 0.1.0
 */
export const ofHeader = (line: string): Header => {
  const text = line.slice(4)
  const quotes = quoted.exec(text)
  const tab = text.indexOf("\t")
  const name = quotes !== null ? unquoted(quotes[0]) : tab < 0 ? text.trimEnd() : text.slice(0, tab)
  const time = /\t(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0*)? ([+-]\d\d)(\d\d)$/.exec(text)
  return { name, isEpoch: time !== null && Date.parse(`${time[1]}T${time[2]}${time[3]}:${time[4]}`) === 0 }
}

/**
 * Reads the name in a `diff --git` line that names one file twice; undefined where it names two files.
 *
 * @since 0.1.0
 */
export const ofGit = (line: string): string | undefined => {
  const text = line.slice("diff --git ".length)
  const first = quoted.exec(text)?.[0]
  const half = first?.length ?? (text.length - 1) / 2
  if (text[half] !== " ") return undefined
  const [old, current] = [unquoted(text.slice(0, half)), unquoted(text.slice(half + 1))]
  if (old === current) return old
  const isPrefixed = old[1] === "/" && current[1] === "/" && old.slice(2) === current.slice(2)
  return isPrefixed && old.length > 2 ? old.slice(2) : undefined
}

/**
 * Returns the names that a file may have by the two headers of its diff, the likeliest first: without `a/` and `b/`; or
 * the name with the fewest directories, as GNU patch has it, and then without the first directory.
 *
 * @since 0.1.0
 */
export const candidates = (old: string, current: string): ReadonlyArray<string> => {
  if (old === none && current === none) return []
  const isOld = old === none || old.startsWith("a/")
  if (isOld && (current === none || current.startsWith("b/"))) {
    return [old === none ? current.slice(2) : old.slice(2)]
  }
  const names = [...new Set([old, current])].filter((name) => name !== none)
  const depth = (name: string) => name.split("/").length
  const base = (name: string) => name.length - name.lastIndexOf("/")
  const sorted = names.toSorted((a, b) => depth(a) - depth(b) || base(a) - base(b) || a.length - b.length)
  const inner = names.map((name) => name.slice(name.indexOf("/") + 1))
  return names.length === 2 && inner[0] === inner[1] ? [...sorted, inner[0] as string] : sorted
}
