/** What a session inherits from the program that it works for. */
import * as Context from "effect/Context"

export interface Inherited {
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The bits that its files are made without; undefined for this process's own. */
  readonly umask: number | undefined
  /** Returns the current directory; throws the file system's error where it was deleted. */
  readonly directory: () => string
}

/** What a session inherits: from this process, unless the daemon runs it for another. */
export class UserEnvironment extends Context.Reference<UserEnvironment>()("synapse/UserEnvironment", {
  defaultValue: (): Inherited => ({
    get variables() {
      return process.env
    },
    umask: undefined,
    directory: () => process.cwd()
  })
}) {}
