/**
 * Converts bash words to text and back. Words are bytes, not always UTF-8. The text has a lone surrogate (U+DC80 to
 * U+DCFF) for each byte that is not UTF-8. UTF-8 never yields those, so every word comes back byte for byte.
 *
 * @since 0.1.0
 */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Decodes bytes into text. Valid UTF-8 decodes as with a TextDecoder that keeps the byte order mark.
 *
 * @since 0.1.0
 * @category conversions
 */
export const decode = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    return withEscapes(bytes)
  }
}

const withEscapes = (bytes: Uint8Array): string => {
  // No character has more UTF-16 units than bytes.
  const units = Buffer.allocUnsafe(2 * bytes.length)
  let end = 0
  const put = (unit: number): void => {
    units[end++] = unit & 0xff
    units[end++] = unit >> 8
  }
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number
    const length = lengthAt(bytes, at)
    if (length < 2) put(length === 0 ? 0xdc00 + first : first)
    else {
      let point = first & (0xff >> (length + 1))
      for (let next = at + 1; next < at + length; next++) point = (point << 6) | ((bytes[next] as number) & 0x3f)
      if (point > 0xffff) put(0xd7c0 + (point >> 10))
      put(point > 0xffff ? 0xdc00 + (point & 0x3ff) : point)
    }
    at += Math.max(length, 1)
  }
  return units.toString("utf16le", 0, end)
}

/** Returns the length in bytes of the character at a position; 0 for none (The Unicode Standard, table 3-7). */
const lengthAt = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] as number
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  // Excludes overlong forms, surrogates, and everything above U+10FFFF.
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = bytes[at + 1] ?? 0
  if (second < least || second > most) return 0
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let next = at + 2; next < at + length; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** Matches a surrogate that may stand for a byte; an emoji contains one too. */
const surrogate = /[\udc80-\udcff]/

/**
 * Encodes text into bytes, exactly as they were for a text from `decode`. A surrogate that stands for no byte becomes
 * U+FFFD.
 *
 * @since 0.1.0
 * @category conversions
 */
export const encode = (text: string): Buffer => {
  if (!surrogate.test(text)) return Buffer.from(text)
  let bytes: Buffer | undefined
  let end = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0xd800 || unit > 0xdcff) continue
    if (unit < 0xdc00) {
      // Followed by a low surrogate, it is part of a character.
      if ((text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at++
    } else if (unit >= 0xdc80) {
      bytes ??= Buffer.allocUnsafeSlow(Buffer.byteLength(text))
      if (at > from) end += bytes.write(text.slice(from, at), end)
      bytes[end++] = unit - 0xdc00
      from = at + 1
    }
  }
  if (bytes === undefined) return Buffer.from(text)
  end += bytes.write(text.slice(from), end)
  return bytes.subarray(0, end)
}

/**
 * Quotes a text for a message: in double quotes and on one line. Control characters are escaped as in JSON, bytes as
 * `\xff`.
 *
 * @since 0.1.0
 * @category quoting
 */
export const quoted = (text: string): string =>
  JSON.stringify(text).replace(/\\(?:udc([89a-f][0-9a-f])|.)/g, (escape, byte: string | undefined) =>
    byte === undefined ? escape : `\\x${byte}`
  )
