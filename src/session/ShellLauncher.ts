/**
 * How a shell is started: the port by which a sandbox comes around it.
 *
 * @since 0.1.0
 */
import type { ExecutionFailed } from "../domain/CommandError.js"
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
  /** Whether it is expected to start, and not known to: where it does not, another launch may do better. */
  readonly isTrial: boolean
  /**
   * Told the pid of what was spawned, once the shell answers. Where it promises something, no command runs before that is
   * kept, and none in that shell where it is broken.
   */
  readonly started: (pid: number) => Promise<void> | void
  /** Why a shell could not be started, by what was said on its standard error; undefined where nobody knows better. */
  readonly explain: (stderr: string) => ExecutionFailed | undefined
  /** Lets go of what the launch holds: called once the shell has ended, or could not be started. */
  readonly close: () => Promise<void>
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
    Promise.resolve({
      spawnable,
      descriptors: [],
      environment,
      isTrial: false,
      started: () => {},
      explain: () => undefined,
      close: () => Promise.resolve()
    })
