/**
 * Reads a regular file, or its beginning, by its descriptor: what is read is what was looked at. It waits for nothing,
 * since a named pipe or a device is not opened.
 */
import * as Fs from "node:fs"
import * as Either from "effect/Either"

/** The beginning of a file, and the size that it had. */
export interface Content {
  readonly bytes: Buffer
  readonly size: number
}

/** The conditions of reading a file. */
export interface Conditions {
  /** The most bytes that are read. */
  readonly most: number
  /** True to follow a symbolic link. */
  readonly mayBeLink: boolean
}

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = Fs.constants

/** The bytes of one read. */
const chunkLength = 64 * 1024

/**
 * Reads a file; throws as `node:fs` does where it can't.
 *
 * @param refuse returns why the file is not read; it is asked before the file is opened, and again with its descriptor,
 *   for the path may lead elsewhere by then
 */
export const read = <Refusal>(
  path: string,
  { mayBeLink, most }: Conditions,
  refuse: (stats: Fs.Stats, fd?: number) => Refusal | undefined
): Either.Either<Content, Refusal> =>
  use(path, mayBeLink, refuse, (fd, { size }) => ({ bytes: readAt(fd, 0, most), size }))

/** Uses the descriptor of a file, as `read` does. */
export const use = <A, Refusal>(
  path: string | Buffer,
  mayBeLink: boolean,
  refuse: (stats: Fs.Stats, fd?: number) => Refusal | undefined,
  opened: (fd: number, stats: Fs.Stats) => A
): Either.Either<A, Refusal> => {
  // A device is not even opened, for that alone may do something.
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

/** Reads so many bytes of an open file from a position on, or fewer where it ends before. */
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
