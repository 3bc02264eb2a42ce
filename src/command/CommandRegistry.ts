/**
 * The registry of Synapse commands: built-in commands, and commands that an application adds.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as CommandResult from "../domain/CommandResult.js"
import { DuplicateName } from "../domain/DuplicateName.js"
import { InvalidName } from "../domain/InvalidName.js"
import { type CommandHandler, type Described, type Handler, isLineHandler } from "./CommandHandler.js"
import * as CommandName from "./CommandName.js"

/**
 * The handlers of Synapse commands, by name.
 *
 * @since 0.1.0
 * @category tags
 */
export class CommandRegistry extends Context.Tag("synapse/CommandRegistry")<
  CommandRegistry,
  {
    /** Returns the handler with exactly this name, or else the one with the longest prefix of it. */
    readonly find: (name: string) => Handler | undefined
    /** Returns all handlers, sorted by name. Returns the same array until one is added or removed. */
    readonly list: () => ReadonlyArray<Handler>
    /** Returns the handlers that are not `isUnlisted`, as `list` does. */
    readonly listed: () => ReadonlyArray<Handler>
    /**
     * Adds a handler until the scope closes. Fails with DuplicateName if the name is taken, and with InvalidName if no
     * command can have it.
     */
    readonly add: (handler: Handler) => Effect.Effect<void, DuplicateName | InvalidName, Scope.Scope>
  }
>() {}

/**
 * A layer of an empty registry; `layerAdd` adds commands to it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<CommandRegistry> = Layer.sync(CommandRegistry, () => {
  let all: ReadonlyArray<Handler> | undefined
  let listed: ReadonlyArray<Handler> | undefined
  const exact = new Map<string, Handler>()
  const prefixes = new Map<string, Handler>()

  const findPrefix = (name: string): Handler | undefined => {
    let found: Handler | undefined
    for (const [prefix, handler] of prefixes) {
      if (name.startsWith(prefix) && (found === undefined || prefix.length >= found.name.length)) found = handler
    }
    return found
  }

  const changed = () => {
    all = undefined
    listed = undefined
  }

  const list = () => {
    all ??= [...exact.values(), ...prefixes.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return all
  }

  return CommandRegistry.of({
    find: (name) => exact.get(name) ?? (prefixes.size === 0 ? undefined : findPrefix(name)),
    list,
    listed: () => {
      listed ??= list().filter(({ isUnlisted }) => isUnlisted !== true)
      return listed
    },
    add: (handler) => {
      const isPrefix = handler.name.endsWith("*")
      const handlers = isPrefix ? prefixes : exact
      const key = isPrefix ? handler.name.slice(0, -1) : handler.name
      return Effect.acquireRelease(
        Effect.suspend((): Effect.Effect<void, DuplicateName | InvalidName> => {
          const reason = CommandName.problemOf(handler.name)
          if (reason !== undefined) return new InvalidName({ name: handler.name, reason })
          if (handlers.has(key)) return new DuplicateName({ kind: "command", name: handler.name })
          handlers.set(key, handler)
          changed()
          return Effect.void
        }),
        () =>
          Effect.sync(() => {
            handlers.delete(key)
            changed()
          })
      )
    }
  })
})

/**
 * Makes a command answer `--help` and `-h` with its summary and usage, unless it answers them itself.
 *
 * @since 0.1.0
 * @internal
 */
export const withHelp = (handler: CommandHandler): CommandHandler => {
  if (handler.hasHelp === true || handler.name.endsWith("*")) return handler
  const run: CommandHandler["run"] = (call, options) =>
    call.args[0] === "--help" || call.args[0] === "-h"
      ? Effect.succeed(CommandResult.make({ stdout: `${handler.summary}\n\nUsage: ${handler.usage}\n` }))
      : handler.run(call, options)
  return Object.assign(Object.create(handler), { run })
}

/**
 * Makes a handler's `known` from a list that is another value whenever it changes.
 *
 * @since 0.1.0
 * @internal
 */
export const knownFrom = <A>(
  list: () => A,
  toCommands: (list: A) => ReadonlyArray<Described>
): NonNullable<Described["known"]> => {
  let last: { readonly list: A; readonly commands: ReadonlyArray<Described> } | undefined
  return () => {
    const now = list()
    if (last?.list !== now) last = { list: now, commands: toCommands(now) }
    return last.commands
  }
}

/**
 * A layer that adds a command: `layerAdd(handler).pipe(Layer.provideMerge(Synapse.layer()))`. Any number of these
 * layers can be merged. Fails with DuplicateName if the name is taken, and with InvalidName if no command can have it.
 * `--help` as the first word prints the summary and the usage.
 *
 * @example
 * ```ts
 * import { CommandRegistry, Synapse } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const greet = CommandRegistry.layerAdd({
 *   name: "greet",
 *   summary: "Greets somebody.",
 *   usage: "greet <name>",
 *   run: ({ args }) => Effect.succeed({ stdout: `Hello ${args.join(" ")}\n`, stderr: "", exitCode: 0 })
 * })
 *
 * const app = greet.pipe(Layer.provideMerge(Synapse.layer()))
 * ```
 * @since 0.1.0
 * @category layers
 */
export const layerAdd = (handler: Handler): Layer.Layer<never, DuplicateName | InvalidName, CommandRegistry> =>
  layerAddEffect(Effect.succeed(isLineHandler(handler) ? handler : withHelp(handler)))

/**
 * A layer that adds a command whose handler needs other services.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAddEffect = <E, R>(
  handler: Effect.Effect<Handler, E, R>
): Layer.Layer<never, DuplicateName | InvalidName | E, CommandRegistry | Exclude<R, Scope.Scope>> =>
  Layer.scopedDiscard(
    Effect.flatMap(handler, (made) => Effect.flatMap(CommandRegistry, (registry) => registry.add(made)))
  )
