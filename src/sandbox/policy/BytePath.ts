/**
 * Carries paths that are not UTF-8 as strings. Each stray byte becomes a lone surrogate (U+DC80 to U+DCFF), and becomes
 * the byte again when the path is given to the system.
 */
import * as Fs from "node:fs"

/** Matches the longest run of UTF-8, or one stray byte; each character stands for a byte. */
const run =
  /(?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+|[\s\S]/g

/** The character that decoders substitute for a byte that is not UTF-8. */
const replacement = "\ufffd"

const foreign = /[\udc80-\udcff]/u

/** Tests whether a decoded text may have lost stray bytes, so that the original bytes must be read again. */
export const isDoubtful = (text: string): boolean => text.includes(replacement)

/** Decodes the bytes of a path, so that `encode` returns the same bytes. */
export const decode = (bytes: Buffer): string => {
  const text = bytes.toString()
  if (!isDoubtful(text)) return text
  return bytes
    .toString("latin1")
    .replace(run, (part) =>
      part.length === 1 && part >= "\x80"
        ? String.fromCharCode(0xdc00 + part.charCodeAt(0))
        : Buffer.from(part, "latin1").toString()
    )
}

// Longer pieces would exhaust the matcher's stack.
const pieces = /[\udc80-\udcff]{1,4096}|[^\udc80-\udcff]{1,4096}/gu

/** Encodes a text that may hold paths. */
export const encode = (text: string): Buffer =>
  foreign.test(text)
    ? Buffer.concat(
        Array.from(text.matchAll(pieces), ([piece]) =>
          foreign.test(piece) ? Buffer.from(piece, "latin1") : Buffer.from(piece)
        )
      )
    : Buffer.from(text)

/** Returns a path in the form that `node:fs` takes. */
export const toHost = (path: string): string | Buffer => (foreign.test(path) ? encode(path) : path)

/** Resolves all symbolic links of an existing path. Throws the system's error. */
export const realPath = (path: string): string => {
  const real = Fs.realpathSync.native(toHost(path))
  return isDoubtful(real) ? decode(Fs.realpathSync.native(toHost(path), "buffer")) : real
}

/** Returns the names in a directory. Throws the system's error. */
export const namesIn = (path: string): ReadonlyArray<string> => Fs.readdirSync(toHost(path), "buffer").map(decode)

/** Reads the target of a symbolic link. Throws the system's error. */
export const readLink = (path: string): string => {
  const target = Fs.readlinkSync(toHost(path))
  return isDoubtful(target) ? decode(Fs.readlinkSync(toHost(path), "buffer")) : target
}
