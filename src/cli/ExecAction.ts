/**
 * Runs the command that `synapse exec` is given.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"
import { Toolset } from "../toolset/Toolset.js"
import { House, Invocation } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

/**
 * Runs one call and passes on its output, or prints its result as JSON. Returns the exit code.
 *
 * @since 0.1.0
 */
export const handle = (call: ToolCall, json: boolean): Effect.Effect<number, never, Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const toolset = yield* Toolset
    const listener: CommandListener.CommandListener = json ? {} : { onOutput: stdio.write, takesAll: true }
    const result = yield* Effect.locally(toolset.handle(call), CommandListener.current, listener)
    if (json) yield* Effect.promise(async () => stdio.write("stdout", `${JSON.stringify(result)}\n`))
    else if (isOurs(result)) stdio.write("stderr", `synapse: ${result.message}\n`)
    return result.extras.exitCode ?? ExitCode.failure
  })

/** Tests whether the command itself said nothing of its failure, so that the program has to. */
const isOurs = ({ extras }: ToolReturn): boolean =>
  extras.error !== undefined || extras.interrupted === true || extras.blocked === true

/**
 * Runs one command in a house of its own, and sets the program's exit code to the command's.
 *
 * @since 0.1.0
 */
export const exec = (
  command: string,
  json: boolean,
  given: SessionOptions.Given
): Effect.Effect<void, ConfigError, House | Invocation | Stdio> =>
  Effect.gen(function* () {
    const { setExitCode } = yield* Invocation
    const house = yield* House
    // In the call too, since a command of ours takes the time that it needs by default.
    const timeout = Option.getOrUndefined(given.timeout)
    const call = { id: "exec", name: "Bash", arguments: JSON.stringify({ command, timeout }) }
    const stdio = yield* Stdio
    const code = yield* handle(call, json).pipe(
      Effect.locally(CommandInput.ofLine, stdio.hasInput() ? stdio.pull : undefined),
      Effect.provide(house.layer(...SessionOptions.toSettings(given, SessionOptions.endsAtOnce)))
    )
    yield* setExitCode(code)
  })
