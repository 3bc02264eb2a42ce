/**
 * Starts a shell with the state of the last one, in the same keeper where that still runs.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ExecutionFailed } from "../domain/CommandError.js"
import * as Descriptors from "./Descriptors.js"
import * as NoShell from "./NoShell.js"
import type { Plumbing } from "./Plumbing.js"
import { SessionDirectory } from "./SessionDirectory.js"
import type { Settings } from "./SessionSettings.js"
import type { SessionState } from "./SessionState.js"
import type * as Shell from "./Shell.js"
import type { ShellBridge } from "./ShellBridge.js"
import type { Spawnable } from "./ShellCommand.js"
import { sessionVariable } from "./ShellEnvironment.js"
import * as ShellLaunch from "./ShellLaunch.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import * as StartText from "./StartText.js"

/** A shell that has started, and its pipes. */
interface StartedShell extends ShellLaunch.LaunchedShell {
  readonly plumbing: Plumbing
}

/**
 * The shell before the one to start: its pipes, and its keeper, where that can start another one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Last {
  readonly plumbing: Plumbing | undefined
  readonly launched: Omit<ShellLaunch.LaunchedShell, "shell"> | undefined
}

/**
 * The dependencies of a start.
 *
 * @since 0.1.0
 * @category models
 */
export interface StartOptions {
  readonly bridge: Context.Tag.Service<ShellBridge>
  readonly environment: Readonly<Record<string, string>>
  readonly launcher: ShellLauncher
  /** Makes the pipes in a directory. */
  readonly lay: (directory: SessionDirectory) => Promise<Plumbing>
  readonly onExit: (gone: Shell.Shell) => void
  /** Called as soon as a shell has started, without an asynchronous step in between. */
  readonly onStarted: (started: StartedShell) => void
  readonly settings: Settings
  readonly shell: Spawnable
  readonly state: SessionState
  readonly restart: ShellLaunch.Restart
}

/**
 * Makes the function that starts the shells of a session, in the pipes of the last one; undefined for the first shell,
 * whose pipes are made at the same time. A shell gets the state of the last; where that state ends every new shell
 * (`PROMPT_COMMAND=exit`), it starts without it. Where the keeper starts no more shells, another one is launched.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({
  bridge,
  environment,
  launcher,
  lay,
  onExit,
  onStarted,
  settings,
  restart,
  shell,
  state
}: StartOptions): ((last: Last) => Effect.Effect<void, ExecutionFailed>) => {
  const greet = (directory: SessionDirectory) => (one: Shell.Shell) =>
    Effect.map(
      one.greet((nonce) =>
        StartText.startUp(directory, bridge, nonce, state.restoration !== undefined, state.cwd, state.directory)
      ),
      (elsewhere) => {
        if (elsewhere === "") return
        state.note(`The directory that the shell was in is gone: this command ran in ${elsewhere}.`)
        state.cwd = elsewhere
      }
    )

  const define = (directory: SessionDirectory) =>
    NoShell.attempt(() => directory.define(StartText.definitions(directory, bridge)))

  const launch = (directory: SessionDirectory, isFirst: boolean, onSpawned: Effect.Effect<unknown>) =>
    Effect.suspend(() =>
      Effect.zipRight(
        define(directory),
        ShellLaunch.launch({
          launcher,
          shell,
          directory,
          environment,
          // The directory that the first shell started in may be gone for a later one.
          cwd: isFirst ? (settings.cwd ?? process.cwd()) : "/",
          entered: state.cwd,
          greet: greet(directory),
          onSpawned,
          onExit,
          restart
        })
      )
    )

  const launchOne = Effect.fnUntraced(function* (known: Plumbing | undefined) {
    if (known === undefined) yield* NoShell.attempt(Descriptors.ensure)
    const directory =
      known?.directory ??
      (yield* NoShell.attempt(() => new SessionDirectory(environment[sessionVariable] ?? "", settings)))
    const laying = known === undefined ? NoShell.attempt(() => lay(directory)) : Effect.succeed(known)
    // The program starts while the pipes are made.
    const spawned = yield* Deferred.make<void>()
    const tellSpawned = Deferred.succeed(spawned, undefined)
    const launching = Effect.ensuring(launch(directory, known === undefined, tellSpawned), tellSpawned)
    const [launched, laid] = yield* Effect.all(
      [Effect.exit(launching), Effect.exit(Effect.zipRight(Deferred.await(spawned), laying))],
      { concurrency: 2 }
    )
    if (Exit.isSuccess(laid) && Exit.isSuccess(launched)) {
      state.restoration = undefined
      return onStarted({ ...launched.value, plumbing: laid.value })
    }
    if (Exit.isSuccess(launched)) launched.value.keeper.kill()
    if (known === undefined && Exit.isSuccess(laid)) laid.value.close(false)
    yield* Exit.zipRight(launched, laid)
  })

  /** Starts the next shell in a keeper that runs. */
  const nextOne = (plumbing: Plumbing, { keeper, over }: NonNullable<Last["launched"]>) =>
    Effect.flatMap(define(plumbing.directory), () => {
      const next = keeper.next()
      const answer = Effect.mapError(greet(plumbing.directory)(next), (what) => {
        const { words } = next
        return NoShell.make(`the next one ${what}${words === "" ? "" : `: ${words}`}`)
      })
      return Effect.matchEffect(Effect.raceFirst(answer, restart.asked), {
        onFailure: (error) => {
          // One that does not answer would read what is meant for its successor.
          if (next.alive) keeper.kill()
          return error
        },
        onSuccess: () =>
          Effect.sync(() => {
            state.restoration = undefined
            onStarted({ shell: next, keeper, over, plumbing })
          })
      })
    })

  const startOne = ({ launched, plumbing }: Last): Effect.Effect<void, ExecutionFailed> => {
    if (plumbing === undefined || launched === undefined) return launchOne(plumbing)
    const { keeper, over } = launched
    const another = Effect.suspend(() => {
      keeper.kill()
      return Effect.zipRight(over, launchOne(plumbing))
    })
    if (!keeper.canGoOn) return another
    // Where the keeper can go on, the state of the last shell may be what is wrong.
    return Effect.catchAll(nextOne(plumbing, launched), (error) =>
      restart.isAsked() || (state.restoration !== undefined && keeper.canGoOn) ? error : another
    )
  }

  return (last) =>
    Effect.suspend(() => {
      const { restoration } = state
      const { plumbing } = last
      if (restoration === undefined || plumbing === undefined) return startOne(last)
      const withoutState = startOne(last).pipe(
        Effect.tap(() =>
          state.note(
            `The last shell's state let no other one live: ` +
              `this command ran in a new shell in ${state.cwd}; variables, functions and options are lost.`
          )
        ),
        Effect.onError(() =>
          Effect.sync(() => {
            state.restoration = restoration
          })
        )
      )
      return Effect.zipRight(
        NoShell.attempt(() => plumbing.directory.hand(restoration)),
        Effect.catchAll(startOne(last), (error) => {
          if (restart.isAsked()) return error
          state.restoration = undefined
          return withoutState
        })
      )
    })
}
