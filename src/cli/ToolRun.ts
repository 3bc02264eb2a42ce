/** Runs one tool call for a person: passes on its output, and adds messages about its end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type { CommandLine } from "../bash/CommandLine.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import type { CommandError } from "../domain/CommandError.js"
import type * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as JobStatus from "../domain/JobStatus.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { SandboxManager } from "../sandbox/SandboxManager.js"
import * as SessionProcesses from "../session/SessionProcesses.js"
import * as BashTool from "../toolset/BashTool.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import { Toolset } from "../toolset/Toolset.js"
import type * as LiveTasks from "./LiveTasks.js"
import { Stdio } from "./Stdio.js"
import * as PersonWords from "./shell/PersonWords.js"
import * as TaskRetries from "./TaskRetries.js"

export interface Options {
  /** Shows the sub-agents of the command to a person. */
  readonly tasks?: LiveTasks.LiveTasks | undefined
  /** True if the call's background processes end with it. */
  readonly endsAtOnce?: boolean
  /** The name of the session that goes on after the call. */
  readonly session?: string
}

/** Runs one call and passes on its output, or prints its result as JSON. Returns the exit code. */
export const handle = (
  call: ToolCall,
  json: boolean,
  { endsAtOnce = false, session, tasks }: Options = {}
): Effect.Effect<number, never, Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const toolset = yield* Toolset
    const hints: Array<string> = []
    let isReported = false
    const tellNow = () => {
      isReported = session === undefined
    }
    const { typed } = stdio
    const { onOutput = stdio.write, onSubAgent = TaskRetries.listener(stdio.write) } = tasks?.listener ?? {}
    const listener: CommandListener.CommandListener = {
      ...(json ? undefined : { onOutput, takesAll: true, audience: Advice.person }),
      // Called also when the sandbox ends, with what it takes back.
      onHint: (text) => void (isReported ? stdio.write("stderr", `synapse: ${text}\n`) : hints.push(text)),
      ...(typed === undefined
        ? undefined
        : {
            onOutput: typed.onOutput,
            onInterrupted: (partial) =>
              typed.onResult(ToolReturn.fromExit(call, Exit.interrupt(FiberId.none), { partial }))
          }),
      onSubAgent
    }
    const result = yield* Effect.acquireUseRelease(
      Effect.sync(() => SessionProcesses.atExit(tellNow)),
      () => CallContext.locally(toolset.handle(call), { listener }),
      (forget) =>
        Effect.sync(() => {
          forget()
          tellNow()
        })
    )
    if (tasks !== undefined) yield* tasks.end
    if (!json) return yield* report(result, hints, endsAtOnce, session)
    if (typed === undefined) yield* Effect.promise(async () => stdio.write("stdout", `${JSON.stringify(result)}\n`))
    else typed.onResult(result)
    return result.extras.exitCode ?? ExitCode.failure
  })

const endedWith = "what the command left running ends with exec. To keep it running: synapse exec --session NAME"

/** Prints what the output of a command does not tell, and returns the exit code. */
const report = (
  result: ToolReturn.ToolReturn,
  hints: ReadonlyArray<string>,
  endsAtOnce: boolean,
  session?: string
): Effect.Effect<number, never, Stdio> =>
  Effect.map(Stdio, ({ write }) => {
    const { jobs = [] } = result.extras
    const left = endsAtOnce && jobs.length > 0 ? [endedWith] : jobs.map(JobStatus.sentence)
    const restart = session === undefined ? undefined : `synapse daemon stop ${session}`
    for (const text of [...PersonWords.told(result, hints, { isShell: false, restart }), ...left])
      write("stderr", `synapse: ${text}\n`)
    return result.extras.exitCode ?? ExitCode.failure
  })

/** Reports the end of a command that ran without the toolset. */
export const reportExit = (
  line: CommandLine,
  exit: Exit.Exit<CommandResult, CommandError>,
  partial: CommandResult | undefined
): Effect.Effect<number, never, SandboxManager | Stdio> =>
  Effect.gen(function* () {
    const result = ToolReturn.fromExit({ id: "exec", name: "Bash" }, exit, { audience: Advice.person, partial })
    if (exit._tag === "Failure" && Cause.isDie(exit.cause)) {
      yield* Effect.logError("the tool Bash failed unexpectedly", exit.cause)
    }
    const hint = exit._tag === "Success" ? yield* BashTool.hintForPerson(line, exit.value) : undefined
    return yield* report(result, hint === undefined ? [] : [hint], true)
  })
