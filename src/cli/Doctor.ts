/**
 * `synapse doctor`: checks whether the sandbox can start, and tells what to do about it where it can't.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"

/** Loads the module that only this subcommand needs. */
const load = Effect.promise(() => import("./DoctorActions.js"))

/**
 * The subcommand `doctor`, which checks whether the sandbox can start.
 *
 * @since 0.1.0
 * @category commands
 */
export const doctor = Command.make(
  "doctor",
  { json: Options.boolean("json").pipe(Options.withDescription("Print one line of JSON: { ok, platform, checks }.")) },
  (given) => Effect.flatMap(load, (actions) => actions.doctor(given))
).pipe(
  Command.withDescription(
    "Check whether the sandbox can start, and say what to do about it; exit code 1 where it can't."
  )
)
