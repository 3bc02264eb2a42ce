/**
 * `synapse exec`: runs one command as the tool does, with the command's own output and exit code.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as CommandListener from "../domain/CommandListener.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"
import { Toolset } from "../toolset/Toolset.js"
import { House, Invocation, WrongUsage } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

const command = Args.text({ name: "command" }).pipe(
  Args.withDescription("The command line, in one argument: synapse exec 'ls -la | head'"),
  Args.repeated
)

/** Returns the command, if there is exactly one among the words; fails with WrongUsage otherwise. */
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
 * Runs one call, and passes on its output or prints its result as JSON. Returns the exit code.
 *
 * @since 0.1.0
 */
export const handle = (call: ToolCall, json: boolean): Effect.Effect<number, never, Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const toolset = yield* Toolset
    const listener: CommandListener.CommandListener = json ? {} : { onOutput: stdio.write }
    const result = yield* Effect.locally(toolset.handle(call), CommandListener.current, listener)
    if (json) yield* Effect.promise(async () => stdio.write("stdout", `${JSON.stringify(result)}\n`))
    else if (isOurs(result)) stdio.write("stderr", `synapse: ${result.message}\n`)
    return result.extras.exitCode ?? ExitCode.failure
  })

/** Tests whether a failure has to be reported here, because the command itself has not reported it. */
const isOurs = ({ extras }: ToolReturn): boolean =>
  extras.error !== undefined || extras.interrupted === true || extras.blocked === true

/**
 * The subcommand `exec`, which runs one command.
 *
 * @since 0.1.0
 * @category commands
 */
export const exec = Command.make(
  "exec",
  {
    ...SessionOptions.options,
    json: Options.boolean("json").pipe(
      Options.withDescription("Print the result as the model gets it, as one line of JSON, in place of the output.")
    ),
    command
  },
  ({ command, json, ...settings }) =>
    Effect.gen(function* () {
      const { args, setExitCode } = yield* Invocation
      const text = yield* commandOf(command, args)
      const house = yield* House
      const call = { id: "exec", name: "Bash", arguments: JSON.stringify({ command: text }) }
      const output = json ? SessionOptions.answered : SessionOptions.passedOn
      const code = yield* Effect.provide(
        handle(call, json),
        house.layer(...SessionOptions.toSettings(settings, output))
      )
      yield* setExitCode(code)
    })
).pipe(Command.withDescription("Run a command and pass on its output and its exit code."))
