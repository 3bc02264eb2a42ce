/** Launches the keeper of a session's shells, with the first of them, and holds its resources until it has ended. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Spawnable } from "../ShellCommand.js"
import type { ShellLauncher } from "../ShellLauncher.js"
import * as NoShell from "./NoShell.js"
import type * as Shell from "./Shell.js"
import * as ShellKeeper from "./ShellKeeper.js"

/** A restart that may be asked for while a shell starts, whose answer is not waited for then. */
export interface Restart {
  readonly isAsked: () => boolean
  /** Fails once it is asked for. */
  readonly asked: Effect.Effect<never, ExecutionFailed>
}

/** The options of `launch`. */
export interface LaunchOptions {
  readonly launcher: ShellLauncher
  /** The command line of the session's shells, from the settings. */
  readonly shell: Spawnable
  readonly directory: SessionDirectory
  readonly environment: Readonly<Record<string, string>>
  /** The directory that the process starts in. */
  readonly cwd: string
  /** The directory that the first shell changes to. */
  readonly entered: string
  /** Lets the first shell read its first lines; fails with what is wrong with it. */
  readonly greet: (shell: Shell.Shell) => Effect.Effect<void, string>
  /** Run as soon as the keeper's process, or what wraps it, is spawned. */
  readonly onSpawned: Effect.Effect<unknown>
  /** Called once for each shell, when it has ended and its output is read. */
  readonly onExit: (gone: Shell.Shell) => void
  readonly restart: Restart
}

/** A keeper that was launched, and its first shell, which has answered. */
export interface LaunchedShell {
  readonly shell: Shell.Shell
  readonly keeper: ShellKeeper.ShellKeeper
  /** Waits until the keeper has ended and its launch's resources are released. */
  readonly over: Effect.Effect<void>
}

/** Matches what another shell says of `--norc`. */
const unknownOption = /^(?:\S+: )?(?:0: )?(?:Illegal option --|unknown option|bad option|no such option)|fish: --norc/im

/**
 * Launches a keeper. A fiber of its own keeps the launch's scope open as long as the keeper lives. A launch on trial
 * that fails is repeated once. Fails where no shell can be started, with the shell's own message if there is one.
 */
export const launch = (options: LaunchOptions): Effect.Effect<LaunchedShell, ExecutionFailed> =>
  Effect.gen(function* () {
    const { cwd, directory, environment, greet, launcher, onExit, restart } = options
    const started = yield* Deferred.make<Omit<LaunchedShell, "over">, ExecutionFailed>()
    const shell = { ...options.shell, args: [...options.shell.args, directory.keeper] }
    let isTrial = false
    const life = Effect.gen(function* () {
      const launch = yield* launcher({ shell, directory: directory.path, cwd: options.entered, environment })
      isTrial = launch.isTrial
      const keeper = yield* Effect.acquireRelease(ShellKeeper.spawn({ launch, directory, cwd, onExit }), (keeper) =>
        Effect.sync(() => keeper.kill())
      )
      yield* options.onSpawned
      // What is left to do is done while the program starts.
      keeper.begin(yield* launch.ready)
      const { first } = keeper
      const answer = Effect.mapError(greet(first), (what) => {
        const { words } = first
        const { args, program } = launch.spawnable
        const name = [program, ...args.filter((word) => word !== directory.keeper)].join(" ")
        // The option is one of ours, so that the shell is to blame, wherever it was started.
        if (unknownOption.test(words)) {
          return NoShell.make(`${shell.program} is not bash, and no other shell will do: SYNAPSE_SHELL names it`)
        }
        return launch.explain(words) ?? NoShell.make(`${name} ${what}${words === "" ? "" : `: ${words}`}`)
      })
      const answered = yield* Deferred.make<void>()
      // What wraps the shells is looked at while the first of them starts; a wrapper may keep the keeper's report back.
      const running = Effect.raceFirst(
        Effect.promise(() => keeper.running),
        Deferred.await(answered)
      )
      const proof = yield* Effect.forkScoped(Effect.zipRight(running, launch.prove(keeper.spawned)))
      yield* Effect.raceFirst(answer, restart.asked)
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(proof)
      yield* launch.started
      yield* Deferred.succeed(started, { shell: first, keeper })
      yield* Effect.promise(() => keeper.over)
    }).pipe(
      Effect.scoped,
      Effect.retry({ times: 1, while: () => isTrial && !restart.isAsked() }),
      Effect.catchAllCause((cause) => Deferred.failCause(started, cause))
    )
    const fiber = yield* Effect.forkDaemon(life)
    const launched = yield* Deferred.await(started)
    return { ...launched, over: Effect.asVoid(Fiber.await(fiber)) }
  })
