/**
 * The grants that a person gives during a session. They hold until it ends, in every sandbox that is made from then on.
 */
import type { RuntimeRules } from "../config/PolicyBuilder.js"
import * as HostPath from "../policy/HostPath.js"
import * as PathGlob from "../policy/PathGlob.js"
import type { Grant } from "../SandboxBackend.js"

/** The grants of a session, as rules for the policies of its sandboxes. */
export class RuntimeGrants implements RuntimeRules {
  private writable: ReadonlyArray<string> = []
  /** The identities of the files that may be read: commands can put another file, or a link, in the place of one. */
  private readonly readable = new Map<string, string>()
  private readonly outdated = new WeakSet<object>()

  /**
   * Adds a grant; `running` is the sandbox that was made without it. A file to read is known by its identity in the grant;
   * by default, by that which it has now. Returns the function that takes a new right to write back again.
   */
  add({ access, identity, resource }: Grant, running: object | undefined): () => void {
    if (running !== undefined) this.outdated.add(running)
    if (access === "read") {
      const known = identity ?? HostPath.identityOf(resource)
      if (known !== undefined) this.readable.set(resource, known)
      return () => {}
    }
    const before = this.writable
    const entry = PathGlob.escape(resource)
    if (!before.includes(entry)) this.writable = [...before, entry]
    return () => {
      this.writable = before
    }
  }

  /** The entries for the paths that may be written. */
  get whitelist(): ReadonlyArray<string> {
    return this.writable
  }

  /** The paths that may be read and are still what was allowed. */
  get granted(): ReadonlyArray<string> {
    return [...this.readable].flatMap(([path, identity]) => (HostPath.identityOf(path) === identity ? [path] : []))
  }

  /** Tests whether grants were added since a sandbox was made. */
  areNewer(backend: object): boolean {
    return this.outdated.has(backend)
  }
}
