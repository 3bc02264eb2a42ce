/**
 * Finds bytes in bytes, in time proportional to the file, whatever is looked for (the algorithm of Knuth, Morris and
 * Pratt). Node's own `indexOf` takes two minutes to find a long run of `a` in 100 MB of `a`.
 *
 * @since 0.1.0
 */

/**
 * Returns, for each prefix of the pattern, the length of the longest shorter prefix that it ends in.
 *
 * @since 0.1.0
 */
export const prefixTable = (pattern: Uint8Array): Int32Array => {
  const table = new Int32Array(pattern.length)
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern[length] !== pattern[at]) length = table[length - 1] as number
    if (pattern[length] === pattern[at]) length++
    table[at] = length
  }
  return table
}

/**
 * A pattern of bytes, prepared to be found in files.
 *
 * @since 0.1.0
 */
export class Pattern {
  private readonly table: Int32Array

  /** @param bytes not empty */
  constructor(readonly bytes: Uint8Array) {
    this.table = prefixTable(bytes)
  }

  /** Returns the index of its first occurrence from `start` on; -1 where there is none. */
  indexIn(bytes: Uint8Array, start: number): number {
    const { bytes: pattern, table } = this
    const first = pattern[0]
    const last = pattern.length - 1
    for (let at = start, length = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      while (length > 0 && pattern[length] !== byte) length = table[length - 1] as number
      if (length === 0) {
        while (at < bytes.length && bytes[at] !== first) at++
        if (at === bytes.length) return -1
      }
      if (length === last) return at - last
      length++
    }
    return -1
  }

  /** Counts its occurrences from `start` on, from the left and without overlaps. */
  countIn(bytes: Uint8Array, start: number): number {
    let count = 0
    for (let at = this.indexIn(bytes, start); at >= 0; at = this.indexIn(bytes, at + this.bytes.length)) count++
    return count
  }

  /**
   * Yields the bytes with the match at `first` replaced, and with `all` every match behind it, in chunks of a size for
   * sending.
   */
  *replacedIn(bytes: Uint8Array, first: number, replacement: Uint8Array, all: boolean): Generator<Uint8Array> {
    let packet = Buffer.allocUnsafeSlow(packetSize)
    let used = 0
    let from = 0
    for (let at = first; at >= 0; at = all ? this.indexIn(bytes, from) : -1) {
      const needed = at - from + replacement.length
      if (used > 0 && used + needed > packetSize) {
        yield packet.subarray(0, used)
        packet = Buffer.allocUnsafeSlow(packetSize)
        used = 0
      }
      if (needed > packetSize) {
        yield* packetsOf(bytes.subarray(from, at))
        yield* packetsOf(replacement)
      } else {
        copy(bytes, from, at, packet, used)
        copy(replacement, 0, replacement.length, packet, used + at - from)
        used += needed
      }
      from = at + this.bytes.length
    }
    if (used > 0) yield packet.subarray(0, used)
    yield* packetsOf(bytes.subarray(from))
  }
}

const packetSize = 256 * 1024

function* packetsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += packetSize) yield bytes.subarray(at, at + packetSize)
}

const copy = (source: Uint8Array, start: number, end: number, target: Uint8Array, to: number): void => {
  // A view of a few bytes takes longer to make than to copy.
  if (end - start > 64) target.set(source.subarray(start, end), to)
  else for (let at = start; at < end; at++) target[to + at - start] = source[at] as number
}
