/**
 * How a shell is started: the port by which a sandbox comes around it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExecutionFailed } from "../domain/CommandError.js"
import type { Spawnable } from "./ShellCommand.js"

/**
 * What a launcher is asked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface LaunchRequest {
  /** The shell, as the settings name it. */
  readonly shell: Spawnable
  /** The session's private directory, which the shell must see. */
  readonly directory: string
  /** What an unwrapped shell would get. */
  readonly environment: Readonly<Record<string, string>>
}

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
   * Run with the pid of what was spawned, once the shell answers. No command runs before it has succeeded; where it fails,
   * the shell is ended, and the command fails with the same error.
   */
  readonly started: (pid: number) => Effect.Effect<void, ExecutionFailed>
  /** Why a shell could not be started, by what was said on its standard error; undefined where nobody knows better. */
  readonly explain: (stderr: string) => ExecutionFailed | undefined
}

/**
 * Prepares a launch; fails, with what to do about it, where a shell must not be started. The scope is closed once the shell
 * has ended, or could not be started.
 *
 * @since 0.1.0
 * @category models
 */
export type ShellLauncher = (request: LaunchRequest) => Effect.Effect<Launch, ExecutionFailed, Scope.Scope>

/**
 * Starts the shell itself, with the rights of the user.
 *
 * @since 0.1.0
 * @category constructors
 */
export const plain: ShellLauncher = ({ environment, shell }) =>
  Effect.succeed({
    spawnable: shell,
    descriptors: [],
    environment,
    isTrial: false,
    started: () => Effect.void,
    explain: () => undefined
  })
