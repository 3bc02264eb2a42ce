/** Runs the command that `synapse exec` is given. */
import * as Path from "node:path"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Advice from "../domain/Advice.js"
import * as CommandInput from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as WorkingDirectory from "../domain/WorkingDirectory.js"
import * as PassingDenial from "../sandbox/denial/PassingDenial.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"
import { Toolset } from "../toolset/Toolset.js"
import * as Asking from "./Asking.js"
import { House, Invocation } from "./Invocation.js"
import type * as LiveTasks from "./LiveTasks.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import * as PersonWords from "./shell/PersonWords.js"
import * as TaskRetries from "./TaskRetries.js"
import * as WithoutSandbox from "./WithoutSandbox.js"

/** The options of `handle`. */
export interface Options {
  readonly audience?: Advice.Audience
  /** The directory that the sandbox is for. */
  readonly cwd?: string
  readonly tasks?: LiveTasks.LiveTasks | undefined
}

/**
 * Runs one call and passes on its output, or prints its result as JSON. Returns the exit code.
 *
 * @param options `tasks` shows the sub-agents of the command, where a person watches; `audience` reads its output
 */
export const handle = (
  call: ToolCall,
  json: boolean,
  { audience = PersonWords.audience, cwd = "/", tasks }: Options = {}
): Effect.Effect<number, never, Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const toolset = yield* Toolset
    const hints: Array<string> = []
    const { onOutput = stdio.write, onSubAgent = TaskRetries.listener(stdio.write) } = tasks?.listener ?? {}
    const listener: CommandListener.CommandListener = {
      ...(json ? undefined : { onOutput, takesAll: true, audience, onHint: (text) => hints.push(text) }),
      onSubAgent
    }
    const result = yield* Effect.locally(toolset.handle(call), CommandListener.current, listener)
    if (tasks !== undefined) yield* tasks.end
    if (json) yield* Effect.promise(async () => stdio.write("stdout", `${JSON.stringify(result)}\n`))
    else {
      const answers = PersonWords.answersOf(result)
      const passing = (result.extras.notices ?? []).filter(PassingDenial.isNotice)
      const said = isOurs(result)
        ? [PersonWords.reasonOf(result, "synapse sandbox allow", cwd)]
        : [...passing, ...hints]
      for (const text of answers.length > 0 ? answers : said) stdio.write("stderr", `synapse: ${text}\n`)
    }
    return result.extras.exitCode ?? ExitCode.failure
  })

const load = Effect.promise(() => import("./LiveTasks.js"))

/** Tests whether the command itself said nothing of its failure, so that the program has to. */
const isOurs = ({ extras }: ToolReturn): boolean =>
  extras.error !== undefined || extras.interrupted === true || extras.blocked === true

/** Runs one command in a house of its own, and sets the program's exit code to the command's. */
export const exec = (
  command: string,
  json: boolean,
  given: SessionOptions.Given
): Effect.Effect<void, ConfigError, House | Invocation | Stdio> =>
  Effect.gen(function* () {
    const { setExitCode } = yield* Invocation
    const house = yield* House
    yield* WithoutSandbox.tell(given)
    // In the call too, since a command of ours takes the time that it needs by default.
    const timeout = Option.getOrUndefined(given.timeout)
    const call = { id: "exec", name: "Bash", arguments: JSON.stringify({ command, timeout }) }
    const stdio = yield* Stdio
    const cwd = yield* Effect.orElseSucceed(
      Effect.map(Effect.suspend(WorkingDirectory.current), (here) =>
        Path.resolve(
          here,
          Option.getOrElse(given.cwd, () => "")
        )
      ),
      () => "/"
    )
    const tasks = stdio.isTerminal("stderr") ? yield* Effect.flatMap(load, ({ make }) => make) : undefined
    const permission = (yield* Asking.isAsked(given.ask))
      ? PermissionPrompt.layerWithin({ endsAtOnce: true, ...(tasks === undefined ? undefined : { hold: tasks.hold }) })
      : undefined
    const code = yield* handle(call, json, { tasks, cwd }).pipe(
      Effect.locally(CommandInput.ofLine, stdio.hasInput() ? stdio.pull : undefined),
      Effect.provide(house.layer(...SessionOptions.toSettings(given, SessionOptions.endsAtOnce), permission))
    )
    yield* setExitCode(code)
  }).pipe(Effect.scoped)
