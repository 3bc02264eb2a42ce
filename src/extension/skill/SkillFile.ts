/**
 * Reads the files of a skill, and nothing that its links lead to: a command may have put them there.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = Fs.constants

/**
 * Tests whether a path is another, or lies below it.
 *
 * @since 0.1.0
 */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`)

/**
 * Returns the real path of a file or directory; undefined where there is none.
 *
 * @since 0.1.0
 */
export const realOf = (path: string): string | undefined => {
  try {
    return Fs.realpathSync(path)
  } catch {
    return undefined
  }
}

/**
 * Reads the beginning of a regular file within a directory; on the left, why it is not read. It waits for nothing: a
 * named pipe or a device is not opened.
 *
 * @param directory the real path of the directory that the file itself must lie in, at whatever depth
 * @param most the most bytes that are read
 * @since 0.1.0
 */
export const read = (
  path: string,
  directory: string,
  most: number
): Either.Either<{ readonly bytes: Buffer; readonly size: number }, string> => {
  let fd: number | undefined
  try {
    if (!Fs.statSync(path).isFile()) return Either.left("is not a regular file")
    fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    const stat = Fs.fstatSync(fd)
    if (!stat.isFile()) return Either.left("is not a regular file")
    // By its descriptor, since the path may lead elsewhere by now.
    const real = process.platform === "linux" ? Fs.readlinkSync(`/proc/self/fd/${fd}`) : Fs.realpathSync(path)
    if (!isWithin(real, directory)) return Either.left("is a link that leads out of the skill")
    // A link could give another file's content its name.
    if (Path.basename(real) !== Path.basename(path)) return Either.left("is a link")
    const bytes = Buffer.alloc(Math.min(most, stat.size))
    let length = 0
    while (length < bytes.length) {
      const count = Fs.readSync(fd, bytes, length, bytes.length - length, length)
      if (count === 0) break
      length += count
    }
    return Either.right({ bytes: bytes.subarray(0, length), size: stat.size })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return Either.left(
      code === "ENOENT" ? "is missing" : code === "EACCES" ? "can't be read" : `can't be read (${code})`
    )
  } finally {
    if (fd !== undefined) Fs.closeSync(fd)
  }
}
