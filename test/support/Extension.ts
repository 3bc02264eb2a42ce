/** A prefix's handler as those of MCP servers and skills are: it knows some commands, and more once it is asked. */
import * as Effect from "effect/Effect"
import type { CommandHandler, Described, Handler } from "../../src/command/CommandHandler.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import type { Commands } from "../../src/Synapse.js"
import * as Handlers from "./Handlers.js"

export interface Extension extends CommandHandler {
  /** Replaces what is known. */
  readonly set: (commands: ReadonlyArray<Described>) => void
  /** The names that it was called by, in order. */
  readonly called: Array<string>
}

export const described = (name: string, summary = `Is ${name}.`): Described => ({ name, summary, usage: name })

/** A handler of a prefix; a call shows its words, as `show` does. */
export const make = (prefix: string, names: ReadonlyArray<string> = []): Extension => {
  let known = names.map((name) => described(name))
  const called: Array<string> = []
  return {
    ...Handlers.show,
    name: prefix,
    run: (call, options) =>
      Effect.zipRight(
        Effect.sync(() => called.push(call.name)),
        Handlers.show.run(call, options)
      ),
    known: () => known,
    set: (commands) => {
      known = [...commands]
    },
    called
  }
}

/** A list of tools as long as those that people complain of. */
export const tools = (count: number, server = "gh"): ReadonlyArray<Described> =>
  Array.from({ length: count }, (_, at) => {
    const verb = ["create", "list", "get", "update", "delete", "search", "close", "merge"][at % 8]
    const noun = ["issue", "pull_request", "branch", "commit", "release", "label", "milestone"][at % 7]
    return described(`mcp:${server}:${verb}_${noun}_${at}`, `Will ${verb} the ${noun} number ${at} of a repository.`)
  })

/** Says nothing, at once. */
export const silent = (name: string): CommandHandler => ({
  ...described(name),
  run: () => Effect.succeed(CommandResult.make())
})

/** These handlers as changes to an app's commands: in the place of the app's own of the same name. */
export const commands = (handlers: ReadonlyArray<Handler>): Commands =>
  Object.fromEntries(handlers.map((handler) => [handler.name, handler])) as Commands
