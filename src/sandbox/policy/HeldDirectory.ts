/** Holds a directory by a descriptor: what is done in it is done there, wherever it is moved and whatever takes its name. */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"

/** Opens a directory without the right to read it (Linux). */
export const O_PATH = 0o10000000

/** A directory that is held. */
interface Held {
  /** A path by which it is reached wherever it is. */
  readonly path: string
  /** False where a link leads elsewhere by now. */
  readonly isHere: boolean
  readonly close: () => void
}

/** Holds the directory at a real path (Linux); throws where there is none. */
export const open = (path: string): Held => {
  const descriptor = Fs.openSync(BytePath.toHost(path), O_PATH | Fs.constants.O_DIRECTORY)
  const reached = `/proc/self/fd/${descriptor}`
  const isHere = Attempt.orElse(() => BytePath.readLink(reached) === path, false)
  return { path: reached, isHere, close: () => Fs.closeSync(descriptor) }
}

/** Runs with such a path, if the directory is still the one of this real path. Returns undefined if it is not. */
export const within = <A>(path: string, use: (reached: string) => A): A | undefined => {
  if (process.platform !== "linux") {
    return Attempt.orUndefined(() => Fs.realpathSync(path)) === path ? use(path) : undefined
  }
  const held = Attempt.orUndefined(() => open(path))
  try {
    return held?.isHere === true ? use(held.path) : undefined
  } finally {
    held?.close()
  }
}
