/** Reads files whose content Synapse relies on: once, with a size limit, and without following a link by default. */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as Collect from "../../domain/Collect.js"
import * as Directories from "../../files/Directories.js"
import * as RegularFile from "../../files/RegularFile.js"

/** The bytes of a file, and their SHA-256 in hexadecimal digits. */
interface Content {
  readonly bytes: Uint8Array
  readonly sha256: string
}

/** The content at a path, or undefined if nothing exists there. The left side says why it is not read. */
export type Found = Either.Either<Content | undefined, string>

export interface Conditions {
  readonly most: number
  readonly mayBeLink?: boolean
  /** True to accept files of other users. */
  readonly mayBeForeign?: boolean
  /** True to refuse a file with a second hard link, by which it could be written. */
  readonly isAlone?: boolean
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const tooLarge = (most: number): string => `it is larger than ${most} bytes`

/** Returns why a file is not read under these conditions. */
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

export const read = (path: string, conditions: Conditions): Found => {
  const { mayBeLink = false, most } = conditions
  try {
    // One more byte shows whether the file has grown.
    const content = RegularFile.read(path, { mayBeLink, most: most + 1 }, (stats) => flawOf(stats, conditions))
    return Either.flatMap(content, ({ bytes }) =>
      bytes.length > most ? Either.left(tooLarge(most)) : Either.right({ bytes, sha256: hash(bytes) })
    )
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return Either.right(undefined)
    return Either.left(code === "ELOOP" ? "it is a symbolic link" : `it can't be read (${code})`)
  }
}

export const textOf: (found: Found) => Either.Either<string | undefined, string> = Either.flatMap((content) =>
  content === undefined ? Either.right(undefined) : Collect.toText(content.bytes)
)

/** Reads JSON that was written by `write`. Undefined if it is missing or invalid. */
export const readJson = (path: string, most: number): unknown =>
  Attempt.orUndefined(() => JSON.parse(Either.getOrThrow(textOf(read(path, { most }))) ?? ""))

/**
 * Writes a file for this user alone, by renaming a temporary one, so that readers find the old text or the new one.
 * Throws the file system's error.
 */
export const write = (path: string, text: string): void => {
  const directory = Path.dirname(path)
  Directories.make(directory)
  const draft = Path.join(directory, `.${Crypto.randomUUID()}`)
  Fs.writeFileSync(draft, text, { flag: "wx", mode: 0o600 })
  Fs.renameSync(draft, path)
}
