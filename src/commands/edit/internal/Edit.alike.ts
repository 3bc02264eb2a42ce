/**
 * Finds text whose characters look the same but differ: other blanks, quotes and dashes, invisible characters, letters
 * composed or decomposed.
 */
import type { Steps } from "../../../domain/Yield.js"

/** The character that each is compared as. Invisible ones are left out. */
const kinds: ReadonlyArray<readonly [signs: RegExp, plain: string]> = [
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/u, " "],
  [/[\u00ad\u200b-\u200d\u2060\ufeff]/u, ""],
  [/[\u2018-\u201b\u2032]/u, "'"],
  [/[\u201c-\u201f\u2033]/u, '"'],
  [/[\u2010-\u2015\u2212]/u, "-"],
  [/\u2026/u, "..."]
]

const clusters = /\r\n|\P{M}\p{M}*|\p{M}+/gsu
const isPlain = /^[\0-\x7f]*$/

/** A text as it is compared. `at` maps each of its characters, and its end, to an index in the original text. */
interface Folded {
  readonly text: string
  readonly at: ReadonlyArray<number>
}

const plainOf = (cluster: string): string => {
  if (cluster === "\r\n") return "\n"
  const composed = cluster.normalize("NFC")
  return kinds.find(([signs]) => composed.length === 1 && signs.test(composed))?.[1] ?? composed
}

const fold = (text: string): Folded => {
  const at: Array<number> = []
  let folded = ""
  for (const { 0: cluster, index } of text.matchAll(clusters)) {
    const plain = isPlain.test(cluster) && cluster !== "\r\n" ? cluster : plainOf(cluster)
    folded += plain
    for (let each = 0; each < plain.length; each++) at.push(index)
  }
  at.push(text.length)
  return { text: folded, at }
}

/** Returns a text as it is compared. */
export const key = (text: string): string => (isPlain.test(text) ? text : fold(text).text)

/** The largest file that is searched, and the part that is folded at once, in bytes. */
const largest = 4 * 1024 ** 2
const stride = 64 * 1024

/** Folds a text a few lines at a time. */
function* folded(text: string): Steps<Folded> {
  const parts: Array<string> = []
  const at: Array<number> = []
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start + stride) + 1 || text.length
    const part = fold(text.slice(start, end))
    parts.push(part.text)
    for (const index of part.at.slice(0, -1)) at.push(start + index)
    start = end
    yield
  }
  at.push(text.length)
  return { text: parts.join(""), at }
}
const mostNamed = 3

const codeOf = (cluster: string): string =>
  Array.from(cluster, (sign) => `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`).join("+")

/** Names the characters that only one of two texts has. */
const namesOf = (own: string, wanted: string): string => {
  const signs = [own, wanted].flatMap((text, at) =>
    (text.match(clusters) ?? []).filter(
      (cluster) => cluster !== "\r\n" && plainOf(cluster) !== cluster && !(at === 0 ? wanted : own).includes(cluster)
    )
  )
  const all = [...new Set(signs.map(codeOf))]
  return all.length > mostNamed ? `${all.slice(0, mostNamed).join(", ")}, …` : all.join(", ")
}

/** A part of a file that looks like a text. */
export interface Alike {
  /** Indices of its first byte, and behind its last. */
  readonly start: number
  readonly end: number
  readonly own: string
  /** Names of the characters that differ. */
  readonly names: string
  readonly count: number
}

/**
 * Finds the first part of a file that looks like the wanted text, and counts such parts. Undefined for a binary file,
 * or if nothing is alike.
 */
export function* find(bytes: Buffer, wanted: string): Steps<Alike | undefined> {
  const pattern = key(wanted)
  if (pattern.trim() === "" || bytes.length > largest) return undefined
  const file = bytes.toString()
  if (isPlain.test(file) && isPlain.test(wanted)) return undefined
  const { at, text } = yield* folded(file)
  const first = text.indexOf(pattern)
  if (first < 0) return undefined
  let count = 1
  for (let next = text.indexOf(pattern, first + pattern.length); next >= 0; count++)
    next = text.indexOf(pattern, next + pattern.length)
  const [from, to] = [at[first] ?? 0, at[first + pattern.length] ?? file.length]
  const own = file.slice(from, to)
  const start = Buffer.byteLength(file.slice(0, from))
  const end = start + Buffer.byteLength(own)
  // The byte offsets are wrong if the file has bytes that are not UTF-8.
  if (bytes.toString("utf8", start, end) !== own) return undefined
  return { start, end, own, names: namesOf(own, wanted), count }
}

/**
 * Applies a replacement to a part that looks like the old text. Text that the replacement keeps stays in the file's own
 * characters.
 */
export const carry = (own: string, old: string, next: string): string => {
  let [head, tail] = [0, 0]
  const shorter = Math.min(old.length, next.length)
  while (head < shorter && old[head] === next[head]) head++
  while (tail < shorter - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail++
  const between = next.slice(head, next.length - tail)
  // Both quotes of a pair must come from the same side.
  if (/["']/.test(between) && /[\u2018-\u201f]/.test(own)) [head, tail] = [0, 0]
  const { at } = fold(own)
  const indexOf = (length: number) => at[key(old.slice(0, length)).length] ?? own.length
  const middle = next.slice(head, next.length - tail)
  const put = own.includes("\r\n") ? middle.replace(/\r?\n/g, "\r\n") : middle
  return own.slice(0, indexOf(head)) + put + own.slice(indexOf(old.length - tail))
}
