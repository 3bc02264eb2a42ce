/**
 * The crossroads: a command is read once, classified once, and runs where it belongs.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandLine from "../bash/CommandLine.js"
import { type CommandHandler, isLineHandler, type LineOptions } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as ReservedName from "../command/ReservedName.js"
import * as UnknownCommand from "../command/UnknownCommand.js"
import { type CommandError, type ExecutionFailed, timedOut } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import { identifyCommandType } from "./CommandType.js"
import * as PlainCall from "./PlainCall.js"

/**
 * How a command is routed. `restart`: whether the shell is restarted before the command, which loses all its state.
 *
 * @since 0.1.0
 * @category models
 */
export type RouteOptions = LineOptions

/**
 * Runs command lines.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashRouter extends Context.Tag("synapse/BashRouter")<
  BashRouter,
  {
    /** Classifies a command line and runs it where it belongs. `true` stands for `{ restart: true }` (S21). */
    readonly route: (command: string, options?: RouteOptions | boolean) => Effect.Effect<CommandResult, CommandError>
  }
>() {}

/**
 * A router over the commands of the registry and the shell of the manager.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<BashRouter, never, CommandRegistry | SandboxManager> = Layer.effect(
  BashRouter,
  Effect.gen(function* () {
    const registry = yield* CommandRegistry
    const sandbox = yield* SandboxManager
    const isRegistered = (name: string) => registry.find(name) !== undefined

    const dispatch = (command: string, options: RouteOptions): Effect.Effect<CommandResult, CommandError> => {
      const line = CommandLine.parse(command)
      if (identifyCommandType(line, isRegistered) === "native") return sandbox.execute(command, options)
      const handler = registry.find(line.name)
      if (handler !== undefined && isLineHandler(handler)) return handler.runLine(line, options)
      const plain = PlainCall.of(line, handler)
      // Whatever it takes a shell to read is read by the shell, which calls the command then.
      if (plain === undefined) return sandbox.execute(command, options)
      const running =
        handler === undefined
          ? UnknownCommand.of(
              line.name,
              registry.list().map(({ name }) => name)
            )
          : Effect.flatMap(sandbox.cwd, (cwd) => run(handler, plain, cwd, options))
      return options.restart === true ? Effect.zipRight(sandbox.restart, running) : running
    }

    return BashRouter.of({
      route: (command, options = {}) =>
        routed(dispatch(command, typeof options === "boolean" ? { restart: options } : options))
    })
  })
)

const routed = Span.within("BashRouter.route")

/** What a handler runs beneath is its own affair: the listener hears its output, once. */
const run = (
  handler: CommandHandler,
  plain: PlainCall.PlainCall,
  cwd: string,
  options: RouteOptions
): Effect.Effect<CommandResult, CommandError> =>
  Effect.suspend(() => {
    const early: Array<Uint8Array> = []
    const call = PlainCall.toCommandCall(plain, cwd, (chunk) => early.push(chunk))
    return inTime(handler.run(call, options), options.timeout).pipe(
      Effect.map((result) =>
        early.length === 0 ? result : { ...result, stdout: Buffer.concat(early).toString() + result.stdout }
      ),
      Effect.locally(CommandListener.current, {}),
      Effect.tap(CommandListener.tell)
    )
  })

/** A command of ours takes the time it needs, unless the call says how much it has. */
const inTime = <A, E>(
  effect: Effect.Effect<A, E>,
  timeout: number | undefined
): Effect.Effect<A, E | ExecutionFailed> =>
  timeout === undefined
    ? effect
    : Effect.timeoutFail(effect, {
        duration: timeout,
        onTimeout: () => timedOut(timeout)
      })

/**
 * What to do about a command of ours that was not found; undefined for any other name.
 *
 * @since 0.1.0
 */
export const hintForMissing = (name: string): string | undefined =>
  ReservedName.isReserved(name)
    ? `Hint: ${name} is known to the shell, not to programs that run others (env, xargs, find -exec): ` +
      `call it in the line itself, Bash(command="${name} …").`
    : undefined
