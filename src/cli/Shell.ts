/**
 * `synapse shell`: the session of the tool for a person at a terminal.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as ProgramOptions from "./ProgramOptions.js"

/** Loads the modules that only this subcommand needs. */
const load = Effect.promise(() => import("./ShellAction.js"))

/**
 * Reads command lines and questions at a terminal, until the person leaves.
 *
 * @since 0.1.0
 * @category commands
 */
export const shell = Command.make("shell", ProgramOptions.session, (given) =>
  Effect.zipRight(
    ProgramOptions.check(given),
    Effect.flatMap(load, (actions) => actions.shell(given))
  )
).pipe(
  Command.withDescription("Use the shell yourself, at a terminal, and ask the agent in it. /help there tells more.")
)
