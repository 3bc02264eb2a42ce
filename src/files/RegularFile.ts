/**
 * Opens a regular file and reads from the descriptor, so that a swapped path cannot be read instead. Never opens a
 * named pipe or a device, which could block.
 */
import * as Fs from "node:fs"
import * as Either from "effect/Either"

/** The beginning of a file, and the size of the whole file. */
export interface Content {
  readonly bytes: Buffer
  readonly size: number
}

export interface Conditions {
  readonly most: number
  readonly mayBeLink: boolean
}

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = Fs.constants

const chunkLength = 64 * 1024

/**
 * Reads a file. Throws the errors of `node:fs`.
 *
 * @param refuse returns why the file is not read. It is called before the file is opened, and again with its descriptor,
 *   because the path may have been swapped in between
 */
export const read = <Refusal>(
  path: string,
  { mayBeLink, most }: Conditions,
  refuse: (stats: Fs.Stats, fd?: number) => Refusal | undefined
): Either.Either<Content, Refusal> =>
  use(path, mayBeLink, refuse, (fd, { size }) => ({ bytes: readAt(fd, 0, most), size }))

/** Passes the descriptor of a file to `opened`, under the same conditions as `read`. */
export const use = <A, Refusal>(
  path: string | Buffer,
  mayBeLink: boolean,
  refuse: (stats: Fs.Stats, fd?: number) => Refusal | undefined,
  opened: (fd: number, stats: Fs.Stats) => A
): Either.Either<A, Refusal> => {
  // Check before opening, since opening a device can already have an effect.
  const before = refuse(mayBeLink ? Fs.statSync(path) : Fs.lstatSync(path))
  if (before !== undefined) return Either.left(before)
  const fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (mayBeLink ? 0 : O_NOFOLLOW))
  try {
    const stats = Fs.fstatSync(fd)
    const flaw = refuse(stats, fd)
    return flaw === undefined ? Either.right(opened(fd, stats)) : Either.left(flaw)
  } finally {
    Fs.closeSync(fd)
  }
}

/** Reads up to `most` bytes of an open file from a position on. */
export const readAt = (fd: number, from: number, most: number): Buffer => {
  const chunks: Array<Buffer> = []
  for (let read = 0; read < most; ) {
    const chunk = Buffer.allocUnsafe(Math.min(most - read, chunkLength))
    const count = Fs.readSync(fd, chunk, 0, chunk.length, from + read)
    if (count === 0) break
    read += count
    chunks.push(chunk.subarray(0, count))
  }
  return Buffer.concat(chunks)
}
