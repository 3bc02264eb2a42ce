import * as Arr from "effect/Array"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../../bash/CommandLine.js"
import * as Attempt from "../../../domain/Attempt.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import * as CommandListener from "../../../domain/CommandListener.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as BashArguments from "../../../toolset/BashArguments.js"
import * as ToolReturn from "../../../toolset/ToolReturn.js"
import type { Toolset } from "../../../toolset/Toolset.js"
import type { Finished } from "../../model/Turn.js"
import { AgentEvent } from "../AgentEvent.js"
import * as History from "../History.js"
import type { Emit } from "./EventQueue.js"

/** Returns the arguments of a Bash call, converted to the tool's parameters. Returns undefined if they are not JSON. */
export const argumentsOf = (call: ToolCall): unknown => {
  if (call.name !== "Bash") return undefined
  return Attempt.orUndefined(() => BashArguments.prepare(JSON.parse(call.arguments)))
}

/** Parses the command line of a Bash call. Returns undefined for invalid arguments or a restart. */
export const of = (call: ToolCall): CommandLine.CommandLine | undefined => {
  const given = argumentsOf(call)
  if (!Predicate.isReadonlyRecord(given) || given["restart"] === true) return undefined
  const { command } = given
  return typeof command === "string" ? CommandLine.parse(command) : undefined
}

/** Tests whether a call's line is a single `task:*` command without shell expansions. */
export const isTask = (call: ToolCall): boolean => {
  const line = of(call)
  return line !== undefined && /^task:./.test(line.name) && line.assignments.length === 0 && line.literal
}

/**
 * Groups the calls of a turn; the groups run in sequence. Neighbouring tasks form one group, since they do not depend
 * on each other. Every other call is alone.
 */
export const make = (calls: ReadonlyArray<ToolCall>): ReadonlyArray<ReadonlyArray<ToolCall>> =>
  Arr.isNonEmptyReadonlyArray(calls) ? Arr.groupWith(calls, (first, call) => isTask(first) && isTask(call)) : []

export interface Done {
  readonly call: ToolCall
  readonly result: ToolReturn.ToolReturn
}

interface Deps {
  readonly toolset: Context.Tag.Service<Toolset>
  readonly emit: Emit
  readonly account: CommandListener.CommandAccount
  readonly maxParallelTasks: number
}

/** Runs the calls of a turn, neighbouring tasks in parallel. Returns the results in the order of the calls. */
export const run = (
  turn: Pick<Finished, "calls" | "reason">,
  { account, emit, maxParallelTasks, toolset }: Deps
): Effect.Effect<ReadonlyArray<Done>> => {
  const runCall = Effect.fnUntraced(function* (call: ToolCall) {
    yield* emit(AgentEvent.ToolStarted({ call }))
    const result = isCut(turn, call)
      ? ToolReturn.fromError(call, cut, { toolName: call.name })
      : yield* toolset.handle(call)
    yield* emit(AgentEvent.ToolEnded({ call, result }))
    yield* emit(AgentEvent.Appended({ messages: [History.toolMessage([{ call, result }])] }))
    return { call, result }
  })
  return Effect.forEach(make(turn.calls), (group) =>
    Effect.forEach(group, runCall, { concurrency: Math.max(1, maxParallelTasks) })
  ).pipe(
    Effect.map((groups) => groups.flat()),
    Effect.locallyWith(CommandListener.current, (listener) => ({ ...listener, account }))
  )
}

const cut = new InvalidUsage({
  reason:
    "The call was cut off, for the answer was too long, and it was not run. Do less in one answer: write large files in parts."
})

/** Tests whether a call is incomplete because the answer was too long. */
const isCut = ({ calls, reason }: Pick<Finished, "calls" | "reason">, call: ToolCall): boolean => {
  if (reason !== "length" || call !== calls.at(-1)) return false
  return Attempt.orElse(() => call.arguments === "{}" || JSON.parse(call.arguments) === undefined, true)
}
