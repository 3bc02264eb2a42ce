/**
 * Hands each command to the shell when its turn has come, and returns its result.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { Fed, ReadyShell } from "./CommandDelivery.js"
import type { CommandFeeder } from "./CommandFeeder.js"
import * as Job from "./Job.js"
import type { SessionState } from "./SessionState.js"
import type { ShellBridge } from "./ShellBridge.js"
import type { ShellLifecycle } from "./ShellLifecycle.js"
import type { TurnQueue } from "./TurnQueue.js"

type Answer = Effect.Effect<CommandResult, ExecutionFailed>

/**
 * The dependencies of a dispatch.
 *
 * @since 0.1.0
 * @category models
 */
export interface DispatchOptions {
  readonly feeder: CommandFeeder
  readonly lifecycle: ShellLifecycle
  readonly state: SessionState
  readonly bridge: Context.Tag.Service<ShellBridge>
}

/**
 * Runs commands in the turns of one queue.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandDispatch {
  constructor(
    private readonly turns: TurnQueue,
    private readonly options: DispatchOptions
  ) {}

  /**
   * Runs a command in its turn; without any asynchronous step before it, where no other command waits and the shell is
   * ready.
   */
  run(job: Job.Job): Answer {
    if (!this.turns.isFree) return this.queued(job)
    return Effect.async((resume) => {
      if (!this.turns.tryTake(job)) return resume(this.queued(job))
      const ready = this.options.lifecycle.peek()
      if (ready !== undefined) {
        Job.open(job)
        return this.feed(job, ready, false, resume)
      }
      this.turns.leave(job)
      resume(this.queued(job))
    })
  }

  private queued(job: Job.Job): Answer {
    return this.guarded(
      job,
      Effect.suspend(() => {
        Job.open(job)
        return Effect.zipRight(this.turns.take(job), this.prepared(job, false))
      })
    )
  }

  /** Gives up the job's turn when the answer has come, failed or was interrupted. */
  private guarded(job: Job.Job, answer: Answer): Answer {
    return Effect.onExit(answer, (exit) =>
      Effect.sync(() => {
        this.leave(job)
        if (Exit.isInterrupted(exit)) Job.tellInterrupted(job)
      })
    )
  }

  /** Gives up the job's turn, after its observer has heard of the end. */
  private leave(job: Job.Job, result?: CommandResult): void {
    Job.close(job, result)
    this.turns.leave(job)
  }

  private prepared(job: Job.Job, isAgain: boolean): Answer {
    const { ready, restarts, take } = this.options.lifecycle
    return Effect.suspend(() => {
      const before = restarts()
      return Effect.zipRight(
        ready,
        Effect.async<CommandResult, ExecutionFailed>((resume) => {
          if (restarts() !== before) return resume(Job.restarted())
          const shell = take()
          // The shell was ended in between.
          if (shell === undefined) return resume(this.prepared(job, isAgain))
          return this.feed(job, shell, isAgain, resume)
        })
      )
    })
  }

  /** Feeds a command whose turn it is; returns the effect which ends it when it is interrupted. */
  private feed(
    job: Job.Job,
    ready: ReadyShell,
    isAgain: boolean,
    resume: (answer: Answer) => void
  ): Effect.Effect<void> {
    let isOver = false
    let onOver: (() => void) | undefined
    const { cwd } = this.options.state
    const run = this.options.feeder.feed(job, ready, (fed) => {
      isOver = true
      if (fed._tag !== "Ran")
        return onOver === undefined ? resume(this.guarded(job, this.again(job, fed, isAgain))) : onOver()
      const { bridge, state } = this.options
      const { missing, outcome } = fed
      const findings = {
        missing,
        pipeline: state.pipeline,
        left: state.hasLeft,
        movedTo: state.cwd === cwd ? undefined : state.cwd,
        notices: state.takeNotices(),
        called: bridge.takeEnding(fed.mark),
        images: bridge.takeImages()
      }
      const result = Job.result(outcome, findings)
      job.result = result
      if (onOver !== undefined) return onOver()
      // The next command gets its turn first: a caller that hears of this result can't come before it.
      this.leave(job, outcome.stopped === undefined ? result : undefined)
      resume(Job.answer(job, outcome.stopped, result))
    })
    return Effect.async((done) => {
      onOver = () => {
        this.leave(job)
        Job.tellInterrupted(job)
        done(Effect.void)
      }
      if (isOver) onOver()
      else run?.stop("cancelled")
    })
  }

  /** Runs a command which did not begin once more, in another shell. */
  private again(job: Job.Job, fed: Exclude<Fed, { readonly _tag: "Ran" }>, isAgain: boolean): Answer {
    switch (fed._tag) {
      case "NotHandedOver":
        return fed.error
      case "NotBegun": {
        const reason = `the shell ended before the command began, with exit code ${fed.exitCode}, and so did the next one`
        return isAgain ? new ExecutionFailed({ kind: "crash", reason }) : this.prepared(job, true)
      }
      case "Unable":
        return Effect.zipRight(
          this.options.lifecycle.replace(fed.shell),
          isAgain
            ? new ExecutionFailed({ kind: "shell", reason: "the shell runs no commands" })
            : this.prepared(job, true)
        )
    }
  }
}
