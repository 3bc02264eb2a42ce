/**
 * Finds a text while ignoring white space and the case of ASCII letters, and names the differences of a match.
 *
 * @since 0.1.0
 */
import * as Slices from "../../domain/Slices.js"
import { prefixTable, stride } from "./Edit.matches.js"

/**
 * The byte that each byte is compared as: a letter in lower case, and 0 for white space, which is skipped.
 *
 * @since 0.1.0
 */
export const folded: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? 0 : byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
)

/**
 * A part of a file: the index of its first byte, and the index behind its last.
 *
 * @since 0.1.0
 */
export interface Region {
  readonly start: number
  readonly end: number
}

/**
 * The result of a search.
 *
 * @since 0.1.0
 */
export interface Found {
  /** The first matches, each from its first to its last byte that is not white space. */
  readonly matches: ReadonlyArray<Region>
  /**
   * The longest beginning of the text that occurs in the file; undefined where there are matches, or nothing occurs.
   */
  readonly beginning: Region | undefined
  /** The number of bytes, without white space, in that beginning. */
  readonly length: number
}

/**
 * Finds a text while ignoring white space and case, in time proportional to the file, at once.
 *
 * @param most the number of matches after which the search ends
 *
 * @since 0.1.0
 */
export const find = (bytes: Uint8Array, text: Uint8Array, most: number): Found => Slices.now(steps(bytes, text, most))

/**
 * Does the work of `find`, with rests.
 *
 * @since 0.1.0
 */
export function* steps(bytes: Uint8Array, text: Uint8Array, most: number): Slices.Steps<Found> {
  const key = yield* keyOf(text)
  if (key.length === 0) return { matches: [], beginning: undefined, length: 0 }
  const table = yield* prefixTable(key)
  const matches: Array<Region> = []
  const fold = folded
  let longest = 0
  let longestEnd = 0
  let length = 0
  for (let from = 0; from < bytes.length && matches.length < most; from += stride) {
    const end = Math.min(from + stride, bytes.length)
    for (let at = from; at < end && matches.length < most; at++) {
      const byte = fold[bytes[at] as number]
      if (byte === 0) continue
      while (length > 0 && key[length] !== byte) length = table[length - 1] as number
      if (key[length] !== byte) continue
      length++
      // Of two beginnings of one length, that which ends its line is nearer: only the end of the line differs.
      if (length > longest || (length === longest && isLineEnd(bytes, at + 1) && !isLineEnd(bytes, longestEnd))) {
        longest = length
        longestEnd = at + 1
      }
      if (length === key.length) {
        matches.push({ start: yield* startOf(bytes, at + 1, length), end: at + 1 })
        length = 0
      }
    }
    if (end < bytes.length) yield
  }
  if (matches.length > 0 || longest === 0) return { matches, beginning: undefined, length: longest }
  return {
    matches,
    beginning: { start: yield* startOf(bytes, longestEnd, longest), end: longestEnd },
    length: longest
  }
}

/**
 * Tests whether a line ends at an index.
 *
 * @since 0.1.0
 */
export const isLineEnd = (bytes: Uint8Array, at: number): boolean =>
  at >= bytes.length || bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] === 0x0a)

/** Returns the bytes that are compared. */
function* keyOf(text: Uint8Array): Slices.Steps<Uint8Array> {
  const key = new Uint8Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const byte = folded[text[at] as number] as number
    if (byte !== 0) key[length++] = byte
    if (at % stride === stride - 1) yield
  }
  return key.subarray(0, length)
}

function* startOf(bytes: Uint8Array, end: number, length: number): Slices.Steps<number> {
  let at = end
  for (let left = length; left > 0; ) {
    if (folded[bytes[--at] as number] !== 0) left--
    if ((end - at) % stride === 0) yield
  }
  return at
}

/** The most bytes of white space that are compared between two other bytes. */
const mostWhiteSpace = 10_000

const within = "blanks within a line"

/**
 * Names the differences between a text and its match in a file.
 *
 * @since 0.1.0
 */
export function* differences(
  bytes: Uint8Array,
  { end, start }: Region,
  text: Uint8Array
): Slices.Steps<ReadonlyArray<string>> {
  const said = new Set<string>()
  const textStart = yield* gapEnd(text, 0)
  compareGaps(
    said,
    leading(bytes, start, text, textStart),
    latin1(text, 0, textStart),
    isLineStart(bytes, start) ? "indentation" : within
  )
  let at = start
  let own = textStart
  let sinceRest = 0
  while (at < end) {
    if (bytes[at] !== text[own]) said.add("the case of letters")
    const gap = isGap(bytes, at + 1) ? yield* gapEnd(bytes, at + 1) : at + 1
    const ownGap = isGap(text, own + 1) ? yield* gapEnd(text, own + 1) : own + 1
    if (at + 1 === end) {
      const trailing = latin1(text, own + 1, text.length)
      compareGaps(said, trailingLike(latin1(bytes, end, gap), trailing), trailing, "blanks at the end of <old>")
      break
    }
    compareGaps(said, latin1(bytes, at + 1, gap), latin1(text, own + 1, ownGap), within)
    // White space takes far longer than other bytes.
    sinceRest += 1 + Math.min(gap - at + ownGap - own - 2, mostWhiteSpace)
    if (sinceRest > mostWhiteSpace) {
      sinceRest = 0
      yield
    }
    at = gap
    own = ownGap
  }
  return [...said]
}

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  start === end ? "" : Buffer.from(bytes.subarray(start, Math.min(end, start + mostWhiteSpace))).toString("latin1")

const isGap = (bytes: Uint8Array, at: number): boolean => at < bytes.length && folded[bytes[at] as number] === 0

/**
 * Returns the index behind the white space that begins at `start`.
 *
 * @since 0.1.0
 */
export function* gapEnd(bytes: Uint8Array, start: number): Slices.Steps<number> {
  let at = start
  for (; isGap(bytes, at); at++) if ((at - start) % stride === stride - 1) yield
  return at
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

/**
 * Returns the white space before a match on its line, with the line breaks that the text begins with; empty where the
 * text begins with none.
 */
const leading = (bytes: Uint8Array, start: number, text: Uint8Array, textStart: number): string => {
  if (textStart === 0) return ""
  let at = start
  while (start - at < mostWhiteSpace && isBlank(bytes[at - 1])) at--
  const own = latin1(text, 0, textStart)
  return own.slice(0, own.lastIndexOf("\n") + 1) + latin1(bytes, at, start)
}

const isLineStart = (bytes: Uint8Array, start: number): boolean => {
  let at = start
  while (start - at < mostWhiteSpace && isBlank(bytes[at - 1])) at--
  return at === 0 || bytes[at - 1] === 0x0a
}

/** Returns as much of the white space behind a match as the text ends in. */
const trailingLike = (gap: string, own: string): string => {
  const count = own.split("\n").length
  const lines = gap.split("\n").slice(0, count)
  const last = lines[count - 1]?.slice(0, own.length - own.lastIndexOf("\n") - 1)
  return last === undefined ? gap : [...lines.slice(0, -1), last].join("\n")
}

const compareGaps = (said: Set<string>, there: string, own: string, onOneLine: string): void => {
  if (there === own) return
  if (there.includes("\r\n") !== own.includes("\r\n") && there.includes("\n") && own.includes("\n")) {
    said.add(
      there.includes("\r\n") ? "line ends (CRLF in the file, LF in <old>)" : "line ends (LF in the file, CRLF in <old>)"
    )
  }
  const [lines, ownLines] = [linesIn(there), linesIn(own)]
  if (lines.length !== ownLines.length) {
    said.add(lines.length > 1 && ownLines.length > 1 ? "the number of empty lines" : "line breaks")
    return
  }
  lines.forEach((blanks, index) => {
    const ownBlanks = ownLines[index] as string
    if (blanks === ownBlanks) return
    if (index < lines.length - 1) said.add(`blanks at the end of a line${whose(blanks, ownBlanks)}`)
    else said.add(`${index > 0 ? "indentation" : onOneLine}${kinds(blanks, ownBlanks)}`)
  })
}

const linesIn = (gap: string): ReadonlyArray<string> => gap.replaceAll("\r\n", "\n").split("\n")

const whose = (blanks: string, own: string): string =>
  own === "" ? " (in the file)" : blanks === "" ? " (in <old>)" : ""

const kinds = (blanks: string, own: string): string => {
  const [kind, ownKind] = [blanks, own].map(kindOf)
  return kind === ownKind || kind === undefined || ownKind === undefined
    ? ""
    : ` (${kind} in the file, ${ownKind} in <old>)`
}

const kindOf = (blanks: string): string | undefined =>
  blanks === "" ? undefined : /^ +$/.test(blanks) ? "spaces" : /^\t+$/.test(blanks) ? "tabs" : "tabs and spaces"
