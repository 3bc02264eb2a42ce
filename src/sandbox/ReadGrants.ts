/**
 * The files that a person has allowed to be read during a session, each known by what it was at that time: commands can put
 * another file, or a link, in the place of one.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as BytePath from "./policy/BytePath.js"

/** Returns what tells a file or directory from any other, and one that is not there; undefined where a link leads to it. */
const identityOf = (path: string): string | undefined => {
  try {
    if (BytePath.realPath(path) !== path) return undefined
    const { dev, ino } = Fs.lstatSync(BytePath.toHost(path), { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : undefined
  }
}

/**
 * The grants to read.
 *
 * @since 0.1.0
 * @category models
 */
export class ReadGrants {
  private readonly identities = new Map<string, string>()

  /** Adds a path, given as its real one, as what it is now. */
  add(path: string): void {
    const identity = identityOf(path)
    if (identity !== undefined) this.identities.set(path, identity)
  }

  /** The paths that are still what was allowed. */
  get paths(): ReadonlyArray<string> {
    return [...this.identities].flatMap(([path, identity]) => (identityOf(path) === identity ? [path] : []))
  }
}
