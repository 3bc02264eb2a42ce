/**
 * Finds and replaces bytes in linear time (Knuth-Morris-Pratt). Node's `indexOf` takes two minutes to find a long run
 * of `a` in 100 MB of `a`.
 */
import type { Steps } from "../../../domain/Yield.js"
import * as Newlines from "../../../files/Newlines.js"

/** The number of bytes between two yields. */
export const stride = 256 * 1024

/** Returns, for each prefix of the pattern, the length of its longest proper prefix that is also its suffix. */
export const prefixTable = (pattern: ArrayLike<unknown>): Int32Array => {
  const table = new Int32Array(pattern.length)
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern[length] !== pattern[at]) length = table[length - 1] as number
    if (pattern[length] === pattern[at]) length++
    table[at] = length
  }
  return table
}

/**
 * Yields the index of each occurrence from the left, without overlaps. Yields undefined in between, where work may
 * pause.
 */
function* occurrences(bytes: Uint8Array, pattern: Uint8Array): Generator<number | undefined, void> {
  const table = prefixTable(pattern)
  const first = pattern[0] as number
  const whole = pattern.length
  for (let at = 0, length = 0, rest = stride; at < bytes.length; at++) {
    if (at >= rest) {
      rest = at + stride
      yield undefined
    }
    const byte = bytes[at]
    while (length > 0 && pattern[length] !== byte) length = table[length - 1] as number
    if (length === 0 && byte !== first) {
      at = bytes.indexOf(first, at)
      if (at < 0) return
    }
    if (++length < whole) continue
    length = 0
    yield at + 1 - whole
  }
}

/** The most occurrences whose lines are counted. */
const mostLines = 11

export interface Found {
  readonly count: number
  readonly first: number
  /** The line numbers of the first occurrences. */
  readonly lines: ReadonlyArray<number>
}

/** Counts the occurrences of a pattern, which must not be empty. */
export function* find(bytes: Uint8Array, pattern: Uint8Array): Steps<Found> {
  const lines: Array<number> = []
  let [count, first, line, counted] = [0, -1, 1, 0]
  for (const at of occurrences(bytes, pattern)) {
    if (at === undefined) yield
    else {
      if (count++ === 0) first = at
      if (lines.length === mostLines) continue
      line += Newlines.count(bytes.subarray(counted, at))
      counted = at
      lines.push(line)
    }
  }
  return { count, first, lines }
}

/**
 * Returns the file with the first or all occurrences replaced.
 *
 * @param size the new size in bytes
 */
export function* replaced(
  bytes: Uint8Array,
  pattern: Uint8Array,
  replacement: Uint8Array,
  { all, size }: { readonly all: boolean; readonly size: number }
): Steps<Uint8Array> {
  const out = new Uint8Array(size)
  let [from, to] = [0, 0]
  const put = (piece: Uint8Array) => {
    out.set(piece, to)
    to += piece.length
  }
  for (const at of occurrences(bytes, pattern)) {
    if (at === undefined) yield
    else {
      put(bytes.subarray(from, at))
      put(replacement)
      from = at + pattern.length
      if (!all) break
    }
  }
  put(bytes.subarray(from))
  return out
}
