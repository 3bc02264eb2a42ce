/** Counts and skips newlines among bytes, four bytes at a time: some 3 GB/s, whatever the length of the lines. */

const newline = 0x0a

/** Counts the newlines among the bytes. */
export const count = (bytes: Uint8Array): number => {
  if (bytes.length < 16) return countSingly(bytes, 0, bytes.length)
  const aligned = -bytes.byteOffset & 3
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, (bytes.length - aligned) >>> 2)
  let found = countSingly(bytes, 0, aligned) + countSingly(bytes, aligned + words.length * 4, bytes.length)
  for (let at = 0; at < words.length; ) {
    // Each of the four bytes of `sums` counts up to 255.
    const end = Math.min(words.length, at + 255)
    let sums = 0
    for (; at < end; at++) {
      const word = (words[at] as number) ^ 0x0a0a0a0a
      // The high bit of every byte that is zero, moved to its low bit.
      sums = (sums + (~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f) >>> 7)) | 0
    }
    found += (sums & 255) + ((sums >>> 8) & 255) + ((sums >>> 16) & 255) + (sums >>> 24)
  }
  return found
}

const countSingly = (bytes: Uint8Array, start: number, end: number): number => {
  let found = 0
  for (let at = start; at < end; at++) if (bytes[at] === newline) found++
  return found
}

/** The number of bytes that are counted at once before a line's end is looked for. */
const block = 16 * 1024

/**
 * Skips lines at the beginning. Returns the index behind the last newline skipped (`bytes.length` where there are too
 * few lines), and the number of lines skipped.
 */
export const skip = (bytes: Uint8Array, lines: number): { readonly index: number; readonly skipped: number } => {
  if (lines === 0) return { index: 0, skipped: 0 }
  let skipped = 0
  for (let start = 0; start < bytes.length; start += block) {
    const inBlock = count(bytes.subarray(start, start + block))
    if (skipped + inBlock < lines) {
      skipped += inBlock
      continue
    }
    for (let at = start; ; at++) {
      if (bytes[at] === newline && ++skipped === lines) return { index: at + 1, skipped }
    }
  }
  return { index: bytes.length, skipped }
}
