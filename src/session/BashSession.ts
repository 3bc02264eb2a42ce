/**
 * A persistent shell: its state (directory, variables, functions, options, aliases) is kept from one command to the
 * next.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as HalfCharacter from "../domain/HalfCharacter.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import { CommandDispatch } from "./CommandDispatch.js"
import { CommandFeeder } from "./CommandFeeder.js"
import * as Job from "./Job.js"
import * as Nesting from "./Nesting.js"
import { SessionSettings, type Settings } from "./SessionSettings.js"
import { SessionState } from "./SessionState.js"
import { ShellBridge } from "./ShellBridge.js"
import * as ShellCommand from "./ShellCommand.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import * as ShellLifecycle from "./ShellLifecycle.js"
import { TurnQueue } from "./TurnQueue.js"

/**
 * The options of `execute`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExecuteOptions {
  /** The time that the command may take, in milliseconds; by default, that of the settings. */
  readonly timeout?: number | undefined
  /** Hears of the command's begin and end, for whoever keeps count. */
  readonly observer?: Job.Observer | undefined
}

/**
 * The state of a session as of now.
 *
 * @since 0.1.0
 * @category models
 */
export interface SessionNow {
  /** The shell's current directory, as of the last command that ended. */
  readonly cwd: string
  /** True where no command runs or waits. */
  readonly isFree: boolean
}

/**
 * Runs a command, and returns its result when it has ended. Fails with ExecutionFailed where it timed out or no shell
 * could be started, and with InvalidUsage for a text that no shell can take (one with a NUL byte). Interruption ends
 * what the command runs, and keeps the shell wherever possible.
 *
 * @since 0.1.0
 * @category models
 */
export type Execute = (
  command: string,
  options?: ExecuteOptions
) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage>

/**
 * One shell, which runs one command at a time, in the order of the calls.
 *
 * A command that the shell itself has called (`ShellBridge`) can't use `execute` and `exclusive`: the shell waits for
 * that command, so both fail with ExecutionFailed at once instead of waiting forever.
 *
 * @since 0.1.0
 * @category models
 */
export interface BashSession {
  /** The command line that starts the shell. */
  readonly shellCommand: string
  readonly execute: Execute
  /**
   * Takes one turn in the queue of the commands, and holds it while `use` runs: no other command runs between those
   * that `use` runs with its `execute`, which must not be used after `use` has ended.
   */
  readonly exclusive: <A, E>(use: (execute: Execute) => Effect.Effect<A, E>) => Effect.Effect<A, E | ExecutionFailed>
  /**
   * Ends the shell and everything that it started; the next command starts a new shell without any of the old state.
   */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory, as of the last command that ended. */
  readonly cwd: Effect.Effect<string>
  /** Returns the session's state without an effect; what runs every command may ask it. */
  readonly peek: () => SessionNow
  /** Sets `$?` of the next command, after a command that ran without the shell. */
  readonly setStatus?: (status: number) => Effect.Effect<void>
}

/** Makes a session whose every command fails, because no shell can be started with these settings. */
const unusable = (settings: Settings, error: InvalidUsage): BashSession => ({
  shellCommand: settings.shellCommand,
  execute: () => Effect.fail(error),
  exclusive: (use) => use(() => Effect.fail(error)),
  restart: Effect.void,
  cwd: Effect.succeed(settings.cwd ?? "/"),
  peek: () => ({ cwd: settings.cwd ?? "/", isFree: true })
})

/**
 * The error for whoever uses what `exclusive` gave after its turn has ended.
 *
 * @since 0.1.0
 * @category errors
 */
export const turnOver = (): ExecutionFailed =>
  new ExecutionFailed({ kind: "shell", reason: "this turn is over: what `exclusive` gave is for its time only" })

/** Refuses a text that would not arrive in the shell as it is. */
const refusalOf = (text: string): InvalidUsage | undefined => {
  const half = HalfCharacter.find(text)
  const what = text.includes("\0") ? "a NUL byte, which no shell can take. Write it as \\0 in a printf" : half
  return what === undefined ? undefined : new InvalidUsage({ reason: `The command holds ${what}.` })
}

/**
 * Makes a session. The launcher starts its shell with the first command, and another one whenever the shell has ended.
 * Everything that they started ends with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  launcher: ShellLauncher
): Effect.Effect<BashSession, never, SessionSettings | ShellBridge | Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* SessionSettings
    const bridge = yield* ShellBridge
    const shell = ShellCommand.parse(settings.shellCommand)
    if (Either.isLeft(shell)) return unusable(settings, shell.left)
    const state = new SessionState(settings.cwd ?? process.cwd())
    const feeder = new CommandFeeder(settings, state)
    const lifecycle = yield* ShellLifecycle.make({ settings, launcher, shell: shell.right, bridge, state, feeder })
    const options = { feeder, lifecycle, state, bridge }

    const executeBy =
      (
        dispatch: CommandDispatch,
        isNested: (fiber: Fiber.RuntimeFiber<CommandResult, ExecutionFailed>) => boolean
      ): Execute =>
      (text, options) =>
        refusalOf(text) ??
        Effect.withFiberRuntime<CommandResult, ExecutionFailed>((fiber) =>
          isNested(fiber)
            ? Nesting.busy()
            : Span.inFiber(
                fiber,
                "BashSession.execute",
                dispatch.run({
                  text,
                  timeout: Math.min(options?.timeout ?? settings.timeout, Timeout.longest),
                  listener: fiber.getFiberRef(CommandListener.current),
                  input: fiber.getFiberRef(CommandInput.current),
                  stdin: fiber.getFiberRef(CommandInput.ofLine),
                  observer: options?.observer
                })
              )
        )

    const turns = new TurnQueue()
    const isOfShell = Nesting.isWithin(bridge)
    return {
      shellCommand: settings.shellCommand,
      execute: executeBy(new CommandDispatch(turns, options), isOfShell),
      exclusive: <A, E>(use: (execute: Execute) => Effect.Effect<A, E>) =>
        Nesting.refuse<A, E | ExecutionFailed, never>(
          bridge,
          Effect.withFiberRuntime((fiber) => {
            const inner = new TurnQueue()
            const executeInTurn = executeBy(new CommandDispatch(inner, options), () => false)
            let isOver = false
            return turns.hold(
              Effect.suspend(() =>
                use((text, given) => Effect.suspend(() => (isOver ? turnOver() : executeInTurn(text, given))))
              ),
              {
                onEnded: () => {
                  isOver = true
                  // A command that `use` has left running keeps the turn until it ends.
                  return inner.isFree ? undefined : inner.hold(Effect.void)
                },
                onGivenUp: () => Job.tellInterrupted({ listener: fiber.getFiberRef(CommandListener.current) })
              }
            )
          })
        ),
      restart: lifecycle.restart,
      cwd: Effect.sync(() => state.cwd),
      peek: () => ({ cwd: state.cwd, isFree: turns.isFree }),
      setStatus: (status) =>
        Effect.sync(() => {
          state.status = status
        })
    }
  })
