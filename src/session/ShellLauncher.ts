/** Starts a session's shells. A sandbox implements this interface to wrap them. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import type { ExecutionFailed } from "../domain/CommandError.js"
import { InvalidUsage } from "../domain/CommandError.js"

export interface Spawnable {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * The options of the supervisor, which starts the shells. `--norc --noprofile` keep the user's files out (S26). `-p`
 * keeps functions of the environment out of the supervisor; the shells still get them.
 */
const supervisorOptions = ["--norc", "--noprofile", "-p"]

/**
 * Splits `shellCommand` into words as a shell does (quotes and backslashes, no expansions), and appends the
 * supervisor's options. For example, `sandbox-exec -f /tmp/test.sb /bin/bash` becomes the program `sandbox-exec` with
 * `-f /tmp/test.sb /bin/bash --norc --noprofile …`.
 *
 * A wrapper must pass its further arguments on to bash, and should pass on descriptor 3.
 */
export const parse = (shellCommand: string): Either.Either<Spawnable, InvalidUsage> => {
  const words: Array<string> = []
  for (const token of CommandLine.parse(shellCommand).tokens) {
    if (token._tag === "Word" && token.closed) words.push(token.value)
    else if (token._tag !== "Blank") {
      const reason = "shellCommand must be a program and its arguments; quote what means more to a shell"
      return Either.left(new InvalidUsage({ reason: `${reason}: ${shellCommand}` }))
    }
  }
  const [program, ...args] = words
  return program === undefined || program === ""
    ? Either.left(new InvalidUsage({ reason: "shellCommand is empty: name a bash, for example /bin/bash" }))
    : Either.right({ program, args: [...args, ...supervisorOptions] })
}

interface LaunchRequest {
  /** The supervisor's command line: the bash of the settings, with the supervisor's script. */
  readonly shell: Spawnable
  /** The session's private directory, which the shell must see. */
  readonly directory: string
  /** The directory that the first shell changes to. */
  readonly cwd: string
  /** The environment that a shell without a sandbox would get. */
  readonly environment: Readonly<Record<string, string>>
}

/** How to start one supervisor, and the callbacks around its start. */
export interface Launch {
  /** The program. It must pass descriptor 3 on to the supervisor. */
  readonly spawnable: Spawnable
  readonly environment: Readonly<Record<string, string>>
  /** True if nothing has tested that the shell can start. A failed launch is then repeated once. */
  readonly isTrial: boolean
  /**
   * Runs as soon as the program is spawned, and completes its preparation. Returns what to write to descriptor 3
   * before the supervisor's own words. If it fails, everything is ended.
   */
  readonly ready: Effect.Effect<string, ExecutionFailed>
  /**
   * Runs with the pid of the spawned process while the first shell starts. If it fails, everything is ended before
   * any command runs, and the command fails with this error.
   */
  readonly prove: (pid: number) => Effect.Effect<void, ExecutionFailed>
  /** Runs after `prove`, once the first shell has answered and before any command. Fails as `prove` does. */
  readonly started: Effect.Effect<void, ExecutionFailed>
  /** Explains from its standard error why a shell could not start, or returns undefined. */
  readonly explain: (stderr: string) => ExecutionFailed | undefined
}

/**
 * Prepares a launch. Fails, with advice, if a shell must not be started. The scope closes once the supervisor has
 * ended or could not start; the supervisor outlives the shells.
 */
export type ShellLauncher = (request: LaunchRequest) => Effect.Effect<Launch, ExecutionFailed, Scope.Scope>

/** Starts the supervisor without a sandbox, with all rights of the user. */
export const plain: ShellLauncher = ({ environment, shell }) =>
  Effect.succeed({
    spawnable: shell,
    environment,
    isTrial: false,
    ready: Effect.succeed(""),
    prove: () => Effect.void,
    started: Effect.void,
    explain: () => undefined
  })
