/** A persistent shell. Directory, variables, functions, options and aliases survive from one command to the next. */

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import * as CallContext from "../domain/CallContext.js"
import { ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as JsonValue from "../domain/JsonValue.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import { CommandQueue } from "./CommandQueue.js"
import type { Fed } from "./internal/CommandDelivery.js"
import { CommandFeeder } from "./internal/CommandDelivery.js"
import type { ReadyShell } from "./internal/CommandRun.js"
import { SessionState } from "./internal/SessionState.js"
import * as ShellLifecycle from "./internal/ShellLifecycle.js"
import * as JobTable from "./JobTable.js"
import * as QueuedCommand from "./QueuedCommand.js"
import { SessionSettings, type Settings } from "./SessionSettings.js"
import * as Nesting from "./ShellBridge.js"
import { ShellBridge } from "./ShellBridge.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import * as ShellCommand from "./ShellLauncher.js"

type Answer = Effect.Effect<CommandResult, ExecutionFailed>

class CommandDispatch {
  private readonly turns = new CommandQueue()
  private isAsking = false

  constructor(
    private readonly feeder: CommandFeeder,
    private readonly lifecycle: ShellLifecycle.ShellLifecycle,
    private readonly state: SessionState,
    private readonly bridge: Context.Tag.Service<ShellBridge>
  ) {}

  /** Runs a command in its turn. If the queue is empty and the shell is ready, the command starts synchronously. */
  run(queued: QueuedCommand.QueuedCommand): Answer {
    return Effect.async((resume) => {
      const ready = this.takeReady(queued)
      if (ready === undefined) return resume(this.waiting(queued))
      QueuedCommand.open(queued)
      return this.feed(queued, ready, false, resume)
    })
  }

  /** Makes an idle shell report the exit codes of ended jobs. Returns false if the shell is busy. */
  readonly ask = (): boolean => {
    if (this.isAsking) return true
    const nothing: QueuedCommand.QueuedCommand = {
      line: CommandLine.parse(""),
      timeout: Timeout.longest,
      listener: {},
      input: undefined
    }
    const ready = this.takeReady(nothing)
    if (ready === undefined) return false
    const { status } = this.state
    this.isAsking = true
    this.feeder.feed(nothing, ready, () => {
      this.isAsking = false
      this.state.status = status
      this.turns.leave(nothing)
    })
    return true
  }

  /** Takes the turn if it is free and the shell is ready. */
  private takeReady(queued: QueuedCommand.QueuedCommand): ReadyShell | undefined {
    const ready = this.turns.isFree ? this.lifecycle.peek() : undefined
    if (ready !== undefined) this.turns.tryTake(queued)
    return ready
  }

  private waiting(queued: QueuedCommand.QueuedCommand): Answer {
    return this.guarded(
      queued,
      Effect.suspend(() => {
        QueuedCommand.open(queued)
        return Effect.zipRight(this.turns.take(queued), this.prepared(queued, false))
      })
    )
  }

  /** Gives up the command's turn when it is answered, failed or interrupted. */
  private guarded(queued: QueuedCommand.QueuedCommand, answer: Answer): Answer {
    return Effect.onExit(answer, (exit) =>
      Effect.sync(() => {
        this.leave(queued)
        if (Exit.isInterrupted(exit)) QueuedCommand.tellInterrupted(queued)
      })
    )
  }

  /** Tells the observer that the command has ended, then gives up its turn. */
  private leave(queued: QueuedCommand.QueuedCommand, result?: CommandResult): void {
    QueuedCommand.close(queued, result)
    this.turns.leave(queued)
  }

  private prepared(queued: QueuedCommand.QueuedCommand, isAgain: boolean): Answer {
    const { ready, restarts, take } = this.lifecycle
    return Effect.suspend(() => {
      const before = restarts()
      return Effect.zipRight(
        ready,
        Effect.async<CommandResult, ExecutionFailed>((resume) => {
          if (restarts() !== before) return resume(QueuedCommand.restarted())
          const shell = take()
          // The shell was ended meanwhile.
          if (shell === undefined) return resume(this.prepared(queued, isAgain))
          return this.feed(queued, shell, isAgain, resume)
        })
      )
    })
  }

  /** Feeds a command that has the turn. Returns the effect that ends the command when it is interrupted. */
  private feed(
    queued: QueuedCommand.QueuedCommand,
    ready: ReadyShell,
    isAgain: boolean,
    resume: (answer: Answer) => void
  ): Effect.Effect<void> {
    let isOver = false
    let onOver: (() => void) | undefined
    const { cwd } = this.state
    const run = this.feeder.feed(queued, ready, (fed) => {
      isOver = true
      if (fed._tag !== "Ran")
        return onOver === undefined ? resume(this.guarded(queued, this.again(queued, fed, isAgain))) : onOver()
      const { bridge, state } = this
      const { missing, outcome } = fed
      const findings = {
        missing,
        pipeline: state.pipeline,
        left: state.hasLeft,
        movedTo: state.cwd === cwd ? undefined : state.cwd,
        notices: state.takeNotices(),
        ...bridge.takeCalls(fed.mark)
      }
      const result = QueuedCommand.result(outcome, findings)
      queued.result = result
      if (onOver !== undefined) return onOver()
      // The next waiting command takes its turn first, so that a caller that hears this result can't overtake it.
      this.leave(queued, outcome.stopped === undefined ? result : undefined)
      resume(QueuedCommand.answer(queued, outcome.stopped, result))
    })
    return Effect.async((done) => {
      onOver = () => {
        this.leave(queued)
        QueuedCommand.tellInterrupted(queued)
        done(Effect.void)
      }
      if (isOver) onOver()
      else run?.stop("cancelled")
    })
  }

  /** Runs a command that did not begin once more, in another shell. */
  private again(
    queued: QueuedCommand.QueuedCommand,
    fed: Exclude<Fed, { readonly _tag: "Ran" }>,
    isAgain: boolean
  ): Answer {
    switch (fed._tag) {
      case "NotHandedOver":
        return fed.error
      case "NotBegun": {
        const reason = `the shell ended before the command began, with exit code ${fed.exitCode}, and so did the next one`
        return isAgain ? new ExecutionFailed({ kind: "crash", reason }) : this.prepared(queued, true)
      }
      case "Unable":
        return Effect.zipRight(
          this.lifecycle.replace(fed.shell),
          isAgain
            ? new ExecutionFailed({ kind: "shell", reason: "the shell runs no commands" })
            : this.prepared(queued, true)
        )
    }
  }
}

export interface ExecuteOptions {
  /** The time limit in milliseconds; by default, that of the settings. */
  readonly timeout?: number | undefined
  /** Hears of the command's start and end. */
  readonly observer?: QueuedCommand.Observer | undefined
  /**
   * Milliseconds after which the call returns while the line's last program still runs, which then becomes a job.
   * Everything before it in the line is done when it is called. Without it, or if the line ends differently, the call waits.
   */
  readonly yield?: number | undefined
  /** The parsed command, so that it is not parsed again. */
  readonly line?: CommandLine.CommandLine | undefined
}

/**
 * Runs a command and returns its result. Fails with ExecutionFailed if it times out or no shell can start. Fails with
 * InvalidUsage for text that no shell can take (with a NUL byte). Interruption ends the command's processes, and keeps
 * the shell wherever possible.
 */
export type Execute = (
  command: string,
  options?: ExecuteOptions
) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage>

/**
 * One shell, which runs commands one at a time, in the order of the calls.
 *
 * `execute` fails with ExecutionFailed in a Synapse command that the shell itself has called (`ShellBridge`). The
 * shell waits for that command, so waiting for the shell would never end.
 */
export class BashSession extends Context.Tag("synapse/BashSession")<
  BashSession,
  {
    readonly execute: Execute
    /** Ends the shell and everything that it started. The next command starts a fresh shell. */
    readonly restart: Effect.Effect<void>
    /** The shell's current directory after the last command that ended. */
    readonly cwd: Effect.Effect<string>
    /** Sets `$?` for the next command, after a command that ran outside the shell. */
    readonly setStatus: (status: number) => Effect.Effect<void>
  }
>() {}

/** Makes a session whose commands all fail, because these settings can't start a shell. */
const unusable = (settings: Settings, error: InvalidUsage): Context.Tag.Service<BashSession> => ({
  execute: () => Effect.fail(error),
  restart: Effect.void,
  cwd: Effect.succeed(settings.cwd ?? "/"),
  setStatus: () => Effect.void
})

/** Refuses text that would reach the shell changed. */
const refusalOf = (text: string): InvalidUsage | undefined => {
  const half = JsonValue.findHalf(text)
  const what = text.includes("\0") ? "a NUL byte, which no shell can take. Write it as \\0 in a printf" : half
  return what === undefined ? undefined : new InvalidUsage({ reason: `The command holds ${what}.` })
}

const make = (
  launcher: ShellLauncher
): Effect.Effect<Context.Tag.Service<BashSession>, never, SessionSettings | ShellBridge | Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* SessionSettings
    const bridge = yield* ShellBridge
    const shell = ShellCommand.parse(settings.shellCommand)
    if (Either.isLeft(shell)) return unusable(settings, shell.left)
    const state = new SessionState(settings.cwd ?? process.cwd())
    const jobs = yield* JobTable.provided
    const feeder = new CommandFeeder(settings, state, jobs)
    const { variables } = yield* UserEnvironment
    const lifecycle = yield* ShellLifecycle.make({
      settings,
      launcher,
      shell: shell.right,
      bridge,
      state,
      feeder,
      jobs,
      variables
    })
    const dispatch = new CommandDispatch(feeder, lifecycle, state, bridge)
    jobs.ask = dispatch.ask
    return BashSession.of({
      execute: (text, options) =>
        refusalOf(text) ??
        Effect.withFiberRuntime<CommandResult, ExecutionFailed>((fiber) => {
          const { input, stdin, terminal, within } = fiber.getFiberRef(CallContext.current)
          const listener = fiber.getFiberRef(CommandListener.current)
          if (within === bridge) return Nesting.busy()
          const timeout = Math.min(options?.timeout ?? settings.timeout, Timeout.longest)
          const queued = {
            line: options?.line ?? CommandLine.parse(text),
            timeout,
            listener,
            input,
            stdin,
            terminal: settings.terminal === undefined ? undefined : terminal,
            observer: options?.observer,
            // The shell can't share its terminal with a program that goes on.
            yield: settings.terminal === undefined ? options?.yield : undefined
          }
          return Span.inFiber(fiber, "BashSession.execute", dispatch.run(queued))
        }),
      restart: lifecycle.restart,
      cwd: Effect.sync(() => state.cwd),
      setStatus: (status) =>
        Effect.sync(() => {
          state.status = status
        })
    })
  })

/**
 * A layer of a session. The launcher starts a shell for the first command, and again whenever the shell has ended.
 * Closing the scope ends everything that was started.
 */
export const layer = (launcher: ShellLauncher): Layer.Layer<BashSession, never, SessionSettings | ShellBridge> =>
  Layer.scoped(BashSession, make(launcher))
