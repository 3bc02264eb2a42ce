/** Detects the encoding of a file that is not UTF-8 or has CR line ends, and converts its text to UTF-8 and back. */
import { isUtf8 } from "node:buffer"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
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

const variable = (name: string) => Config.withDefault(Config.string(name), "")

/** The name of the encoding that the locale declares, unless that is UTF-8. */
export const ofLocale: Effect.Effect<string | undefined> = Effect.map(
  Effect.orDie(Config.all([variable("LC_ALL"), variable("LC_CTYPE"), variable("LANG")])),
  (names) => {
    const [, given = ""] = /\.([-\w]+)/.exec(names.find((name) => name !== "") ?? "") ?? []
    const name = named(given.replace(/^euc(?=\w)/i, "euc-"))?.name
    return name === "utf-8" ? undefined : name
  }
)

export const label = ({ isCr, name }: Encoding): string =>
  [...(name === "utf-8" ? [] : [name.toUpperCase()]), ...(isCr ? ["lines end in CR"] : [])].join(", ")

export const notAll = (encoding: Encoding): string => `it is not all ${label(encoding)}`
export const unnamed = "It is not UTF-8: name its encoding, as --encoding latin1 or --encoding gbk"

/** The number of bytes at the beginning of a file that `detect` looks at. */
export const examined = 1024
const declarations: ReadonlyArray<RegExp> = [
  /^(?:[^\n]*\n)?[ \t\f]*(?:#|\/\/|\/\*|;|--|%|")[^\n]*?coding[:=][ \t]*["']?([-\w.]+)/,
  /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([-\w.]+)/,
  /<meta\b[^>]*\bcharset\s*=\s*["']?([-\w.]+)/i
]

/** A CR at the end may be half of a CRLF, so it does not count. */
const hasCr = (text: string): boolean => /\r[\s\S]/.test(text) && !text.includes("\n")

/** Matches a text of at least a line, without control characters. */
const isText = /^(?=.*\n)(?=.*[ -~])(?:[\t\r\n]|[^\p{C}\u2028\u2029])+$/su

const utf16Of = (bytes: Buffer): string | undefined => {
  const mark = bytes.toString("latin1", 0, 2)
  if (mark === "\xff\xfe") return "utf-16le"
  if (mark === "\xfe\xff") return "utf-16be"
  // Without a mark, every second byte of ASCII characters is NUL.
  const isIn = (name: string) => isText.test(new TextDecoder(name).decode(bytes.subarray(0, bytes.length & ~1)))
  return bytes.includes(0) ? ["utf-16le", "utf-16be"].find(isIn) : undefined
}

/**
 * Detects the encoding of a file from its beginning, or from all of it: a byte order mark, UTF-16, a declaration, the
 * locale, CR line ends. Undefined for UTF-8.
 *
 * @param local the locale's encoding, for a text that is not UTF-8 and declares nothing
 */
export const detect = (head: Uint8Array, local?: string): Encoding | undefined => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, examined))
  const wide = utf16Of(bytes)
  if (wide !== undefined)
    return { name: wide, isCr: hasCr(new TextDecoder(wide).decode(bytes.subarray(0, bytes.length & ~1))) }
  if (bytes.includes(0)) return undefined
  const text = bytes.toString("latin1")
  const declared = declarations.map((each) => each.exec(text)?.[1]).find((name) => name !== undefined)
  const encoding = declared === undefined || /^utf-?8/i.test(declared) ? undefined : named(declared)
  const isUtf = isUtf8(head.subarray(0, lastStart(head)))
  // Valid UTF-8 with more than ASCII is UTF-8, whatever it declares.
  const isWrong = (isUtf && /[\x80-\xff]/.test(text)) || encoding?.name.startsWith("utf-16") === true
  const isLocal = () =>
    Attempt.orUndefined(() => new TextDecoder(local, { fatal: true }).decode(head, { stream: true })) !== undefined
  const own = isWrong ? undefined : encoding?.name
  const name = own ?? (!isUtf && local !== undefined && isLocal() ? local : "utf-8")
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

/** Decodes all bytes. In Node 20, only the `stream` option makes windows-1252 different from Latin-1. */
const decodeAll = (bytes: Uint8Array, name: string, fatal = false): string => {
  const decoder = new TextDecoder(name, { fatal, ignoreBOM: true })
  return decoder.decode(bytes, { stream: true }) + decoder.decode()
}

/** Counts the decoded characters that are not ASCII: wrong bytes, and letters. */
export class Letters {
  private wrong = 0
  private right = 0

  add(text: string): this {
    this.wrong += text.match(/\ufffd/g)?.length ?? 0
    // A mark says that the text is UTF-8.
    this.right += text.includes("\ufeff") ? Number.POSITIVE_INFINITY : (text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0)
    return this
  }

  /** True if the text was not UTF-8. Some bytes of GBK are letters in UTF-8 by chance. */
  get areForeign(): boolean {
    return this.wrong > this.right
  }
}

/**
 * Decodes a whole file. Undefined if its bytes are not of this encoding, or could not be written back byte for byte.
 */
export const decode = async (bytes: Buffer, encoding: Encoding, isDeclared = false): Promise<string | undefined> => {
  const text = Attempt.orUndefined(() => decodeAll(bytes, encoding.name, true))
  if (text === undefined) return undefined
  // A declaration is wrong if the text is valid UTF-8.
  if (isDeclared && encoding.name !== "utf-8" && isUtf8(bytes) && bytes.some((byte) => byte > 0x7f)) return undefined
  const plain = encoding.isCr ? text.replaceAll("\r", "\n") : text
  const again = await encode(plain, encoding)
  return typeof again !== "string" && again.equals(bytes) ? plain : undefined
}

/** Decodes a whole file in the given or detected encoding. Undefined if it is UTF-8, or not of the given encoding. */
export const open = (bytes: Buffer, given: Encoding | undefined) =>
  Effect.gen(function* () {
    const encoding = given ?? detect(bytes, yield* ofLocale)
    const text = encoding && (yield* Effect.promise(() => decode(bytes, encoding, given === undefined)))
    return text === undefined ? undefined : { encoding, text }
  })

/** Encodes a text, or says which character the encoding lacks. */
export const encode = async (text: string, encoding: Encoding): Promise<Buffer | string> => {
  const { isCr, name } = encoding
  const own = isCr ? text.replaceAll("\n", "\r") : text
  if (name === "utf-8") return Buffer.from(own)
  const { default: iconv } = await import("iconv-lite")
  const bytes = iconv.encode(own, name, { addBOM: false })
  const back = decodeAll(bytes, name)
  if (back === own) return bytes
  const [characters, there] = [[...own], [...back]]
  const lacking = characters.find((character, at) => character !== there[at]) ?? ""
  return `${label(encoding)} has no ${lacking}`
}
