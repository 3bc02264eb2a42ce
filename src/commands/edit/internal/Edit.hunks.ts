/**
 * Applies hunks to the lines of a file, at the stated line or at the only place where their lines match. A hunk with LF
 * also matches CRLF and a last line without a line end, and its added lines get the file's line ends. Lines include
 * their line ends, and texts are Latin-1 (one character for each byte), so that bytes stay unchanged.
 */
import * as Data from "effect/Data"
import type { Steps } from "../../../domain/Yield.js"
import * as Alike from "./Edit.alike.js"
import { prefixTable } from "./Edit.matches.js"
import * as Nearest from "./Edit.nearest.js"

export interface Line {
  readonly kind: " " | "-" | "+"
  /** The line with its line feed, or without one if it is the unterminated last line of a file. */
  readonly text: string
}

/** A change of adjacent lines. */
export interface Hunk {
  /** The number of the patch's line where the hunk begins. */
  readonly at: number
  /** The index of the file's line that the hunk states, if any. */
  readonly start: number | undefined
  /** Lines of the file, in order, below which the hunk belongs (`@@ class A`). */
  readonly anchors: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  /** True if the hunk belongs at the end of the file. */
  readonly isLast: boolean
}

export interface FileChange {
  readonly kind: "add" | "update" | "delete"
  /** The number of the patch's line where the change begins. */
  readonly at: number
  /** The possible names of the file, the likeliest first. The two headers of a diff may differ. */
  readonly paths: readonly [string, ...ReadonlyArray<string>]
  /** The new name of a moved or copied file. */
  readonly to?: string
  /** True if the file also stays under its old name. */
  readonly isCopy?: boolean
  /** True to make the file executable, false to make it not executable. */
  readonly isExecutable?: boolean
  /** True to delete the file whatever it holds. Otherwise the hunks must remove all of it. */
  readonly isWhole?: boolean
  /** True if an update may create a missing file. */
  readonly mayBeNew?: boolean
  readonly hunks: ReadonlyArray<Hunk>
}

export class PatchFlaw extends Data.TaggedError("PatchFlaw")<{ readonly line: number; readonly reason: string }> {
  override get message(): string {
    return this.line === 0 ? this.reason : `line ${this.line} of the patch: ${this.reason}`
  }
}

/** Quotes a part of a patch's line for a message. */
export const excerpt = (line: string): string => {
  const text = Buffer.from(line.slice(0, 80), "latin1").toString()
  return JSON.stringify(line.length > 80 ? `${text}…` : text)
}

/** The number of lines between two yields. */
const stride = 20_000

const exact = (line: string): string => line

const withoutEnd = (line: string): string => line.replace(/\r?\n$/, "")

/** Returns a line as it looks, because the file may use other characters that look the same. */
const asItLooks = (line: string): string => {
  const text = withoutEnd(line)
  return isPlain.test(text) ? text : Alike.key(decoded(text))
}
const isPlain = /^[\0-\x7f]*$/
const decoded = (line: string): string => Buffer.from(line, "latin1").toString()

/** Finds all places of the lines, overlapping ones included, in linear time (Knuth-Morris-Pratt). */
function* matches(
  file: ReadonlyArray<string>,
  wanted: ReadonlyArray<string>,
  key: (line: string) => string
): Steps<ReadonlyArray<number>> {
  const table = prefixTable(wanted)
  const found: Array<number> = []
  for (let at = 0, length = 0; at < file.length; at++) {
    const line = key(file[at] as string)
    while (length > 0 && wanted[length] !== line) length = table[length - 1] as number
    if (wanted[length] === line) length++
    if (length === wanted.length) {
      found.push(at + 1 - length)
      length = table[length - 1] as number
    }
    if (at % stride === stride - 1) yield
  }
  return found
}

/**
 * Tells that a hunk was already applied, and where. To be sure, its new lines must be at the stated line, or be found
 * once together with context.
 *
 * @param drift the distance in lines between the previous hunk's stated and actual place
 */
function* findApplied(file: ReadonlyArray<string>, { lines, start }: Hunk, drift: number): Steps<string | undefined> {
  const added = lines.filter(({ kind }) => kind === "+")
  if (!added.some(({ text }) => telling.test(text))) return undefined
  const left = lines.flatMap(({ kind, text }) => (kind === "-" ? [] : [withoutEnd(text)]))
  const places = yield* matches(file, left, withoutEnd)
  const isStated = start !== undefined && places.includes(start + drift)
  const at = isStated ? start + drift : places.length === 1 ? places[0] : undefined
  if (at === undefined) return undefined
  const isSure = isStated || lines.some(({ kind, text }) => kind === " " && telling.test(text))
  return isSure ? `is applied already: its new text is at line ${at + 1}` : undefined
}

/** Matches a line that is unlikely to be in a file by chance. */
const telling = /[\p{L}\p{N}]/u

const mostNamed = 5

/** Splits a text into lines that keep their line feeds. */
export function* linesOf(text: string): Steps<ReadonlyArray<string>> {
  const lines: Array<string> = []
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at) + 1 || text.length
    lines.push(text.slice(at, end))
    at = end
    if (lines.length % stride === 0) yield
  }
  return lines
}

/** The new text of a file, with the numbers of added and removed lines. */
export interface Applied {
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** A hunk that does not fit, by its number from 1 on, and the reason. */
export interface Misfit {
  readonly hunk: number
  readonly reason: string
}

/** Applies hunks from the top of a file to its end, or returns all that do not fit. */
export function* apply(text: string, hunks: ReadonlyArray<Hunk>): Steps<Applied | ReadonlyArray<Misfit>> {
  const file = yield* linesOf(text)
  const isPlainFile = isPlain.test(text)
  const out: Array<string> = []
  const misfits: Array<Misfit> = []
  let [from, drift, added, removed] = [0, 0, 0, 0]
  for (const [index, hunk] of hunks.entries()) {
    const old = hunk.lines.flatMap(({ kind, text }) => (kind === "+" ? [] : [text]))
    const isAscii = isPlainFile && old.every((line) => isPlain.test(line))
    const found = yield* locate({ file, from, hunk, old, drift, isAscii })
    if (typeof found === "string") {
      const reason = (yield* findApplied(file, hunk, drift)) ?? `does not fit: ${found}`
      misfits.push({ hunk: index + 1, reason })
      continue
    }
    if (isUnended(hunk.lines) && found.at + old.length < file.length) {
      const reason = `does not fit: it ends the file, but below line ${found.at + old.length} there are more`
      misfits.push({ hunk: index + 1, reason })
      continue
    }
    out.push(file.slice(from, found.at).join(""), ...merged(file, found, hunk.lines))
    from = found.at + old.length
    if (hunk.start !== undefined) drift = found.at - hunk.start
    removed += old.length
    added += hunk.lines.length - old.length
    for (const { kind } of hunk.lines) if (kind === " ") removed--
    yield
  }
  if (misfits.length > 0) return misfits
  out.push(file.slice(from).join(""))
  return { text: out.join(""), added, removed }
}

interface Search {
  /** True if file and hunk are ASCII, so that no other characters can look the same. */
  readonly isAscii: boolean
  readonly file: ReadonlyArray<string>
  /** The index of the first line below the previous hunks. */
  readonly from: number
  readonly hunk: Hunk
  readonly old: ReadonlyArray<string>
  /** The distance in lines between the previous hunk's stated and actual place. */
  readonly drift: number
}

interface Found {
  readonly at: number
  /** True if the hunk's line ends match those of the file. */
  readonly isExact: boolean
}

/** Finds the place of a hunk, or says why it has none. */
function* locate(search: Search): Steps<Found | string> {
  const { drift, file, from, hunk, old } = search
  const stated = hunk.start === undefined ? -1 : hunk.start + drift
  if (old.length === 0) return empty(search, stated)
  // A hunk with CRLF means its line ends literally. A last line without a line end must end the file.
  const isLiteral = hunk.lines.some(({ text }) => text.endsWith("\r\n"))
  const isEnd = old.at(-1)?.endsWith("\n") === false
  for (const key of isLiteral ? [exact] : search.isAscii ? [exact, withoutEnd] : [exact, withoutEnd, asItLooks]) {
    const isExact = key === exact
    const wanted = old.map(key)
    const fits = (at: number) => !isEnd || endOf(file[at + old.length - 1]) === undefined
    const isAt = (at: number) =>
      at >= from &&
      at + old.length <= file.length &&
      fits(at) &&
      wanted.every((line, index) => key(file[at + index] as string) === line)
    if (hunk.isLast) {
      if (isAt(file.length - old.length)) return { at: file.length - old.length, isExact }
      continue
    }
    const edge = edgeOf(search)
    if (isAt(stated) && (edge === undefined || edge === stated)) return { at: stated, isExact }
    const places = (yield* matches(file, wanted, key)).filter(fits)
    const below = places.filter((at) => at >= from)
    const [only, ...more] = below
    if (only !== undefined && more.length === 0) return { at: only, isExact }
    if (only !== undefined) {
      if (edge !== undefined && below.includes(edge)) return { at: edge, isExact }
      const anchored = afterAnchors(search)
      const at = below.find((at) => at >= anchored)
      return anchored >= 0 && at !== undefined ? { at, isExact } : ambiguous(below, hunk)
    }
    const above = places[0]
    if (above !== undefined)
      return `it matches only line ${above + 1}, above the hunk before it: hunks go from the top down`
  }
  const report = yield* Nearest.steps(Buffer.from(file.join(""), "latin1"), Buffer.from(old.join(""), "latin1"))
  return `${hunk.isLast ? "the end of the file is another; " : ""}${report}`
}

/**
 * Returns the place of a diff's hunk that has less context on one side, which means that the file begins or ends there.
 */
const edgeOf = ({ file, hunk: { lines, start }, old }: Search): number | undefined => {
  const above = lines.findIndex(({ kind }) => kind !== " ")
  const below = lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== " ")
  if (start === undefined || above < 0 || above === below) return undefined
  return above < below ? 0 : file.length - old.length
}

/** Finds the place of a hunk that only adds lines. */
const empty = (search: Search, stated: number): Found | string => {
  const { file, from, hunk } = search
  if (stated >= 0) {
    if (stated >= from && stated <= file.length) return { at: stated, isExact: true }
    return `it adds lines below line ${stated}; the file has ${file.length}`
  }
  if (hunk.anchors.length === 0) return { at: file.length, isExact: false }
  const anchor = afterAnchors(search)
  return anchor >= 0 ? { at: anchor + 1, isExact: false } : "the @@ line above it is not in the file, or more than once"
}

/** Returns the index of the last anchor's line, or -1 if there is none or it is ambiguous. */
const afterAnchors = ({ file, from, hunk: { anchors } }: Search): number => {
  let at = -1
  for (const [index, anchor] of anchors.entries()) {
    const isIt = (line: string) => line.trim() === anchor
    const next = file.slice(Math.max(from, at + 1)).findIndex(isIt) + Math.max(from, at + 1)
    if (next < Math.max(from, at + 1)) return -1
    if (index === 0 && file.slice(next + 1).some(isIt)) return -1
    at = next
  }
  return at
}

const ambiguous = (places: ReadonlyArray<number>, { anchors }: Hunk): string => {
  const named = places.slice(0, mostNamed).map((at) => at + 1)
  const more = places.length > mostNamed ? " and more" : ""
  const how = anchors.length === 0 ? "more lines of context tell which" : "its @@ lines don't tell which"
  return `it matches at lines ${named.join(", ")}${more}: ${how}`
}

/** Returns the lines that a hunk leaves: unchanged ones as in the file, added ones with the file's line ends. */
const merged = (
  file: ReadonlyArray<string>,
  { at, isExact }: Found,
  lines: ReadonlyArray<Line>
): ReadonlyArray<string> => {
  if (isExact) return lines.flatMap(({ kind, text }) => (kind === "-" ? [] : [text]))
  const out: Array<string> = []
  /** Removed lines whose places the added lines take, in order. */
  const gone: Array<readonly [own: string, old: string]> = []
  let next = at
  let end = endOf(file[at - 1]) ?? endOf(file[at]) ?? endOf(file[0]) ?? "\n"
  for (const { kind, text } of lines) {
    if (kind === "+") {
      const [own, old] = gone.shift() ?? ["", ""]
      out.push(`${own === old ? withoutEnd(text) : kept(own, old, withoutEnd(text))}${end}`)
    } else {
      const own = file[next++] as string
      end = endOf(own) ?? end
      if (kind === " ") {
        out.push(own)
        gone.length = 0
      } else gone.push([withoutEnd(own), withoutEnd(text)])
    }
  }
  const isUnendedFile = next === file.length && next > 0 && endOf(file[next - 1]) === undefined
  if (!isUnendedFile || out.length === 0) return out
  const ended = out.map((line, index) =>
    index === out.length - 1 ? withoutEnd(line) : `${withoutEnd(line)}${endOf(line) ?? end}`
  )
  // Added below the last line, which gets a line end now.
  return next === at ? [end, ...ended] : ended
}

/** Replaces a line that looks like its old text. Text that stays keeps the file's own characters. */
const kept = (own: string, old: string, next: string): string =>
  Buffer.from(Alike.carry(decoded(own), decoded(old), decoded(next))).toString("latin1")

/** Tests whether a hunk leaves a last line without a line end. */
const isUnended = (lines: ReadonlyArray<Line>): boolean =>
  lines.findLast(({ kind }) => kind !== "-")?.text.endsWith("\n") === false

/** Returns a line's end, if it has one. */
const endOf = (line: string | undefined): string | undefined =>
  line?.endsWith("\n") === true ? (line.endsWith("\r\n") ? "\r\n" : "\n") : undefined
