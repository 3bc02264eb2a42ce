/** Reads the files of a skill but not the targets of links out of it, since a command may have put the links there. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"

/** Returns the real path of a file or directory, if it exists. */
export const realOf = (path: string): string | undefined => Attempt.orUndefined(() => Fs.realpathSync.native(path))

/**
 * Reads the beginning of a regular file within a directory, or says on the left why it can't.
 *
 * @param directory the real path of a directory around the file, at any depth
 * @param most the most bytes to read
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

/** Returns why an open file is not the one that its path names. */
const strayed = (path: string, directory: string, fd: number): string | undefined => {
  // Checks the descriptor, because the path may lead elsewhere by now.
  const real = process.platform === "linux" ? Fs.readlinkSync(`/proc/self/fd/${fd}`) : Fs.realpathSync(path)
  if (!HostPath.isWithin(real, directory)) return "is a link that leads out of the skill"
  // A link could give its name to another file's content.
  return Path.basename(real) === Path.basename(path) ? undefined : "is a link"
}
