/**
 * `synapse doctor`: whether a sandbox can be had here, and what to do where not.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"

/** What the rest of the program has no use for. */
const load = Effect.promise(() => import("./DoctorActions.js"))

/**
 * Tells whether a sandbox can be had here.
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
