/** What a session inherits from its program. */
import * as Context from "effect/Context"

export interface Inherited {
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The umask, or undefined for that of this process. */
  readonly umask: number | undefined
  /** Returns the current directory. Throws the file system's error if it was deleted. */
  readonly directory: () => string
}

/** What a session inherits: from this process, or from the client that the daemon runs it for. */
export class UserEnvironment extends Context.Reference<UserEnvironment>()("synapse/UserEnvironment", {
  defaultValue: (): Inherited => ({
    get variables() {
      return process.env
    },
    umask: undefined,
    directory: () => process.cwd()
  })
}) {}
