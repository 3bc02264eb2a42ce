/**
 * Finds the place in a file that comes nearest to the lines of a hunk, and says in what it differs.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"

/** The number of lines between two places where the work may rest. */
const stride = 20_000
/** The most times that a line of the hunk counts in the file: one that is more frequent tells nothing. */
const mostFrequent = 100
/** The most characters of a line that are shown. */
const shown = 160

/**
 * Describes the place where most of the hunk's lines are, and the first line there that differs.
 *
 * @since 0.1.0
 */
export function* nearest(file: ReadonlyArray<string>, old: ReadonlyArray<string>, from: number): Steps<string> {
  if (file.length === 0) return "the file is empty"
  const start = yield* bestStart(file, old)
  if (start === undefined) return "none of its lines is in the file"
  const equal = old.filter((line, index) => bare(line) === bare(file[start + index])).length
  const differing = old.findIndex((line, index) => bare(line) !== bare(file[start + index]))
  if (differing < 0) {
    if (start < from) return `it matches only line ${start + 1}, above the hunk before it: hunks go from the top down`
    return "only the end of the file differs: whether its last line has a line end"
  }
  const line = start + differing
  const where = `nearest is line ${Math.max(start, 0) + 1}, with ${equal} of its ${old.length} lines`
  const own = old[differing] as string
  const there = file[line]
  if (there === undefined) {
    const isAbove = line < 0
    return `${where}; the file ${isAbove ? "begins below" : "ends before"}\n${row("hunk", own)}`
  }
  const kind =
    folded(there) === folded(own) ? (there.trim() === own.trim() ? "indentation or blanks" : "white space or case") : ""
  const what = kind === "" ? `line ${line + 1} differs:` : `line ${line + 1} differs in ${kind}:`
  return `${where}; ${what}\n${row("file", there)}\n${row("hunk", own)}`
}

const row = (label: string, line: string): string => {
  const text = Buffer.from(line.slice(0, shown), "latin1").toString().trimEnd()
  return `${label}:\t${text}${line.length > shown ? "…" : ""}`
}

/** A line without its line end. */
const bare = (line: string | undefined): string | undefined => line?.replace(/\r?\n$/, "")

/** A line without white space and case. */
const folded = (line: string): string => line.replace(/\s+/g, "").toLowerCase()

/** Returns the index of the line where the hunk would begin for most of its lines to be where they are in the file. */
function* bestStart(file: ReadonlyArray<string>, old: ReadonlyArray<string>): Steps<number | undefined> {
  const wanted = new Map<string, Array<number>>()
  for (const [index, line] of old.entries()) {
    const key = folded(line)
    if (key === "") continue
    const places = wanted.get(key) ?? []
    places.push(index)
    wanted.set(key, places)
  }
  const seen = new Map<string, number>()
  const votes = new Map<number, number>()
  let best: number | undefined
  for (const [at, line] of file.entries()) {
    if (at % stride === stride - 1) yield
    const key = folded(line)
    const places = wanted.get(key)
    if (places === undefined) continue
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count > mostFrequent || places.length > mostFrequent) continue
    for (const index of places) {
      const start = at - index
      // A line that is the same counts more than one that is alike, and one that says much more than a bracket.
      const weight = (bare(line) === bare(old[index]) ? 3 : 2) * Math.min(key.length, 20)
      const sum = (votes.get(start) ?? 0) + weight
      votes.set(start, sum)
      if (best === undefined || sum > (votes.get(best) as number)) best = start
    }
  }
  return best
}
