/**
 * `synapse exec`: runs one command as the tool would, with the command's own output and exit code.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as ExecAction from "./ExecAction.js"
import { Invocation, WrongUsage } from "./Invocation.js"
import * as ProgramOptions from "./ProgramOptions.js"

const command = Args.text({ name: "command" }).pipe(
  Args.withDescription("The command line, in one argument: synapse exec 'ls -la | head'"),
  Args.repeated
)

/** The one command text among the words that are left of the arguments. */
const commandOf = (words: ReadonlyArray<string>, args: ReadonlyArray<string>): Effect.Effect<string, WrongUsage> => {
  const dashed = args.includes("--") ? undefined : words.find((word) => word.startsWith("-"))
  if (dashed !== undefined && dashed === words[0]) {
    return new WrongUsage({
      message: `Unknown option, or option without its value: ${dashed}. A command that begins with a dash is given after --.`
    })
  }
  if (words.length > 1) {
    return new WrongUsage({
      message: `The command is one argument, and there are ${words.length}. Quote it: synapse exec -- '${words.join(" ").replaceAll("'", "'\\''")}'`
    })
  }
  const [text = ""] = words
  return text.trim() === "" ? new WrongUsage({ message: "The command is missing." }) : Effect.succeed(text)
}

/**
 * Runs one command.
 *
 * @since 0.1.0
 * @category commands
 */
export const exec = Command.make(
  "exec",
  {
    ...ProgramOptions.session,
    json: Options.boolean("json").pipe(
      Options.withDescription("Print the result as the model gets it, as one line of JSON, in place of the output.")
    ),
    command
  },
  ({ command, json, ...settings }) =>
    Effect.flatMap(Invocation, ({ args }) =>
      Effect.flatMap(Effect.zipRight(ProgramOptions.check(settings), commandOf(command, args)), (text) =>
        ExecAction.exec(text, json, settings)
      )
    )
).pipe(Command.withDescription("Run a command and pass on its output and its exit code."))
