/**
 * A persistent shell: its state (directory, variables, functions, options, aliases) lives from command to command.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { type ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import type { Job } from "./Job.js"
import * as KeepAlive from "./KeepAlive.js"
import * as Nesting from "./Nesting.js"
import { PersistentShell } from "./PersistentShell.js"
import { SessionSettings, type Settings } from "./SessionSettings.js"
import { ShellBridge } from "./ShellBridge.js"
import * as ShellCommand from "./ShellCommand.js"
import type { ShellLauncher } from "./ShellLauncher.js"
import { TurnQueue } from "./TurnQueue.js"

/**
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

const traced =
  (execute: Execute): Execute =>
  (command, options) =>
    spanned(execute(command, options))

/** Where no shell can be started at all, every command says why. */
const unusable = (settings: Settings, error: InvalidUsage): BashSession => ({
  shellCommand: settings.shellCommand,
  execute: () => Effect.fail(error),
  exclusive: (use) => use(() => Effect.fail(error)),
  restart: Effect.void,
  cwd: Effect.succeed(settings.cwd ?? "/")
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
    const runtime = yield* Effect.runtime()
    const parsed = ShellCommand.parse(settings.shellCommand)
    if (Either.isLeft(parsed)) return unusable(settings, parsed.left)
    const launch = (request: { directory: string; environment: Readonly<Record<string, string>> }) =>
      Runtime.runPromise(runtime)(
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const launch = yield* launcher({ shell: parsed.right, ...request }).pipe(
            Scope.extend(scope),
            Effect.either,
            Effect.tap((either) => (Either.isLeft(either) ? Scope.close(scope, Exit.void) : Effect.void))
          )
          return Either.map(launch, (launch) => ({
            ...launch,
            started: (pid: number) => Runtime.runPromise(runtime)(Effect.either(launch.started(pid))),
            close: () => Runtime.runPromise(runtime)(Scope.close(scope, Exit.void))
          }))
        })
      )
    const shell = yield* Effect.acquireRelease(
      Effect.sync(() => new PersistentShell(settings, launch, bridge)),
      (shell) => Effect.promise(() => KeepAlive.during(shell.dispose()))
    )
    const executeIn =
      (turns: TurnQueue): Execute =>
      (command, options) =>
        command.includes("\0")
          ? new InvalidUsage({
              reason: "The command holds a NUL byte, which no shell can take. Write it as \\0 in a printf."
            })
          : Effect.withFiberRuntime<CommandResult, ExecutionFailed | InvalidUsage>((fiber) => {
              const listener = fiber.getFiberRef(CommandListener.current)
              const input = fiber.getFiberRef(CommandInput.current)
              const run = Effect.async<CommandResult, ExecutionFailed | InvalidUsage>((resume) => {
                const job: Job = {
                  text: command,
                  timeout: Math.min(options?.timeout ?? settings.timeout, Timeout.longest),
                  listener,
                  input,
                  succeed: (result) => resume(Effect.succeed(result)),
                  fail: (error) => resume(Effect.fail(error))
                }
                shell.submit(job)
                return Effect.async<void>((ended) =>
                  shell.cancel(job, (result) => {
                    listener.onInterrupted?.(result)
                    ended(Effect.void)
                  })
                )
              })
              const turn = {}
              const release = KeepAlive.hold()
              return Effect.ensuring(
                Effect.zipRight(turns.take(turn), run),
                Effect.sync(() => {
                  turns.leave(turn)
                  release()
                })
              )
            })
    const turns = new TurnQueue()
    const execute = traced(executeIn(turns))
    return {
      shellCommand: settings.shellCommand,
      execute: (command, options) => Nesting.refuse(bridge)(execute(command, options)),
      exclusive: (use) =>
        Nesting.refuse(bridge)(
          Effect.suspend(() => {
            const turn = {}
            const inner = traced(executeIn(new TurnQueue()))
            return Effect.ensuring(
              Effect.zipRight(
                turns.take(turn),
                Effect.suspend(() => use(inner))
              ),
              Effect.sync(() => turns.leave(turn))
            )
          })
        ),
      restart: Effect.promise(() => KeepAlive.during(shell.restart())),
      cwd: Effect.sync(() => shell.cwd)
    }
  })
