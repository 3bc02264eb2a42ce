/**
 * Finds the lines of a file that are most similar to a line: by their trigrams in one pass over the file, and the best
 * of them by their longest common subsequence.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"
import { folded, type Region } from "./Edit.loose.js"
import { stride } from "./Edit.matches.js"

/** The number of lines that the first pass keeps for the second. */
const kept = 16
/** The number of bytes of a line that the second pass compares. */
const compared = 300
/** The least similarity that counts, between 0 (nothing in common) and 1 (the same except for white space and case). */
const least = 0.6
/** The most by which a line may be less similar than the best one. */
const margin = 0.2

interface Scored extends Region {
  readonly score: number
}

/**
 * Finds the lines that are most similar to a line, the most similar first, in time proportional to the file.
 *
 * @since 0.1.0
 */
export function* find(bytes: Uint8Array, line: Uint8Array, most: number): Steps<ReadonlyArray<Region>> {
  const key = fold(line)
  return (yield* candidates(bytes, key))
    .map(({ end, start }) => ({ start, end, score: similarity(fold(bytes.subarray(start, end)), key) }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.start - b.start)
    .filter(({ score }, _, [best]) => score >= (best?.score ?? 0) - margin)
    .slice(0, most)
}

const fold = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes.subarray(0, 2 * compared), (byte) => folded[byte] as number)
    .filter((byte) => byte !== 0)
    .subarray(0, compared)

/** Returns a hash of the last three bytes. */
const next = (hash: number, byte: number): number => ((hash << 5) ^ byte) & 0x7fff

function* candidates(bytes: Uint8Array, key: Uint8Array): Steps<ReadonlyArray<Scored>> {
  const trigrams = new Uint8Array(0x8000)
  let wanted = 0
  for (let at = 0, hash = 0; at < key.length; at++) {
    hash = next(hash, key[at] as number)
    if (at < 2 || trigrams[hash] === 1) continue
    trigrams[hash] = 1
    wanted++
  }
  const best: Array<Scored> = []
  if (wanted === 0) return best
  let worst = 0.3
  const end = (start: number, end: number, length: number, shared: number) => {
    const score = (2 * Math.min(shared, wanted)) / (wanted + Math.max(length - 2, 1))
    if (score <= worst) return
    const rank = best.findIndex((other) => other.score < score)
    best.splice(rank < 0 ? best.length : rank, 0, { start, end, score })
    if (best.length > kept) best.pop()
    if (best.length === kept) worst = (best[kept - 1] as Scored).score
  }
  const table = folded
  let start = 0
  let length = 0
  let shared = 0
  let hash = 0
  for (let from = 0; from < bytes.length; from += stride) {
    const until = Math.min(from + stride, bytes.length)
    for (let at = from; at < until; at++) {
      const byte = table[bytes[at] as number] as number
      if (byte !== 0) {
        hash = next(hash, byte)
        if (++length > 2) shared += trigrams[hash] as number
      } else if (bytes[at] === 0x0a) {
        if (shared > 0) end(start, at, length, shared)
        start = at + 1
        length = 0
        shared = 0
        hash = 0
      }
    }
    if (until < bytes.length) yield
  }
  if (shared > 0) end(start, bytes.length, length, shared)
  return best
}

/** Returns twice the length of the longest common subsequence, divided by the sum of both lengths. */
const similarity = (a: Uint8Array, b: Uint8Array): number => {
  let row = new Uint16Array(b.length + 1)
  for (const byte of a) {
    const above = row
    row = new Uint16Array(b.length + 1)
    for (let at = 0; at < b.length; at++) {
      row[at + 1] = b[at] === byte ? (above[at] as number) + 1 : Math.max(row[at] as number, above[at + 1] as number)
    }
  }
  return (2 * (row[b.length] as number)) / (a.length + b.length)
}
