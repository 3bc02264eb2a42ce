/**
 * The files that a person has allowed to be read during a session, each known by what it was at that time: commands can put
 * another file, or a link, in the place of one.
 *
 * @since 0.1.0
 */
import * as FileIdentity from "./policy/FileIdentity.js"

/**
 * The grants to read.
 *
 * @since 0.1.0
 * @category models
 */
export class ReadGrants {
  private readonly identities = new Map<string, string>()

  /** Adds a path, given as its real one, as what it was when it was asked for; by default, as what it is now. */
  add(path: string, identity = FileIdentity.of(path)): void {
    if (identity !== undefined) this.identities.set(path, identity)
  }

  /** The paths that are still what was allowed. */
  get paths(): ReadonlyArray<string> {
    return [...this.identities].flatMap(([path, identity]) => (FileIdentity.of(path) === identity ? [path] : []))
  }
}
