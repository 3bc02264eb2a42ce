/** Reads the files of a skill, and nothing that its links lead to: a command may have put them there. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"

/** Returns the real path of a file or directory; undefined where there is none. */
export const realOf = (path: string): string | undefined => Attempt.orUndefined(() => Fs.realpathSync.native(path))

/**
 * Reads the beginning of a regular file within a directory; on the left, why it is not read.
 *
 * @param directory the real path of the directory that the file itself must lie in, at whatever depth
 * @param most the most bytes that are read
 */
export const read = (path: string, directory: string, most: number): Either.Either<RegularFile.Content, string> => {
  try {
    return RegularFile.read(path, { mayBeLink: true, most }, (stats, fd) => {
      if (!stats.isFile()) return "is not a regular file"
      return fd === undefined ? undefined : strayed(path, directory, fd)
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return Either.left(
      code === "ENOENT" ? "is missing" : code === "EACCES" ? "can't be read" : `can't be read (${code})`
    )
  }
}

/** Says why an open file is not the one that its path names; undefined where it is. */
const strayed = (path: string, directory: string, fd: number): string | undefined => {
  // By its descriptor, since the path may lead elsewhere by now.
  const real = process.platform === "linux" ? Fs.readlinkSync(`/proc/self/fd/${fd}`) : Fs.realpathSync(path)
  if (!HostPath.isWithin(real, directory)) return "is a link that leads out of the skill"
  // A link could give another file's content its name.
  return Path.basename(real) === Path.basename(path) ? undefined : "is a link"
}
