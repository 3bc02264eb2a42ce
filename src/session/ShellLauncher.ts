/** The interface of what starts a session's shells; a sandbox implements it to wrap them. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import type { ExecutionFailed } from "../domain/CommandError.js"
import { InvalidUsage } from "../domain/CommandError.js"

/** A program to spawn, and its arguments. */
export interface Spawnable {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * The options of the supervisor, which starts the shells: `--norc --noprofile` keep the user's files out (S26), `-p` the
 * functions in the environment, which reach the shells all the same.
 */
const supervisorOptions = ["--norc", "--noprofile", "-p"]

/**
 * Splits `shellCommand` into words as a shell does (quotes and backslashes, no expansions), and appends the
 * supervisor's options, which its file follows: `sandbox-exec -f /tmp/test.sb /bin/bash` spawns `sandbox-exec` with `-f
 * /tmp/test.sb /bin/bash --norc --noprofile …`. A wrapper must pass its further arguments on to bash, and should pass
 * on descriptor 3.
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

/** The supervisor of the shells to launch, with its directory and its environment. */
interface LaunchRequest {
  /** The command line of the supervisor, which is a bash: that of the settings, with its script. */
  readonly shell: Spawnable
  /** The session's private directory, which the shell must see. */
  readonly directory: string
  /** The directory that the first shell changes to. */
  readonly cwd: string
  /** The environment that a shell without a sandbox would get. */
  readonly environment: Readonly<Record<string, string>>
}

/** The command line and the callbacks that start one supervisor. */
export interface Launch {
  /** The program; it must pass on descriptor 3, which is the supervisor's. */
  readonly spawnable: Spawnable
  readonly environment: Readonly<Record<string, string>>
  /** True where it was not tested that the shell can start: if it does not, another launch may succeed. */
  readonly isTrial: boolean
  /**
   * Run as soon as the program is spawned: does what is left to do before it can go on, and returns what is then written
   * to its descriptor 3, before the supervisor's own words. Where it fails, all is ended.
   */
  readonly ready: Effect.Effect<string, ExecutionFailed>
  /**
   * Run with the pid of the spawned process once the supervisor runs, while its first shell starts. Where it fails, all is
   * ended before any command, and the command fails with the same error.
   */
  readonly prove: (pid: number) => Effect.Effect<void, ExecutionFailed>
  /** Run after `prove`, once the first shell answers too, and before any command; fails as `prove` does. */
  readonly started: Effect.Effect<void, ExecutionFailed>
  /** Explains why a shell could not be started, from its standard error; undefined where it can't tell. */
  readonly explain: (stderr: string) => ExecutionFailed | undefined
}

/**
 * Prepares a launch. Fails, with what to do about it, where a shell must not be started. The scope is closed once the
 * supervisor has ended or could not be started: it outlives the shells.
 */
export type ShellLauncher = (request: LaunchRequest) => Effect.Effect<Launch, ExecutionFailed, Scope.Scope>

/** A launcher which starts the supervisor itself, with all rights of the user. */
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
