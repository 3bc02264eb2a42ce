/**
 * How a shell is started: the port by which a sandbox comes around it.
 *
 * @since 0.1.0
 */
import type { Spawnable } from "./ShellCommand.js"

/**
 * What is needed to start one shell.
 *
 * @since 0.1.0
 * @category models
 */
export interface Launch {
  readonly spawnable: Spawnable
  /** Handed to the program as descriptors 3, 4, …. */
  readonly descriptors: ReadonlyArray<number>
  readonly environment: Readonly<Record<string, string>>
  /** Lets go of what the launch holds: called once the shell has started, or has not. */
  readonly close: () => void
}

/**
 * Prepares a launch; the promise is rejected, with what to do about it, where a shell must not be started. `directory` is the
 * session's private one, which the shell must see; `environment` is what an unwrapped shell would get.
 *
 * @since 0.1.0
 * @category models
 */
export type ShellLauncher = (request: {
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}) => Promise<Launch>

/**
 * The shell itself, with the rights of the user.
 *
 * @since 0.1.0
 * @category constructors
 */
export const plain =
  (spawnable: Spawnable): ShellLauncher =>
  ({ environment }) =>
    Promise.resolve({ spawnable, descriptors: [], environment, close: () => {} })
