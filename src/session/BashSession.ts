/**
 * A persistent shell as a service.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as CallRunner from "../bridge/CallRunner.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import { type ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Timeout from "../domain/Timeout.js"
import type { Job } from "./Job.js"
import * as KeepAlive from "./KeepAlive.js"
import * as Nesting from "./Nesting.js"
import { PersistentShell } from "./PersistentShell.js"
import { SessionSettings, type Settings } from "./SessionSettings.js"
import * as ShellCommand from "./ShellCommand.js"
import * as ShellLauncher from "./ShellLauncher.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface ExecuteOptions {
  /** Milliseconds; the setting's default where it is not given. */
  readonly timeout?: number | undefined
}

/**
 * One shell whose state (directory, variables, functions, options, aliases) lives from command to command.
 * One command runs at a time; others wait their turn in order.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashSession extends Context.Tag("synapse/BashSession")<
  BashSession,
  {
    /** The command line that starts the shell. */
    readonly shellCommand: string
    /**
     * Runs a command and answers when it ended, with all that it put out. Fails with ExecutionFailed when it timed out or
     * no shell could be started, with InvalidUsage for a text that no shell can take (a NUL byte). Interruption ends what
     * the command runs, and keeps the shell wherever it can be kept.
     */
    readonly execute: (
      command: string,
      options?: ExecuteOptions
    ) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage>
    /** Ends the shell and everything that it started; the next command gets a new one, without any old state. */
    readonly restart: Effect.Effect<void>
    /** The shell's current directory, as of the last command that ended. */
    readonly cwd: Effect.Effect<string>
  }
>() {}

/** Where no shell can be started at all, every command says why. */
const unusable = (settings: Settings, error: InvalidUsage): Context.Tag.Service<BashSession> => ({
  shellCommand: settings.shellCommand,
  execute: () => Effect.fail(error),
  restart: Effect.void,
  cwd: Effect.succeed(settings.cwd ?? "/")
})

const live = (
  settings: Settings,
  shell: PersistentShell,
  registry: Context.Tag.Service<CommandRegistry>
): Context.Tag.Service<BashSession> => ({
  shellCommand: settings.shellCommand,
  execute: (command, options) =>
    command.includes("\0")
      ? new InvalidUsage({
          reason: "The command holds a NUL byte, which no shell can take. Write it as \\0 in a printf."
        })
      : Effect.withFiberRuntime<CommandResult, ExecutionFailed | InvalidUsage>((fiber) => {
          if (fiber.getFiberRef(Nesting.current) === registry) return Nesting.busy
          const listener = fiber.getFiberRef(CommandListener.current)
          return Effect.async((resume) => {
            const release = KeepAlive.hold()
            const job: Job = {
              text: command,
              timeout: Math.min(options?.timeout ?? settings.timeout, Timeout.longest),
              listener,
              input: fiber.getFiberRef(CommandInput.current),
              succeed: (result) => {
                release()
                resume(Effect.succeed(result))
              },
              fail: (error) => {
                release()
                resume(Effect.fail(error))
              }
            }
            shell.submit(job)
            return Effect.async<void>((ended) =>
              shell.cancel(job, (result) => {
                release()
                listener.onInterrupted?.(result)
                ended(Effect.void)
              })
            )
          })
        }),
  restart: Effect.promise(() => KeepAlive.during(shell.restart())),
  cwd: Effect.sync(() => shell.cwd)
})

/**
 * A session whose shells are started by `launch`: with the first command, and anew where one has ended. Everything that they
 * started ends with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeWith = (launch: (shell: ShellCommand.Spawnable) => ShellLauncher.ShellLauncher) =>
  Effect.gen(function* () {
    const settings = yield* SessionSettings
    const spawnable = ShellCommand.parse(settings.shellCommand)
    if (Either.isLeft(spawnable)) return unusable(settings, spawnable.left)
    const commands = yield* CallRunner.make
    const shell = yield* Effect.acquireRelease(
      Effect.sync(() => new PersistentShell(settings, launch(spawnable.right), commands)),
      (shell) => Effect.promise(() => KeepAlive.during(shell.dispose()))
    )
    return live(settings, shell, yield* CommandRegistry)
  })

/**
 * A session with the rights of the user.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = makeWith(ShellLauncher.plain)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<BashSession, never, SessionSettings | CommandRegistry> = Layer.scoped(BashSession, make)
