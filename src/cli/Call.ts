/**
 * `synapse call`: one toolset for a program in any language, that writes calls and reads results as lines of JSON.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as CallAction from "./CallAction.js"
import * as ProgramOptions from "./ProgramOptions.js"

/**
 * Answers tool calls, a line of JSON each, until its input ends.
 *
 * @since 0.1.0
 * @category commands
 */
export const call = Command.make(
  "call",
  {
    ...ProgramOptions.session,
    brief: Options.boolean("brief").pipe(
      Options.withDescription(
        "Leave out what output tells already: stdout, stderr, notices, and a message that says no more."
      )
    ),
    json: Options.boolean("json").pipe(Options.withDescription("Changes nothing: the results are JSON in any case."))
  },
  (given) => Effect.zipRight(ProgramOptions.check(given), CallAction.call(given))
).pipe(
  Command.withDescription(
    'Answer tool calls: one JSON per line on stdin, {"id","name","arguments"} or {"cancel":"<id>"}; one result per line on stdout.'
  )
)
