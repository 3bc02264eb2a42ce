import * as Arr from "effect/Array"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as CommandLine from "../../../bash/CommandLine.js"
import * as Attempt from "../../../domain/Attempt.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import * as CommandListener from "../../../domain/CommandListener.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import * as BashArguments from "../../../toolset/BashArguments.js"
import * as BashTool from "../../../toolset/BashTool.js"
import * as ToolReturn from "../../../toolset/ToolReturn.js"
import type { Toolset } from "../../../toolset/Toolset.js"
import type { Finished } from "../../model/Turn.js"
import { AgentEvent } from "../AgentEvent.js"
import * as History from "../History.js"
import type { Emit } from "./EventQueue.js"

/** Returns the arguments of a Bash call, converted to the tool's parameters. Returns undefined if they are not JSON. */
const argumentsOf = (call: ToolCall): unknown => {
  if (call.name !== "Bash") return undefined
  return Attempt.orUndefined(() => BashArguments.prepare(JSON.parse(call.arguments)))
}

/** Parses the command line of a Bash call. Returns undefined for invalid arguments or a restart. */
const of = (call: ToolCall): CommandLine.CommandLine | undefined => {
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

/** Consecutive turns in which a model uses its tool wrongly. */
interface Misuse {
  readonly count: number
  /** The failed commands; undefined if the tool call itself was wrong. */
  readonly commands: string | undefined
}

/** The number of consecutive misuses after which a run ends. */
export const mostMisuses = 3

export const noMisuse: Misuse = { count: 0, commands: undefined }

/** Counts a turn. One correct call resets the count. */
export const nextMisuse = (before: Misuse, turn: ReadonlyArray<Done>): Misuse => {
  const kinds = turn.map(kindOf)
  if (kinds.length === 0 || kinds.includes(undefined)) return noMisuse
  const commands = kinds.includes("wrong")
    ? undefined
    : kinds.map((kind) => (typeof kind === "object" ? kind.command : "")).join("\n")
  return { count: commands === before.commands ? before.count + 1 : 1, commands }
}

export const describeMisuse = ({ commands, count }: Misuse): string =>
  commands === undefined
    ? `The model called its tool wrongly in ${count} turns in a row.`
    : `The same command failed in ${count} turns in a row: ${UntrustedText.quoted(commands, 200)}.`

const isValid = Schema.is(BashTool.Parameters, { onExcessProperty: "error" })

const kindOf = ({ call, result }: Done): "wrong" | { readonly command: string } | undefined => {
  const { error, failureCategory, toolName } = result.extras
  if (toolName !== undefined) return "wrong"
  const isRefused = error === "CommandNotFound" || error === "InvalidUsage"
  if (error !== undefined && !isRefused) return undefined
  if (failureCategory !== "invalid_usage" && failureCategory !== "command_not_found") return undefined
  const line = of(call)
  if (line?.simple !== true || (isRefused && !isValid(argumentsOf(call)))) {
    return isRefused ? "wrong" : undefined
  }
  // A missing program is missing with any arguments.
  return { command: failureCategory === "command_not_found" && !isRefused ? line.name : line.text }
}
