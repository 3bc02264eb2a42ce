/**
 * A persistent shell: its state (directory, variables, functions, options, aliases) lives from command to command.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { type ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import { CommandDispatch } from "./CommandDispatch.js"
import { CommandFeeder } from "./CommandFeeder.js"
import * as Nesting from "./Nesting.js"
import { SessionSettings, type Settings } from "./SessionSettings.js"
import { SessionState } from "./SessionState.js"
import { ShellBridge } from "./ShellBridge.js"
import * as ShellCommand from "./ShellCommand.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import * as ShellLifecycle from "./ShellLifecycle.js"
import { TurnQueue } from "./TurnQueue.js"

/**
 * What a call of `execute` may differ in.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExecuteOptions {
  /** Milliseconds; the setting's default where it is not given. */
  readonly timeout?: number | undefined
}

/**
 * Runs a command and answers when it ended, with all that it put out. Fails with ExecutionFailed when it timed out or no
 * shell could be started, with InvalidUsage for a text that no shell can take (a NUL byte). Interruption ends what the
 * command runs, and keeps the shell wherever it can be kept.
 *
 * @since 0.1.0
 * @category models
 */
export type Execute = (
  command: string,
  options?: ExecuteOptions
) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage>

/**
 * One shell, for one command at a time; others wait their turn in the order of their calls.
 *
 * A command that the shell itself has called (`ShellBridge`) gets ExecutionFailed from `execute` and `exclusive`, before any
 * waiting: the shell waits for it, so it would wait for ever.
 *
 * @since 0.1.0
 * @category models
 */
export interface BashSession {
  /** The command line that starts the shell. */
  readonly shellCommand: string
  readonly execute: Execute
  /**
   * Takes one turn in the same queue as the commands, and holds it while `use` runs: nobody else's command comes between
   * what `use` runs with the `execute` that it is given. That one must not be used after `use` has ended.
   */
  readonly exclusive: <A, E>(use: (execute: Execute) => Effect.Effect<A, E>) => Effect.Effect<A, E | ExecutionFailed>
  /** Ends the shell and everything that it started; the next command gets a new one, without any old state. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory, as of the last command that ended. */
  readonly cwd: Effect.Effect<string>
}

const spanned = Span.within("BashSession.execute")

/** Where no shell can be started at all, every command says why. */
const unusable = (settings: Settings, error: InvalidUsage): BashSession => ({
  shellCommand: settings.shellCommand,
  execute: () => Effect.fail(error),
  exclusive: (use) => use(() => Effect.fail(error)),
  restart: Effect.void,
  cwd: Effect.succeed(settings.cwd ?? "/")
})

const nulByte = () =>
  new InvalidUsage({
    reason: "The command holds a NUL byte, which no shell can take. Write it as \\0 in a printf."
  })

/**
 * Makes a session whose shells the launcher starts: with the first command, and anew where one has ended. Everything that
 * they started ends with the scope.
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
      (dispatch: CommandDispatch): Execute =>
      (text, options) =>
        text.includes("\0")
          ? nulByte()
          : spanned(
              Effect.withFiberRuntime((fiber) =>
                dispatch.run({
                  text,
                  timeout: Math.min(options?.timeout ?? settings.timeout, Timeout.longest),
                  listener: fiber.getFiberRef(CommandListener.current),
                  input: fiber.getFiberRef(CommandInput.current)
                })
              )
            )

    const turns = new TurnQueue()
    const execute = executeBy(new CommandDispatch(turns, options))
    return {
      shellCommand: settings.shellCommand,
      execute: (command, options) => Nesting.refuse(bridge, execute(command, options)),
      exclusive: <A, E>(use: (execute: Execute) => Effect.Effect<A, E>) =>
        Nesting.refuse<A, E | ExecutionFailed, never>(
          bridge,
          turns.hold(Effect.suspend(() => use(executeBy(new CommandDispatch(new TurnQueue(), options)))))
        ),
      restart: lifecycle.restart,
      cwd: Effect.sync(() => state.cwd)
    }
  })
