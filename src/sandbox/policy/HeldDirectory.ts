/**
 * Holds a directory by a descriptor: operations happen in that directory even if it is moved or replaced.
 */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"

/** Opens a directory without needing read permission (Linux). */
export const O_PATH = 0o10000000

interface Held {
  /** A path that reaches the directory wherever it is. */
  readonly path: string
  /** False once a link leads elsewhere. */
  readonly isHere: boolean
  readonly close: () => void
}

/** Holds the directory at a real path (Linux). Throws if it does not exist. */
export const open = (path: string): Held => {
  const descriptor = Fs.openSync(BytePath.toHost(path), O_PATH | Fs.constants.O_DIRECTORY)
  const reached = `/proc/self/fd/${descriptor}`
  const isHere = Attempt.orElse(() => BytePath.readLink(reached) === path, false)
  return { path: reached, isHere, close: () => Fs.closeSync(descriptor) }
}

/** Runs `use` with a path to the held directory. Returns undefined if another directory has taken its place. */
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
