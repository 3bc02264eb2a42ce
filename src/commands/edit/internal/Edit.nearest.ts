/**
 * Reports the parts of a file that come nearest to a text: parts that differ only in white space or case, or else the
 * most similar lines. Takes linear time, in slices.
 */
import type { Steps } from "../../../domain/Yield.js"
import * as Newlines from "../../../files/Newlines.js"
import { prefixTable, stride } from "./Edit.matches.js"

/** The byte that each byte is compared as: letters in lower case, and 0 for white space, which is skipped. */
const folded: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? 0 : byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
)

/** A part by the index of its first byte, and the index behind its last. */
interface Region {
  readonly start: number
  readonly end: number
}

/**
 * Finds at most `most` matches of a text, ignoring white space and case. Each match begins and ends with a byte that is
 * not white space.
 */
export function* search(bytes: Uint8Array, text: Uint8Array, most: number): Steps<ReadonlyArray<Region>> {
  const key = text.map((byte) => folded[byte] as number).filter((byte) => byte !== 0)
  const matches: Array<Region> = []
  if (key.length === 0) return matches
  const table = prefixTable(key)
  for (let at = 0, length = 0, rest = stride; at < bytes.length && matches.length < most; at++) {
    if (at >= rest) {
      rest = at + stride
      yield
    }
    const byte = folded[bytes[at] as number]
    if (byte === 0) continue
    while (length > 0 && key[length] !== byte) length = table[length - 1] as number
    if (key[length] !== byte || ++length < key.length) continue
    matches.push({ start: startOf(bytes, at + 1, length), end: at + 1 })
    length = 0
  }
  return matches
}

/** Returns the index where the last `length` bytes before `end` begin, not counting white space. */
const startOf = (bytes: Uint8Array, end: number, length: number): number => {
  let at = end
  for (let left = length; left > 0; ) if (folded[bytes[--at] as number] !== 0) left--
  return at
}

/** The most characters examined of a text. */
const mostExamined = 100_000

const latin1 = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  Buffer.from(bytes.subarray(Math.max(0, start), Math.min(end, start + mostExamined))).toString("latin1")

export const none = "No line of the file is like it."

const places = 3
const shownLines = 6
const shownBytes = 200

/** Writes the report in a few lines, without a final newline. */
export function* steps(bytes: Uint8Array, text: Uint8Array): Steps<string> {
  if (bytes.length === 0) return "The file is empty."
  const matches = yield* search(bytes, text, places)
  // Matches within one line look the same.
  if (matches.length > 0) return [...new Set(matches.map((match) => matching(bytes, match)))].join("\n")
  return yield* linesLike(bytes, text)
}

const matching = (bytes: Uint8Array, match: Region): string => {
  const [first, last] = [lineOf(bytes, match.start), lineOf(bytes, match.end)]
  const where = first === last ? `Line ${first} matches` : `Lines ${first}-${last} match`
  return `${where} but for white space or the case of letters:\n${numbered(bytes, match)}`
}

/** The most bytes of a file that are searched for similar lines, and the most compared of a line. */
const mostSearched = 4 * 1024 ** 2
const mostOfLine = 300
/** The least similarity that counts, from 0 to 1. The rarest word scores as much. */
const least = 0.45
/** A line may score at most this much less than the best one. */
const margin = 0.2

/** Returns the groups of three characters in a line, without white space and case. */
const trigramsOf = (line: string): ReadonlyArray<string> => {
  const plain = line.toLowerCase().replace(/\s+/g, "")
  return Array.from({ length: Math.max(0, plain.length - 2) }, (_, at) => plain.slice(at, at + 3))
}

/** A word in more places than this does not identify a line. */
const rare = 20

/** Finds the word of a text that stands in the fewest places of a file, but at least one. The longest of several. */
function* rarestOf(searched: Uint8Array, text: string): Steps<string | undefined> {
  const words = [...new Set(text.match(/[\w$\x80-\xff]{4,}/g))]
    .filter((word) => word.length <= longestWord)
    .sort((a, b) => b.length - a.length)
    .slice(0, mostWords)
  const file = Buffer.from(searched).toString("latin1")
  let [rarest, fewest]: [string | undefined, number] = [undefined, rare + 1]
  for (const word of words) {
    let count = 0
    for (let at = file.indexOf(word); at >= 0 && count < fewest; at = file.indexOf(word, at + word.length)) count++
    if (count > 0 && count < fewest) [rarest, fewest] = [word, count]
    yield
  }
  return rarest
}
const mostWords = 20
/** The longest word searched for. Node takes minutes to find a long run of one letter. */
const longestWord = 100

function* linesLike(bytes: Uint8Array, text: Uint8Array): Steps<string> {
  const lines = latin1(text).split("\n")
  const longest = lines.reduce((longest, line) => (line.trim().length > longest.length ? line.trim() : longest), "")
  const wanted = new Set(trigramsOf(longest.slice(0, mostOfLine)))
  const found: Array<{ readonly start: number; readonly score: number }> = []
  const searched = bytes.subarray(0, mostSearched)
  const rarest = yield* rarestOf(searched, longest)
  for (let start = 0, count = 0; start < searched.length && wanted.size > 0; count++) {
    const end = searched.indexOf(0x0a, start) >>> 0
    const line = latin1(searched, start, Math.min(end, start + mostOfLine))
    const own = trigramsOf(line)
    const similarity = (2 * own.filter((each) => wanted.has(each)).length) / (wanted.size + Math.max(own.length, 1))
    const score = similarity + (rarest !== undefined && line.includes(rarest) ? least : 0)
    if (score >= least) found.push({ start, score })
    start = end + 1
    if (count % 100 === 99) yield
  }
  found.sort((a, b) => b.score - a.score || a.start - b.start)
  const near = found.filter(({ score }) => score >= (found[0]?.score ?? 0) - margin).slice(0, places)
  if (near.length === 0) return none
  const shown = near.map(({ start }) => numbered(bytes, { start, end: start }))
  const [best] = near
  const other = best === undefined ? undefined : differing(bytes, lines, longest, best.start)
  return ["The nearest lines:", ...shown, ...(other === undefined ? [] : [other])].join("\n")
}

/**
 * Aligns a text of several lines with the file, and shows the first line that differs.
 *
 * @param start the index of the file's line that is aligned with the longest line of the text
 */
const differing = (
  bytes: Uint8Array,
  lines: ReadonlyArray<string>,
  longest: string,
  start: number
): string | undefined => {
  let at = start
  for (let above = lines.findIndex((line) => line.trim() === longest); above > 0 && at > 0; above--)
    at = bytes.subarray(0, at - 1).lastIndexOf(0x0a) + 1
  if (lines.length < 2) return undefined
  for (const line of lines.at(-1) === "" ? lines.slice(0, -1) : lines) {
    const end = bytes.indexOf(0x0a, at) >>> 0
    if (at >= bytes.length || latin1(bytes, at, end).trim() !== line.trim()) {
      // That line is already shown.
      if (at === start) return undefined
      const there =
        at >= bytes.length
          ? "The file ends"
          : `Around it, this differs first:\n${numbered(bytes, { start: at, end: at })}`
      return `${there}\nwhere the old text has:\n${" ".repeat(6)}\t${excerpt(Buffer.from(line, "latin1"), 0)}`
    }
    at = end + 1
  }
  return undefined
}

const lineOf = (bytes: Uint8Array, at: number): number => 1 + Newlines.count(bytes.subarray(0, at))

/** Returns the lines of a region with their numbers. */
const numbered = (bytes: Uint8Array, { end, start }: Region): string => {
  const lines: Array<string> = []
  let number = lineOf(bytes, start)
  for (let at = start; ; number++) {
    if (lines.length === shownLines) return [...lines, `${" ".repeat(6)}\t...`].join("\n")
    lines.push(`${String(number).padStart(6)}\t${excerpt(bytes, at)}`)
    const next = bytes.indexOf(0x0a, at)
    if (next < 0 || next >= end) return lines.join("\n")
    at = next + 1
  }
}

/** Returns the line around an index, or a part of a long one. */
const excerpt = (bytes: Uint8Array, at: number): string => {
  const before = bytes.subarray(Math.max(0, at - shownBytes), at)
  const lineStart = before.lastIndexOf(0x0a) + 1
  const isWhole = lineStart > 0 || at <= shownBytes
  const start = at - before.length + (isWhole ? lineStart : before.length >> 1)
  const part = bytes.subarray(start, Math.max(at, start) + shownBytes)
  const lineEnd = part.indexOf(0x0a, at - start)
  const cut = lineEnd < 0 && start + part.length < bytes.length
  const text = new TextDecoder().decode(lineEnd < 0 ? part : part.subarray(0, lineEnd))
  return `${isWhole ? "" : "..."}${text.replace(/\r$/, "")}${cut ? "..." : ""}`
}
