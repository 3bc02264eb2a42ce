/**
 * Reads a file whose content is to be believed: once, without following a link in its place, and never more of it than a
 * bound.
 */
import * as Crypto from "node:crypto"
import type * as Fs from "node:fs"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as RegularFile from "../../files/RegularFile.js"

/** The thing that was found in the place of a file. */
export type OwnFile = Data.TaggedEnum<{
  Missing: object
  /** Something that is not read, with the reason. */
  Refused: { readonly reason: string }
  /** The bytes, and their SHA-256 in hexadecimal digits. */
  Content: { readonly bytes: Uint8Array; readonly sha256: string }
}>

export const OwnFile = Data.taggedEnum<OwnFile>()

/** The conditions of reading a file. */
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

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const tooLarge = (most: number): string => `it is larger than ${most} bytes`

/** Returns why a file is not read under these conditions; undefined where it is. */
export const flawOf = (stats: Fs.Stats, { isAlone, mayBeForeign, most }: Conditions): string | undefined => {
  if (stats.isSymbolicLink()) return "it is a symbolic link, which is not followed here"
  if (!stats.isFile()) return stats.isDirectory() ? "it is a directory" : "it is no regular file"
  if (stats.size > most) return tooLarge(most)
  if (mayBeForeign !== true && stats.uid !== 0 && stats.uid !== process.getuid?.()) {
    return `it belongs to another user (${stats.uid})`
  }
  return isAlone === true && stats.nlink > 1
    ? "it has a second name (a hard link), by which it could be changed"
    : undefined
}

/** Computes the SHA-256 of bytes or a text, in hexadecimal digits. */
export const hash = (content: Uint8Array | string): string => Crypto.createHash("sha256").update(content).digest("hex")

export const read = (path: string, conditions: Conditions): OwnFile => {
  const { mayBeLink = false, most } = conditions
  try {
    // A byte more tells that it has grown.
    const content = RegularFile.read(path, { mayBeLink, most: most + 1 }, (stats) => flawOf(stats, conditions))
    return Either.match(content, {
      onLeft: (reason) => OwnFile.Refused({ reason }),
      onRight: ({ bytes }) =>
        bytes.length > most
          ? OwnFile.Refused({ reason: tooLarge(most) })
          : OwnFile.Content({ bytes, sha256: hash(bytes) })
    })
  } catch (error) {
    const code = codeOf(error)
    return code === "ENOENT" || code === "ENOTDIR"
      ? OwnFile.Missing()
      : OwnFile.Refused({ reason: code === "ELOOP" ? "it is a symbolic link" : `it can't be read (${code})` })
  }
}
