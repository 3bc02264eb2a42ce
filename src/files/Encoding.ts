/** Detects the encoding of a file that is not UTF-8 or has CR line ends, and converts its text to UTF-8 and back. */
import { isUtf8 } from "node:buffer"
import * as Attempt from "../domain/Attempt.js"

/** How a text is written in a file. */
export interface Encoding {
  /** The name in the Encoding Standard: `utf-16le`. */
  readonly name: string
  /** True if lines end in CR alone, as in files of old Macs. */
  readonly isCr: boolean
}

/** Returns the encoding with a name such as `latin1`, or undefined for an unknown name. */
export const named = (name: string): Encoding | undefined =>
  // Python writes `latin-1`.
  Attempt.orUndefined(() => ({ name: new TextDecoder(name.replace(/^latin[-_]/i, "latin")).encoding, isCr: false }))

export const label = ({ isCr, name }: Encoding): string =>
  [...(name === "utf-8" ? [] : [name.toUpperCase()]), ...(isCr ? ["lines end in CR"] : [])].join(", ")

/** The number of bytes at the beginning of a file that `detect` looks at. */
export const examined = 1024
const declarations: ReadonlyArray<RegExp> = [
  /^(?:[^\n]*\n)?[ \t\f]*(?:#|\/\/|\/\*|;|--|%|")[^\n]*?coding[:=][ \t]*["']?([-\w.]+)/,
  /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([-\w.]+)/,
  /<meta\b[^>]*\bcharset\s*=\s*["']?([-\w.]+)/i
]

/** A CR at the end may be half of a CRLF, so it does not count. */
const hasCr = (text: string): boolean => /\r[\s\S]/.test(text) && !text.includes("\n")

/**
 * Detects the encoding of a file from its beginning: a byte order mark, a declaration, CR line ends. Undefined for
 * UTF-8.
 */
export const detect = (head: Uint8Array): Encoding | undefined => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, examined))
  const [first, second] = bytes
  const marked =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : undefined
  if (marked !== undefined)
    return { name: marked, isCr: hasCr(new TextDecoder(marked).decode(bytes.subarray(0, bytes.length & ~1))) }
  if (bytes.includes(0)) return undefined
  const text = bytes.toString("latin1")
  const declared = declarations.map((each) => each.exec(text)?.[1]).find((name) => name !== undefined)
  const encoding = declared === undefined || /^utf-?8/i.test(declared) ? undefined : named(declared)
  // Valid UTF-8 with more than ASCII is UTF-8, whatever it declares.
  const isMore = /[\x80-\xff]/.test(text) && isUtf8(bytes.subarray(0, lastStart(bytes)))
  const name = encoding === undefined || isMore || encoding.name.startsWith("utf-16") ? "utf-8" : encoding.name
  const isCr = hasCr(text)
  return name === "utf-8" && !isCr ? undefined : { name, isCr }
}

/** Returns the index of the last character of UTF-8, which may be cut off. */
const lastStart = (bytes: Uint8Array): number => {
  let at = bytes.length - 1
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return (bytes[at] ?? 0) < 0x80 ? bytes.length : at
}

/** Makes a function that converts the bytes of a file to UTF-8, chunk by chunk. A call without bytes ends the text. */
export const toUtf8 = ({ isCr, name }: Encoding): ((bytes?: Uint8Array) => Uint8Array) => {
  const decoder = new TextDecoder(name)
  return (bytes) => {
    const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    return Buffer.from(isCr ? text.replaceAll("\r", "\n") : text)
  }
}

/**
 * Decodes a whole file. Undefined if its bytes are not of this encoding, or could not be written back byte for byte.
 */
export const decode = async (bytes: Buffer, encoding: Encoding, isDeclared = false): Promise<string | undefined> => {
  const text = Attempt.orUndefined(() => new TextDecoder(encoding.name, { fatal: true, ignoreBOM: true }).decode(bytes))
  if (text === undefined) return undefined
  // A declaration is wrong if the text is valid UTF-8.
  if (isDeclared && encoding.name !== "utf-8" && isUtf8(bytes) && bytes.some((byte) => byte > 0x7f)) return undefined
  const plain = encoding.isCr ? text.replaceAll("\r", "\n") : text
  const again = await encode(plain, encoding)
  return typeof again !== "string" && again.equals(bytes) ? plain : undefined
}

/** Encodes a text, or returns the first character that the encoding lacks. */
export const encode = async (text: string, { isCr, name }: Encoding): Promise<Buffer | string> => {
  const own = isCr ? text.replaceAll("\n", "\r") : text
  if (name === "utf-8") return Buffer.from(own)
  const { default: iconv } = await import("iconv-lite")
  const bytes = iconv.encode(own, name, { addBOM: false })
  const back = new TextDecoder(name, { ignoreBOM: true }).decode(bytes)
  if (back === own) return bytes
  const [characters, there] = [[...own], [...back]]
  return characters.find((character, at) => character !== there[at]) ?? ""
}
