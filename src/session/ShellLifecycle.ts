/**
 * Provides a shell whenever a command needs one: starts it, hands the last one's state on to it, replaces it, and ends
 * it with all that it started.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../domain/CommandError.js"
import { BackgroundNotice } from "./BackgroundNotice.js"
import type { ReadyShell } from "./CommandDelivery.js"
import type { CommandFeeder } from "./CommandFeeder.js"
import * as Job from "./Job.js"
import * as NoShell from "./NoShell.js"
import { Plumbing } from "./Plumbing.js"
import * as Protocol from "./Protocol.js"
import { SessionDirectory } from "./SessionDirectory.js"
import * as SessionProcesses from "./SessionProcesses.js"
import type { Settings } from "./SessionSettings.js"
import type { SessionState } from "./SessionState.js"
import type * as Shell from "./Shell.js"
import type { ShellBridge } from "./ShellBridge.js"
import type { Spawnable } from "./ShellCommand.js"
import * as ShellEnvironment from "./ShellEnvironment.js"
import type { ShellKeeper } from "./ShellKeeper.js"
import type { Restart } from "./ShellLaunch.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import * as ShellStart from "./ShellStart.js"
import * as StartText from "./StartText.js"
import { TurnQueue } from "./TurnQueue.js"

/**
 * Starts, replaces and ends the shells of one session.
 *
 * @since 0.1.0
 * @category models
 */
export interface ShellLifecycle {
  /**
   * Returns the shell, and pipes for a command, where they are ready; undefined otherwise. Nearly every command gets
   * them this way.
   */
  readonly peek: () => ReadyShell | undefined
  /** Waits until there are a shell and pipes for a command; starts a shell where there is none. */
  readonly ready: Effect.Effect<void, ExecutionFailed>
  /**
   * Returns the same as `peek`, right after `ready`, without testing whether a command has deleted the pipes meanwhile.
   */
  readonly take: () => ReadyShell | undefined
  /** Ends a shell that can't run commands any more; its state is not handed on. */
  readonly replace: (shell: Shell.Shell) => Effect.Effect<void>
  /** Ends the shell and all that it started, and forgets its state. */
  readonly restart: Effect.Effect<void>
  /** The number of restarts that were asked for. */
  readonly restarts: () => number
}

/**
 * The dependencies of a lifecycle.
 *
 * @since 0.1.0
 * @category models
 */
export interface LifecycleOptions {
  readonly settings: Settings
  readonly launcher: ShellLauncher
  readonly shell: Spawnable
  readonly bridge: Context.Tag.Service<ShellBridge>
  readonly state: SessionState
  readonly feeder: CommandFeeder
}

/** Milliseconds that the calls of our commands have to remove what they had begun, before all is killed. */
const callsFarewell = 1000

const ended = () => new ExecutionFailed({ kind: "crash", reason: "the session has ended" })

/**
 * Makes the lifecycle of a session's shells. Its shell is ended with the scope, with everything that it started.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({
  bridge,
  feeder,
  launcher,
  settings,
  shell: spawnable,
  state
}: LifecycleOptions): Effect.Effect<ShellLifecycle, never, Scope.Scope> => {
  const processes = new SessionProcesses.SessionProcesses()
  const environment = ShellEnvironment.make(processes.sessionId, settings.environment)
  /** Held by whoever starts or ends a shell: a command that waits for a restart comes after it. */
  const changing = new TurnQueue()
  let shell: Shell.Shell | undefined
  /** The keeper of the shell, which outlives it. */
  let keeper: ShellKeeper | undefined
  let plumbing: Plumbing | undefined
  /** Pipes whose directory a command has deleted, while a background process still writes to them. */
  const former: Array<Plumbing> = []
  /** Waits until the keeper has ended, and the resources of its launch are released. */
  let over: Effect.Effect<void> = Effect.void
  /** The number of restarts that were asked for and are not done; no command begins meanwhile. */
  let restarts = 0
  let asked = 0
  let isDisposed = false
  /** Called when a restart is asked for, which does not wait for a shell to start. */
  const leaving = new Set<() => void>()
  const background = new BackgroundNotice(processes, () =>
    keeper === undefined || shell === undefined ? undefined : { keeper, shell }
  )

  /** Runs a change in a fiber of its own, which goes on where whoever waits for it is interrupted. */
  const change = <A, E>(what: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(changing.hold(what))), Fiber.join)

  const asking: Restart = {
    isAsked: () => restarts > 0,
    asked: Effect.async((resume) => {
      const leave = () => resume(Job.restarted())
      if (restarts > 0) return leave()
      leaving.add(leave)
      return Effect.sync(() => leaving.delete(leave))
    })
  }

  const onExit = (gone: Shell.Shell) => {
    if (gone !== shell || plumbing === undefined) return
    shell = undefined
    state.handOver(plumbing.takeState(), {
      environment: Object.keys(environment),
      ours: StartText.names(plumbing.directory, bridge),
      directory: plumbing.directory.path,
      refused: Protocol.reserved
    })
    if (restarts > 0) return
    if (state.restoration === undefined) {
      state.note(
        `The shell ended without handing on its state (it was killed, replaced by exec, has an EXIT trap of its own, or a state of more than 64 MiB): ` +
          `the next command runs in a new shell in ${state.cwd}; variables, functions and options are lost.`
      )
    }
    if (keeper !== undefined) state.note(background.of(keeper))
  }

  const lay = (directory: SessionDirectory) => Plumbing.lay(directory, bridge, () => feeder.surroundings)

  const start = ShellStart.make({
    bridge,
    environment,
    launcher,
    lay,
    onExit,
    restart: asking,
    onStarted: (started) => {
      shell = started.shell
      keeper = started.keeper
      plumbing = started.plumbing
      over = started.over
    },
    settings,
    shell: spawnable,
    state
  })

  /** Makes a new directory and new pipes where a command has deleted the old ones (`rm -rf /tmp/*`). */
  const move = (from: Plumbing) =>
    Effect.gen(function* () {
      const to = yield* NoShell.attempt(() => lay(new SessionDirectory(processes.sessionId, settings)))
      plumbing = to
      if (from.pool.idle) from.close(settings.keepOutputFiles)
      else former.push(from)
      yield* NoShell.attempt(() => to.directory.define(StartText.definitions(to.directory, bridge)))
      shell?.write(StartText.moveTo(to.directory, from.directory, bridge))
      keeper?.alsoRemove(to.directory.path)
    })

  const prepare = Effect.gen(function* () {
    if (isDisposed) return yield* ended()
    // A shell that is just ending still hands its state on.
    if (shell?.alive === false) {
      const ending = shell
      yield* Effect.promise(() => ending.ended)
      // One that ended while its pipes were still being made has told nobody.
      if (shell === ending) shell = undefined
    }
    if (plumbing !== undefined && (plumbing.isLost() || (shell === undefined && !plumbing.isIntact)))
      yield* move(plumbing)
    if (plumbing === undefined || shell === undefined) {
      const starting = start({ plumbing, launched: keeper === undefined ? undefined : { keeper, over } })
      // A wrapper may have started more than itself; nothing else is there before the first shell.
      yield* plumbing === undefined ? Effect.tapError(starting, () => processes.end(0, undefined)) : starting
    }
    if (plumbing === undefined || shell?.alive !== true) {
      return yield* NoShell.make("the shell ended as soon as it had started")
    }
    const { pool } = plumbing
    yield* NoShell.attempt(() => pool.fill())
  })

  /** Ends the calls of our commands, which remove what they had begun. */
  const dismiss = Effect.suspend(() =>
    plumbing?.calls.isBusy === true ? Effect.timeoutOption(plumbing.calls.dismiss, callsFarewell) : Effect.void
  )

  /** Asks all that the session started to end, then kills it. */
  const endAll = Effect.gen(function* () {
    if (plumbing === undefined) return
    plumbing.wantState(false)
    yield* dismiss
    const ending = keeper
    ending?.end()
    // An idle shell ends by itself, and runs the user's EXIT trap; its keeper follows.
    if (ending !== undefined && feeder.job === undefined) {
      yield* Effect.timeoutOption(
        Effect.promise(() => ending.over),
        SessionProcesses.farewell
      )
    }
    yield* processes.end(ending?.spawned ?? 0, shell?.hostPid)
    yield* over
    plumbing.calls.tidy()
    plumbing.wantState(true)
  })

  /** Ends the command that runs, before anything more of it does. */
  const endCommand = Effect.gen(function* () {
    feeder.freeze()
    yield* dismiss
    yield* Effect.timeoutOption(
      Effect.promise(() => feeder.kill()),
      SessionProcesses.farewell
    )
    feeder.abandon()
  })

  const restart = Effect.suspend(() => {
    restarts++
    asked++
    for (const leave of leaving) leave()
    return change(
      Effect.zipRight(endCommand, endAll).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            restarts--
            state.reset()
            background.reset()
          })
        )
      )
    )
  })

  const take = (): ReadyShell | undefined => {
    if (restarts > 0 || isDisposed || plumbing === undefined || shell?.alive !== true) return undefined
    const pipes = plumbing.pool.take()
    if (pipes === undefined) return undefined
    background.begin()
    return { shell, plumbing, pipes }
  }

  const replace = (unable: Shell.Shell) =>
    Effect.suspend(() => {
      // Where a command has damaged the session's files, the shell is not to blame, and gets new ones.
      if (plumbing?.isIntact === false) {
        plumbing.broken = true
        return Effect.void
      }
      unable.kill()
      return Effect.map(
        Effect.promise(() => unable.ended),
        () => {
          state.restoration = undefined
          state.noteOnly(
            `The shell could run no command any more (a builtin, a limit or a restriction was changed): ` +
              `this one ran in a new shell in ${state.cwd}; variables, functions and options are lost.`
          )
        }
      )
    })

  const lifecycle: ShellLifecycle = {
    peek: () => {
      if (plumbing === undefined) return undefined
      const { stamp } = plumbing.directory
      if (plumbing.isLost(stamp)) return undefined
      const ready = take()
      if (ready?.pipes.isLost(stamp) !== true) return ready
      ready.plumbing.broken = true
      return undefined
    },
    ready: Effect.suspend(() => (isDisposed ? ended() : change(prepare))),
    take,
    replace,
    restart,
    restarts: () => asked
  }

  /** Kills everything at once when this process exits, which leaves no time to ask or to wait. */
  const abort = () => {
    processes.kill(keeper?.spawned ?? 0)
    plumbing?.close(settings.keepOutputFiles)
  }

  return Effect.acquireRelease(
    Effect.sync(() => SessionProcesses.atExit(abort)),
    (forget) =>
      Effect.suspend(() => {
        isDisposed = true
        feeder.close()
        background.close()
        return restart
      }).pipe(
        Effect.tap(() => {
          for (const one of former.splice(0)) one.close(settings.keepOutputFiles)
          plumbing?.close(settings.keepOutputFiles)
          plumbing = undefined
          forget()
        })
      )
  ).pipe(Effect.as(lifecycle))
}
