/** Decodes the escapes of bash's `$'…'`. */

const single: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?"
}

const escape =
  /\\(?:([0-7]{1,3})|x\{([0-9A-Fa-f]*)\}?|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(\\\\|[\s\S])|([\s\S]))/g

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export interface Decoded {
  readonly text: string
  /** True if bash gets the same bytes in every locale: they are UTF-8, and no escape depends on the locale. */
  readonly exact: boolean
}

/** Decodes the text between `$'` and `'` as bash does. A NUL ends it, as in bash. */
export const read = (text: string): Decoded => {
  if (!text.includes("\\")) return { text, exact: true }
  // Octal and hexadecimal escapes are bytes; several of them may make one character.
  const bytes: Array<number> = []
  let everywhere = true
  const put = (part: string) => {
    for (const byte of encoder.encode(part)) bytes.push(byte)
  }
  let end = 0
  for (const match of text.matchAll(escape)) {
    put(text.slice(end, match.index))
    end = match.index + match[0].length
    const [written, octal, braced, hex, short, long, control, other] = match
    const point = short ?? long
    if (point !== undefined) {
      const code = Number.parseInt(point, 16)
      if (code === 0) return decoded(bytes, everywhere)
      if (code >= 0x80) everywhere = false
      put(code <= 0x10ffff ? String.fromCodePoint(code) : written)
    } else if (other !== undefined) put(single[other] ?? written)
    else {
      const code = control === undefined ? byteOf(octal, braced ?? hex ?? "") : controlOf(control)
      if (code === 0) return decoded(bytes, everywhere)
      bytes.push(code)
    }
  }
  put(text.slice(end))
  return decoded(bytes, everywhere)
}

export const decode = (text: string): string => read(text).text

const byteOf = (octal: string | undefined, hex: string): number =>
  octal !== undefined ? Number.parseInt(octal, 8) & 0xff : Number.parseInt(hex.slice(-2) || "0", 16)

/** Returns the byte of a control escape. bash takes only the first byte of a multibyte character. */
const controlOf = (character: string): number => {
  const code = character.toUpperCase().charCodeAt(0)
  return code === 0x3f ? 0x7f : code > 0x7f ? 0xff : code & 0x1f
}

const decoded = (bytes: ReadonlyArray<number>, everywhere: boolean): Decoded => {
  const given = Uint8Array.from(bytes)
  const text = decoder.decode(given)
  const again = encoder.encode(text)
  return { text, exact: everywhere && again.length === given.length && again.every((byte, at) => byte === given[at]) }
}
