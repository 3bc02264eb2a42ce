/**
 * Holds directories by descriptors, so that a walk finds what is in them wherever they are moved meanwhile, and knows
 * those that were removed from those that were moved.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Descriptors from "../../../../session/Descriptors.js"
import * as BytePath from "../../../policy/BytePath.js"

/** The descriptor only names the directory: no right to read it is needed. */
const justThePath = 0o10000000

const flags = justThePath | Fs.constants.O_DIRECTORY | Fs.constants.O_NOFOLLOW

/** The most directories that are held at a time, and the part of this process's descriptors that they may take. */
const most = 1024
const part = 1 / 4

/**
 * A directory that is held.
 *
 * @since 0.1.0
 * @category models
 */
export interface Held {
  /** A path by which it is reached wherever it is. */
  readonly path: string
  /** Tests whether it was removed. */
  readonly isRemoved: () => boolean
  readonly close: () => void
}

/**
 * Holds a directory that must be the one of this real path; undefined where it is none. `gone` is called where a link leads
 * elsewhere by now: what is there says nothing of the directory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const holdAt = (path: string, gone: () => void): Held | undefined => {
  let descriptor: number
  try {
    descriptor = Fs.openSync(BytePath.toHost(path), justThePath | Fs.constants.O_DIRECTORY)
  } catch {
    return undefined
  }
  const reached = `/proc/self/fd/${descriptor}`
  const close = () => Fs.closeSync(descriptor)
  try {
    if (BytePath.readLink(reached) === path) {
      return { path: `${reached}/.`, isRemoved: () => Fs.fstatSync(descriptor).nlink === 0, close }
    }
    gone()
  } catch {
    // Without /proc, paths are all there is.
  }
  close()
  return undefined
}

/**
 * The directories that a walk holds.
 *
 * @since 0.1.0
 * @category models
 */
export class HeldDirectories {
  private readonly open = new Set<number>()
  private readonly room = Math.min(most, Math.floor((Descriptors.limit() ?? 0) * part))

  /**
   * Holds a directory; undefined where as many are held as may be, or there is none at that path. `gone` is called where
   * nothing is there.
   */
  hold(path: string, gone: () => void): Held | undefined {
    if (this.open.size >= this.room) return undefined
    let descriptor: number
    try {
      descriptor = Fs.openSync(BytePath.toHost(path), flags)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") gone()
      return undefined
    }
    this.open.add(descriptor)
    return {
      path: `/proc/self/fd/${descriptor}/.`,
      isRemoved: () => Fs.fstatSync(descriptor).nlink === 0,
      close: () => {
        if (this.open.delete(descriptor)) Fs.closeSync(descriptor)
      }
    }
  }

  close(): void {
    for (const descriptor of this.open) Fs.closeSync(descriptor)
    this.open.clear()
  }
}
