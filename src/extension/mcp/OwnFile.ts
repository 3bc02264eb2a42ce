/**
 * Reads a file whose content is to be believed: once, by its descriptor, without following a link in its place, and never
 * more of it than a bound.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Data from "effect/Data"

/**
 * The thing that was found in the place of a file.
 *
 * @since 0.1.0
 * @category models
 */
export type OwnFile = Data.TaggedEnum<{
  Missing: object
  /** Something that is not read, with the reason. */
  Refused: { readonly reason: string }
  /** The bytes, and their SHA-256 in hexadecimal digits. */
  Content: { readonly bytes: Uint8Array; readonly sha256: string }
}>

/**
 * Makes what was found, and takes it apart with `$match`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const OwnFile = Data.taggedEnum<OwnFile>()

/**
 * The conditions of reading a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Conditions {
  /** The most bytes. */
  readonly most: number
  /** True to follow a symbolic link. */
  readonly mayBeLink?: boolean
  /** True to read it whoever owns it. */
  readonly mayBeForeign?: boolean
  /** True to refuse a file that has a second name, by which it could be written. */
  readonly isAlone?: boolean
}

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = Fs.constants

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const flawOf = (stats: Fs.Stats, { isAlone, mayBeForeign, most }: Conditions): string | undefined => {
  if (!stats.isFile()) return stats.isDirectory() ? "it is a directory" : "it is no regular file"
  if (stats.size > most) return `it is larger than ${most} bytes`
  if (mayBeForeign !== true && stats.uid !== 0 && stats.uid !== process.getuid?.()) {
    return `it belongs to another user (${stats.uid})`
  }
  return isAlone === true && stats.nlink > 1
    ? "it has a second name (a hard link), by which it could be changed"
    : undefined
}

/** Reads a descriptor to its end; undefined where there is more than the bound. */
const readAll = (fd: number, most: number): Buffer | undefined => {
  const chunks: Array<Buffer> = []
  for (let length = 0; ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const count = Fs.readSync(fd, chunk)
    if (count === 0) return Buffer.concat(chunks)
    length += count
    if (length > most) return undefined
    chunks.push(chunk.subarray(0, count))
  }
}

/**
 * Computes the SHA-256 of bytes or a text, in hexadecimal digits.
 *
 * @since 0.1.0
 * @category hashing
 */
export const hash = (content: Uint8Array | string): string => Crypto.createHash("sha256").update(content).digest("hex")

/**
 * Reads a file.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (path: string, conditions: Conditions): OwnFile => {
  const mayBeLink = conditions.mayBeLink === true
  let fd: number | undefined
  try {
    // A device is not even opened, for that alone may do something.
    const before = mayBeLink ? Fs.statSync(path) : Fs.lstatSync(path)
    if (before.isSymbolicLink()) return OwnFile.Refused({ reason: "it is a symbolic link, which is not followed here" })
    const flaw = flawOf(before, conditions)
    if (flaw !== undefined) return OwnFile.Refused({ reason: flaw })
    fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (mayBeLink ? 0 : O_NOFOLLOW))
    const opened = flawOf(Fs.fstatSync(fd), conditions)
    if (opened !== undefined) return OwnFile.Refused({ reason: opened })
    const bytes = readAll(fd, conditions.most)
    if (bytes === undefined) return OwnFile.Refused({ reason: `it is larger than ${conditions.most} bytes` })
    return OwnFile.Content({ bytes, sha256: hash(bytes) })
  } catch (error) {
    const code = codeOf(error)
    return code === "ENOENT" || code === "ENOTDIR"
      ? OwnFile.Missing()
      : OwnFile.Refused({ reason: code === "ELOOP" ? "it is a symbolic link" : `it can't be read (${code})` })
  } finally {
    if (fd !== undefined) Fs.closeSync(fd)
  }
}
