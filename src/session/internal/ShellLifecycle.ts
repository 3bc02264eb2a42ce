/**
 * Provides a shell whenever a command needs one. Starts shells, hands their state on, replaces them, and ends them
 * with everything that they started.
 */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../domain/CommandError.js"
import { CommandQueue } from "../CommandQueue.js"
import * as Descriptors from "../Descriptors.js"
import type { JobTable } from "../JobTable.js"
import * as ProcessTable from "../ProcessTable.js"
import * as QueuedCommand from "../QueuedCommand.js"
import { SessionDirectory } from "../SessionDirectory.js"
import * as SessionProcesses from "../SessionProcesses.js"
import type { Settings } from "../SessionSettings.js"
import type { ShellBridge } from "../ShellBridge.js"
import * as ShellEnvironment from "../ShellEnvironment.js"
import { sessionVariable } from "../ShellEnvironment.js"
import type { ShellLauncher, Spawnable } from "../ShellLauncher.js"
import type { CommandFeeder } from "./CommandDelivery.js"
import type { ReadyShell } from "./CommandRun.js"
import * as Protocol from "./Protocol.js"
import { SessionIo } from "./SessionIo.js"
import type { SessionState } from "./SessionState.js"
import * as Supervisor from "./ShellSupervisor.js"

interface StartedShell extends Supervisor.LaunchedShell {
  readonly io: SessionIo
}

/** The previous shell's pipes, and its supervisor if that can start another shell. */
interface Last {
  readonly io: SessionIo | undefined
  readonly launched: Omit<Supervisor.LaunchedShell, "shell"> | undefined
}

interface StartOptions {
  readonly bridge: Context.Tag.Service<ShellBridge>
  readonly environment: Readonly<Record<string, string>>
  readonly launcher: ShellLauncher
  /** Creates the pipes in a directory. */
  readonly lay: (directory: SessionDirectory) => Promise<SessionIo>
  readonly onExit: (gone: Supervisor.Shell) => void
  /** Called synchronously when a shell has started. */
  readonly onStarted: (started: StartedShell) => void
  readonly settings: Settings
  readonly shell: Spawnable
  readonly state: SessionState
  readonly restart: Supervisor.Restart
}

/**
 * Makes the function that starts a session's shells in the pipes of the last one. The first shell's pipes are created
 * while it starts.
 *
 * A shell gets the state of the last one. If that state ends every new shell (`PROMPT_COMMAND=exit`), it starts
 * without the state. If the supervisor starts no more shells, another is launched.
 */
const makeShellStart = ({
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
  const greet = (directory: SessionDirectory) => (one: Supervisor.Shell) =>
    Effect.map(
      one.greet((nonce) =>
        Protocol.startUp(directory, bridge, nonce, state.restoration !== undefined, state.cwd, state.directory)
      ),
      (elsewhere) => {
        if (elsewhere === "") return
        state.note(`The directory that the shell was in is gone: this command ran in ${elsewhere}.`)
        state.cwd = elsewhere
      }
    )

  const define = (directory: SessionDirectory) =>
    Supervisor.attempt(() => {
      directory.firstMark = ProcessTable.make(directory.sessionId)
      directory.define(Protocol.definitions(directory, bridge))
    })

  const launch = (directory: SessionDirectory, isFirst: boolean, onBegun: Effect.Effect<unknown>) =>
    Effect.suspend(() =>
      Effect.zipRight(
        define(directory),
        Supervisor.launch({
          launcher,
          shell,
          directory,
          environment,
          // The directory that the first shell started in may be gone by now.
          cwd: isFirst ? (settings.cwd ?? process.cwd()) : "/",
          entered: state.cwd,
          greet: greet(directory),
          onBegun,
          onExit,
          restart
        })
      )
    )

  const launchOne = Effect.fnUntraced(function* (known: SessionIo | undefined) {
    if (known === undefined) yield* Supervisor.attempt(Descriptors.ensure)
    const directory =
      known?.directory ??
      (yield* Supervisor.attempt(() => new SessionDirectory(environment[sessionVariable] ?? "", settings)))
    const { terminal } = directory
    if (known === undefined && terminal !== undefined) yield* Supervisor.attempt(() => terminal.open(directory.path))
    const laying = known === undefined ? Supervisor.attempt(() => lay(directory)) : Effect.succeed(known)
    // The program starts while the pipes are created.
    const begun = yield* Deferred.make<void>()
    const tellBegun = Deferred.succeed(begun, undefined)
    const launching = Effect.ensuring(launch(directory, known === undefined, tellBegun), tellBegun)
    const [launched, laid] = yield* Effect.all(
      [Effect.exit(launching), Effect.exit(Effect.zipRight(Deferred.await(begun), laying))],
      { concurrency: 2 }
    )
    if (Exit.isSuccess(laid) && Exit.isSuccess(launched)) {
      state.restoration = undefined
      return onStarted({ ...launched.value, io: laid.value })
    }
    if (Exit.isSuccess(launched)) launched.value.supervisor.kill()
    if (known === undefined && Exit.isSuccess(laid)) laid.value.close(false)
    yield* Exit.zipRight(launched, laid)
  })

  /** Starts the next shell in a running supervisor. */
  const nextOne = (io: SessionIo, { supervisor, over }: NonNullable<Last["launched"]>) =>
    Effect.flatMap(define(io.directory), () => {
      const next = supervisor.next()
      const answer = Effect.mapError(greet(io.directory)(next), (what) => {
        const { words } = next
        return Supervisor.noShell(`the next one ${what}${words === "" ? "" : `: ${words}`}`)
      })
      return Effect.matchEffect(Effect.raceFirst(answer, restart.asked), {
        onFailure: (error) => {
          // A shell that does not answer would read what is meant for its successor.
          if (next.alive) supervisor.kill()
          return error
        },
        onSuccess: () =>
          Effect.sync(() => {
            state.restoration = undefined
            onStarted({ shell: next, supervisor, over, io })
          })
      })
    })

  const startOne = ({ launched, io }: Last): Effect.Effect<void, ExecutionFailed> => {
    if (io === undefined || launched === undefined) return launchOne(io)
    const { supervisor, over } = launched
    const another = Effect.suspend(() => {
      supervisor.kill()
      return Effect.zipRight(over, launchOne(io))
    })
    if (!supervisor.canGoOn) return another
    // If the supervisor can go on, the last shell's state may be the culprit.
    return Effect.catchAll(nextOne(io, launched), (error) =>
      restart.isAsked() || (state.restoration !== undefined && supervisor.canGoOn) ? error : another
    )
  }

  return (last) =>
    Effect.suspend(() => {
      const { restoration } = state
      const { io } = last
      if (restoration === undefined || io === undefined) return startOne(last)
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
        Supervisor.attempt(() => io.directory.hand(restoration)),
        Effect.catchAll(startOne(last), (error) => {
          if (restart.isAsked()) return error
          state.restoration = undefined
          return withoutState
        })
      )
    })
}

/** Starts, replaces and ends the shells of one session. */
export interface ShellLifecycle {
  /** Returns the shell and pipes for a command if they are ready. Nearly every command gets them this way. */
  readonly peek: () => ReadyShell | undefined
  /** Waits until a shell and pipes are ready, starting a shell if necessary. */
  readonly ready: Effect.Effect<void, ExecutionFailed>
  /** Like `peek`, right after `ready`, but does not test whether a command has deleted the pipes meanwhile. */
  readonly take: () => ReadyShell | undefined
  /** Ends a shell that can't run commands any more, without handing on its state. */
  readonly replace: (shell: Supervisor.Shell) => Effect.Effect<void>
  /** Ends the shell and everything that it started, and forgets its state. */
  readonly restart: Effect.Effect<void>
  /** The number of restarts requested so far. */
  readonly restarts: () => number
}

interface LifecycleOptions {
  readonly settings: Settings
  readonly launcher: ShellLauncher
  readonly shell: Spawnable
  readonly bridge: Context.Tag.Service<ShellBridge>
  readonly state: SessionState
  readonly feeder: CommandFeeder
  readonly jobs: JobTable
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** Milliseconds that calls of Synapse commands have to clean up before everything is killed. */
const callsFarewell = 5000

const ended = () => new ExecutionFailed({ kind: "crash", reason: "the session has ended" })

/** Makes the lifecycle of a session's shells. Closing the scope ends the shell and everything that it started. */
export const make = ({
  bridge,
  feeder,
  jobs,
  launcher,
  settings,
  shell: spawnable,
  state,
  variables
}: LifecycleOptions): Effect.Effect<ShellLifecycle, never, Scope.Scope> => {
  const processes = new SessionProcesses.SessionProcesses()
  const environment = ShellEnvironment.make(processes.sessionId, settings.environment, variables)
  /** Held while a shell is started or ended. A command that waits for a restart comes after it. */
  const changing = new CommandQueue()
  let shell: Supervisor.Shell | undefined
  /** The shell's supervisor, which outlives the shell. */
  let supervisor: Supervisor.ShellSupervisor | undefined
  let io: SessionIo | undefined
  /** Waits until the supervisor has ended and its launch's resources are released. */
  let over: Effect.Effect<void> = Effect.void
  /** The number of unfinished restarts. No command begins meanwhile. */
  let restarts = 0
  let asked = 0
  let isDisposed = false
  /** Called when a restart is requested, which does not wait for a shell to start. */
  const leaving = new Set<() => void>()

  /** Runs a change in its own fiber, so that it completes even if its caller is interrupted. */
  const change = <A, E>(what: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(changing.hold(what))), Fiber.join)

  const asking: Supervisor.Restart = {
    isAsked: () => restarts > 0,
    asked: Effect.async((resume) => {
      const leave = () => resume(QueuedCommand.restarted())
      if (restarts > 0) return leave()
      leaving.add(leave)
      return Effect.sync(() => leaving.delete(leave))
    })
  }

  const onExit = (gone: Supervisor.Shell) => {
    if (gone !== shell || io === undefined) return
    shell = undefined
    jobs.forget()
    state.handOver(io.takeState(), {
      environment: Object.keys(environment),
      ours: Protocol.names(io.directory, bridge),
      directory: io.directory.path,
      refused: Protocol.reserved
    })
    if (state.restoration === undefined) {
      state.note(
        `The shell ended without handing on its state (it was killed, replaced by exec, has an EXIT trap of its own, or a state of more than 64 MiB): ` +
          `the next command runs in a new shell in ${state.cwd}; variables, functions and options are lost.`
      )
    }
  }

  jobs.directory = () => io?.directory.path

  const lay = (directory: SessionDirectory) =>
    SessionIo.lay(directory, bridge, () => ({ ...feeder.callerFacts, within: bridge }))

  const start = makeShellStart({
    bridge,
    environment,
    launcher,
    lay,
    onExit,
    restart: asking,
    onStarted: (started) => {
      shell = started.shell
      supervisor = started.supervisor
      io = started.io
      over = started.over
      if (settings.terminal !== undefined) settings.terminal.tellSize = () => started.supervisor.tellSize()
    },
    settings,
    shell: spawnable,
    state
  })

  /** Ends a shell whose files a command has deleted, so that the next one gets new files. */
  const discard = (lost: SessionIo) =>
    Effect.gen(function* () {
      const hadShell = shell !== undefined
      supervisor?.kill()
      yield* over
      if (hadShell) {
        state.noteOnly(
          `Files of the session were deleted: this command ran in a new shell in ${state.cwd}; ` +
            `variables, functions and options are lost.`
        )
      }
      supervisor = undefined
      io = undefined
      lost.close(settings.keepOutputFiles)
    })

  const prepare = Effect.gen(function* () {
    if (isDisposed) return yield* ended()
    // An ending shell still hands its state on.
    if (shell?.alive === false) {
      const ending = shell
      yield* Effect.promise(() => ending.ended)
      // A shell that ended while its pipes were being created has told nobody.
      if (shell === ending) shell = undefined
    }
    if (io?.isLost === true) yield* discard(io)
    if (io === undefined || shell === undefined) {
      const starting = start({ io, launched: supervisor === undefined ? undefined : { supervisor, over } })
      // A wrapper may have started more than itself. Before the first shell, nothing else of the session exists.
      yield* io === undefined ? Effect.tapError(starting, () => processes.end(0, undefined)) : starting
    }
    if (io === undefined || shell?.alive !== true) {
      return yield* Supervisor.noShell("the shell ended as soon as it had started")
    }
    const { pool } = io
    yield* Supervisor.attempt(() => pool.fill())
  })

  /** Ends running calls of Synapse commands, letting them clean up. */
  const dismiss = Effect.suspend(() =>
    io?.calls.isBusy === true ? Effect.timeoutOption(io.calls.dismiss, callsFarewell) : Effect.void
  )

  /** Asks everything that the session started to end, then kills it. */
  const endAll = Effect.gen(function* () {
    if (io === undefined) return
    yield* dismiss
    const ending = supervisor
    const isIdle = feeder.queued === undefined
    // An idle shell ends by itself and runs the user's EXIT trap; its supervisor follows. Without a trap, there is
    // nothing to wait for.
    const isQuiet = isIdle && !state.mayHaveTrapped
    if (isQuiet && ending?.endAtOnce((spawned) => processes.members(spawned)) === true) settings.onQuiet?.()
    else {
      // The shell writes its state as it ends, and would block if nobody read it.
      io.attach()
      ending?.end()
    }
    if (ending !== undefined && isIdle) {
      yield* Effect.timeoutOption(
        Effect.promise(() => ending.over),
        SessionProcesses.farewell
      )
    }
    if (ending?.isAllGone !== true) yield* processes.end(ending?.spawned ?? 0, shell?.hostPid)
    yield* over
    io.calls.tidy()
  })

  /** Ends the running command before it can do anything more. */
  const endCommand = Effect.suspend(() => {
    const kill = feeder.freeze()
    return Effect.zipRight(dismiss, Effect.timeoutOption(Effect.promise(kill), SessionProcesses.farewell))
  })

  const restart = Effect.suspend(() => {
    restarts++
    asked++
    for (const leave of leaving) leave()
    return change(
      endCommand.pipe(
        Effect.zipRight(Effect.sync(() => jobs.lose())),
        Effect.zipRight(endAll),
        Effect.ensuring(
          Effect.sync(() => {
            restarts--
            state.reset()
          })
        )
      )
    )
  })

  const take = (): ReadyShell | undefined => {
    if (restarts > 0 || isDisposed || io === undefined || shell?.alive !== true) return undefined
    const pipes = io.pool.take()
    if (pipes === undefined) return undefined
    return { shell, io, pipes }
  }

  const replace = (unable: Supervisor.Shell) =>
    Effect.suspend(() => {
      unable.kill()
      return Effect.map(
        Effect.promise(() => unable.ended),
        () => {
          state.restoration = undefined
          // A command may have damaged the session's files.
          if (io !== undefined) io.broken = true
          state.noteOnly(
            `The shell could run no command any more (a builtin, a limit or a restriction was changed): ` +
              `this one ran in a new shell in ${state.cwd}; variables, functions and options are lost.`
          )
        }
      )
    })

  const lifecycle: ShellLifecycle = {
    peek: () => {
      if (io === undefined || io.isLost) return undefined
      const ready = take()
      if (ready?.pipes.isLost !== true) return ready
      ready.io.broken = true
      return undefined
    },
    ready: Effect.suspend(() => (isDisposed ? ended() : change(prepare))),
    take,
    replace,
    restart,
    restarts: () => asked
  }

  /** Kills everything at once when this process exits, which leaves no time to ask or wait. */
  const abort = () => {
    processes.kill(supervisor?.spawned ?? 0)
    io?.close(settings.keepOutputFiles)
  }

  return Effect.acquireRelease(
    Effect.sync(() => SessionProcesses.atExit(abort)),
    (forget) =>
      Effect.suspend(() => {
        isDisposed = true
        feeder.close()
        return restart
      }).pipe(
        Effect.tap(() => {
          io?.close(settings.keepOutputFiles)
          io = undefined
          forget()
        })
      )
  ).pipe(Effect.as(lifecycle))
}
