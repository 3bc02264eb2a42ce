/**
 * The crossroads: a command is read once, classified once, and runs where it belongs.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type CommandError, type ExecutionFailed, InvalidUsage, timedOut } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { CommandHandler, RunOptions } from "../grammar/CommandHandler.js"
import * as CommandLine from "../grammar/CommandLine.js"
import { CommandRegistry } from "../grammar/CommandRegistry.js"
import * as Hint from "../grammar/Hint.js"
import * as UnknownCommand from "../grammar/UnknownCommand.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import { identifyCommandType, isReserved } from "./CommandType.js"

/**
 * `restart`: whether the shell is restarted before the command, which loses all its state (S21).
 *
 * @since 0.1.0
 * @category models
 */
export type RouteOptions = RunOptions

/**
 * @since 0.1.0
 * @category tags
 */
export class BashRouter extends Context.Tag("synapse/BashRouter")<
  BashRouter,
  {
    /** Classifies a command line and runs it where it belongs. */
    readonly route: (command: string, options?: RouteOptions) => Effect.Effect<CommandResult, CommandError>
  }
>() {}

/**
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
      if (!line.simple && handler?.takesCompound !== true) {
        // bash's own `read` is another command than ours.
        if (Hint.isBuiltin(line.name)) return sandbox.execute(command, options)
        return notAlone(line)
      }
      if (handler === undefined) return unknown(line.name, registry.list())
      const running = Effect.suspend(() => run(handler, line, options))
      return options.restart === true && handler.streams !== true ? Effect.zipRight(sandbox.restart, running) : running
    }

    return BashRouter.of({ route: (command, options = {}) => dispatch(command, options) })
  })
)

/** What a handler runs beneath is its own affair: the listener hears its result, once. */
const run = (
  handler: CommandHandler,
  line: CommandLine.CommandLine,
  options: RunOptions
): Effect.Effect<CommandResult, CommandError> => {
  const result = handler.run(line, options)
  if (handler.streams === true) return result
  return inTime(result, options.timeout).pipe(
    Effect.locally(CommandListener.current, {}),
    Effect.tap(CommandListener.tell)
  )
}

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

const unknown = (name: string, known: ReadonlyArray<CommandHandler>) => {
  if (name.startsWith("mcp:")) return UnknownCommand.mcpServer(name, [])
  if (name.startsWith("skill:")) return UnknownCommand.skill(name, [])
  return UnknownCommand.command(
    name,
    known.map((handler) => handler.name)
  )
}

const notAlone = (line: CommandLine.CommandLine) =>
  new InvalidUsage({
    reason: line.words.some((word) => !word.closed)
      ? `${line.name}: a quote or a bracket in its arguments is not closed.`
      : `${line.name} is no program of the shell, so it can't be combined with other commands, pipes or redirections. ` +
        `Run it on its own: Bash(command="${line.name} …"), and the rest of the line in a call of its own.`
  })

/**
 * What to do about a command of ours that bash was asked for and did not find; undefined for any other name.
 *
 * @since 0.1.0
 */
export const hintForMissing = (name: string): string | undefined =>
  isReserved(name)
    ? `Hint: ${name} is no program of the shell: run it on its own, Bash(command="${name} …"), not within a longer command line.`
    : undefined
