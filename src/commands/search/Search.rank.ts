/**
 * Ranks commands by how well they fit the words of a search.
 *
 * @since 0.1.0
 */
import * as Similar from "../../domain/Similar.js"
import type * as Slices from "../../domain/Slices.js"
import type { Entry, Kind } from "./Search.entry.js"

/**
 * The result of a ranking.
 *
 * @since 0.1.0
 * @category models
 */
export interface Ranked {
  /** The commands that fit, the best first. */
  readonly entries: ReadonlyArray<Entry>
  /** True where none fits all of the words: these fit the most of them. */
  readonly isPartial: boolean
}

/** The ranks of a word for a command: smaller is better. */
const rank = {
  exact: 0,
  prefix: 1,
  word: 2,
  wordPrefix: 3,
  inName: 4,
  described: 5,
  describedPrefix: 6,
  near: 8
} as const

/** The number of entries that are ranked between two rests. */
const stride = 200

/** The kinds in the order in which they stand where their commands fit equally well. */
const order: Readonly<Record<Kind, number>> = { agent: 0, extension: 1, mcp: 1, skill: 1, native: 2 }

/**
 * Splits what was searched for into its words, in small letters.
 *
 * @since 0.1.0
 * @category parsing
 */
export const wordsOf = (patterns: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(patterns.flatMap((pattern) => pattern.toLowerCase().split(/\s+/)).filter((word) => word !== ""))
]

/** Returns the rank of a word for an entry; undefined where it does not fit. */
const rankOf = (word: string, { full, key, kind, text, words }: Entry): number | undefined => {
  if (key === word) return rank.exact
  if (key.startsWith(word) || full.startsWith(word)) return rank.prefix
  if (words.includes(word)) return rank.word
  if (words.some((one) => one.startsWith(word))) return rank.wordPrefix
  if (key.includes(word)) return rank.inName
  if (kind === "native") return undefined
  const at = text.indexOf(` ${word}`)
  if (at < 0) return undefined
  return text.includes(` ${word} `) ? rank.described : rank.describedPrefix
}

/** Ranks names that are nearly a word, which takes its time: each word of the names is compared once. */
class Nearness {
  private readonly known = new Map<string, boolean>()

  constructor(private readonly word: string) {}

  rankOf({ key, kind, words }: Entry): number | undefined {
    const isNear = kind === "native" ? this.isNear(key) : words.some((one) => this.isNear(one)) || this.isNear(key)
    return isNear ? rank.near : undefined
  }

  private isNear(name: string): boolean {
    const known = this.known.get(name)
    if (known !== undefined) return known
    const isNear = Similar.isNear(this.word)(name)
    this.known.set(name, isNear)
    return isNear
  }
}

interface Scored {
  readonly entry: Entry
  /** The number of words that do not fit. */
  readonly missed: number
  readonly score: number
}

const scoreOf = (words: ReadonlyArray<string>, entry: Entry, near: ReadonlyArray<Nearness>): Scored => {
  let missed = 0
  let score = 0
  for (const [at, word] of words.entries()) {
    const found = rankOf(word, entry) ?? near[at]?.rankOf(entry)
    if (found === undefined) missed++
    else score += found
  }
  return { entry, missed, score }
}

/** The system's programs come after all of ours, but for one of exactly this name. */
const isLate = ({ entry, score }: Scored): number => (entry.kind === "native" && score > rank.exact ? 1 : 0)

/** A skill's programs come after what loads one. */
const isPart = ({ entry: { kind, name } }: Scored): number => (kind === "skill" && /:.*:/.test(name) ? 1 : 0)

const compare = (a: Scored, b: Scored): number =>
  a.missed - b.missed ||
  isLate(a) - isLate(b) ||
  a.score - b.score ||
  order[a.entry.kind] - order[b.entry.kind] ||
  isPart(a) - isPart(b) ||
  (a.entry.name < b.entry.name ? -1 : a.entry.name > b.entry.name ? 1 : 0)

function* scored(
  entries: ReadonlyArray<Entry>,
  words: ReadonlyArray<string>,
  near: ReadonlyArray<Nearness>
): Slices.Steps<ReadonlyArray<Scored>> {
  const fitting: Array<Scored> = []
  for (const [at, entry] of entries.entries()) {
    const one = scoreOf(words, entry, near)
    if (one.missed < words.length || words.length === 0) fitting.push(one)
    if (at % stride === stride - 1) yield
  }
  return fitting
}

/**
 * Ranks entries. A command fits where all words do: its name, the beginning of its name, a word of it, a part of it, or
 * words of its summary, in this order. Where none does, names are taken that are nearly so, and then those which the most of
 * the words fit. Without words, all fit.
 *
 * @since 0.1.0
 * @category ranking
 */
export function* steps(entries: ReadonlyArray<Entry>, words: ReadonlyArray<string>): Slices.Steps<Ranked> {
  let found = yield* scored(entries, words, [])
  if (!found.some(({ missed }) => missed === 0)) {
    const near = words.map((word) => new Nearness(word))
    found = yield* scored(entries, words, near)
  }
  const least = found.reduce((least, { missed }) => Math.min(least, missed), words.length)
  const best = found.filter(({ missed }) => missed === least).sort(compare)
  return { entries: best.map(({ entry }) => entry), isPartial: least > 0 }
}
