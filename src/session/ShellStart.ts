/**
 * Starts a shell with the state of the last one.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ExecutionFailed } from "../domain/CommandError.js"
import * as NoShell from "./NoShell.js"
import type { Plumbing } from "./Plumbing.js"
import * as Protocol from "./Protocol.js"
import { SessionDirectory } from "./SessionDirectory.js"
import type { Settings } from "./SessionSettings.js"
import type { SessionState } from "./SessionState.js"
import type * as Shell from "./Shell.js"
import type { ShellBridge } from "./ShellBridge.js"
import type { Spawnable } from "./ShellCommand.js"
import * as ShellLaunch from "./ShellLaunch.js"
import type { ShellLauncher } from "./ShellLauncher.js"

/** A shell that has started, and its pipes. */
interface StartedShell extends ShellLaunch.LaunchedShell {
  readonly plumbing: Plumbing
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
}

/**
 * Makes the function that starts the shells of a session, in the pipes of the last one; undefined for the first shell,
 * whose pipes are made at the same time. A shell gets the state of the last; where that state ends every new shell
 * (`PROMPT_COMMAND=exit`), it starts without it.
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
  shell,
  state
}: StartOptions): ((known: Plumbing | undefined) => Effect.Effect<void, ExecutionFailed>) => {
  const launch = (directory: SessionDirectory, isFirst: boolean) =>
    Effect.suspend(() => {
      // The directory that the first shell started in may be gone for a later one.
      const spawnCwd = isFirst ? (settings.cwd ?? process.cwd()) : "/"
      const restore = state.restoration !== undefined
      return Effect.zipRight(
        NoShell.attempt(() => directory.define(Protocol.definitions(directory, bridge))),
        ShellLaunch.launch(launcher, { shell, directory: directory.path, environment }, (launch) => ({
          launch,
          directory,
          bridge,
          spawnCwd,
          cwd: state.cwd,
          restore,
          onExit
        }))
      )
    })

  const startOne = Effect.fnUntraced(function* (known: Plumbing | undefined) {
    const directory = known?.directory ?? (yield* NoShell.attempt(() => new SessionDirectory()))
    const laying = known === undefined ? NoShell.attempt(() => lay(directory)) : Effect.succeed(known)
    const [laid, launched] = yield* Effect.all(
      [Effect.exit(laying), Effect.exit(launch(directory, known === undefined))],
      { concurrency: 2 }
    )
    if (Exit.isSuccess(laid) && Exit.isSuccess(launched)) {
      state.restoration = undefined
      return onStarted({ ...launched.value, plumbing: laid.value })
    }
    if (Exit.isSuccess(launched)) launched.value.shell.kill()
    if (known === undefined && Exit.isSuccess(laid)) laid.value.close(false)
    yield* Exit.zipRight(launched, laid)
  })

  return (known) =>
    Effect.suspend(() => {
      const { restoration } = state
      if (restoration === undefined || known === undefined) return startOne(known)
      const withoutState = startOne(known).pipe(
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
        NoShell.attempt(() =>
          Fs.writeFileSync(known.directory.restore, restoration, { encoding: "latin1", mode: 0o600 })
        ),
        Effect.catchAll(startOne(known), () => {
          state.restoration = undefined
          return withoutState
        })
      )
    })
}
