/**
 * The escapes of `$'…'`.
 *
 * @since 0.1.0
 */

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

const escape = /\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c([\s\S])|([\s\S]))/g

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * What bash makes of the text between `$'` and `'`. A NUL ends it, as in bash.
 *
 * @since 0.1.0
 */
export const decode = (text: string): string => {
  if (!text.includes("\\")) return text
  // Octal and hexadecimal escapes are bytes, and several of them may be one character.
  const bytes: Array<number> = []
  const put = (part: string) => {
    for (const byte of encoder.encode(part)) bytes.push(byte)
  }
  let end = 0
  for (const match of text.matchAll(escape)) {
    put(text.slice(end, match.index))
    end = match.index + match[0].length
    const [, octal, hex, short, long, control, other] = match
    const code =
      octal !== undefined ? Number.parseInt(octal, 8) & 0xff : hex !== undefined ? Number.parseInt(hex, 16) : undefined
    const point = short ?? long
    const ends = code === 0 || (point !== undefined && Number.parseInt(point, 16) === 0)
    if (ends) return decoder.decode(new Uint8Array(bytes))
    if (code !== undefined) bytes.push(code)
    else if (point !== undefined) put(character(Number.parseInt(point, 16), match[0]))
    else if (control !== undefined) put(String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f))
    else put(single[other as string] ?? match[0])
  }
  put(text.slice(end))
  return decoder.decode(new Uint8Array(bytes))
}

const character = (point: number, written: string): string =>
  point <= 0x10ffff ? String.fromCodePoint(point) : written
