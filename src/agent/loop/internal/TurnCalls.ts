/** Runs the tool calls of a turn. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../../bash/CommandLine.js"
import * as CallContext from "../../../domain/CallContext.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import type * as CommandListener from "../../../domain/CommandListener.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as BashArguments from "../../../toolset/BashArguments.js"
import * as ToolReturn from "../../../toolset/ToolReturn.js"
import type { Toolset } from "../../../toolset/Toolset.js"
import type { Finished } from "../../model/Turn.js"
import { AgentEvent } from "../AgentEvent.js"
import * as History from "../History.js"
import type { EventQueue } from "./EventQueue.js"

/** The most characters of arguments that are looked into. */
const longest = 1_000_000

/**
 * Returns the arguments of a call of the tool Bash in the form of its parameters; undefined where they are no JSON.
 */
export const argumentsOf = (call: ToolCall): unknown => {
  if (call.name !== "Bash" || call.arguments.length > longest) return undefined
  try {
    return BashArguments.prepare(JSON.parse(call.arguments))
  } catch {
    return undefined
  }
}

/** Returns the command line of a call of the tool Bash; undefined where its arguments hold none, or a restart. */
export const of = (call: ToolCall): CommandLine.CommandLine | undefined => {
  const given = argumentsOf(call)
  if (!Predicate.isReadonlyRecord(given) || given["restart"] === true) return undefined
  const { command } = given
  return typeof command === "string" ? CommandLine.parse(command) : undefined
}

const task = /^task:./

/**
 * Tests whether a call is a task of its own: its whole line is one `task:*` command, with nothing in it that a shell has
 * to expand or to carry out.
 */
export const isTask = (call: ToolCall): boolean => {
  const line = of(call)
  return line !== undefined && task.test(line.name) && line.assignments.length === 0 && line.literal
}

/**
 * Parts the calls of a turn into groups that run one after the other: neighbouring tasks are one group, whose calls are
 * independent of each other; every other call is a group of its own, for it may need what the calls before it have done.
 */
export const make = (calls: ReadonlyArray<ToolCall>): ReadonlyArray<ReadonlyArray<ToolCall>> => {
  const groups: Array<Array<ToolCall>> = []
  let wasTask = false
  for (const call of calls) {
    const isOne = isTask(call)
    if (isOne && wasTask) groups.at(-1)?.push(call)
    else groups.push([call])
    wasTask = isOne
  }
  return groups
}

/** A call and its result. */
export interface Done {
  readonly call: ToolCall
  readonly result: ToolReturn.ToolReturn
}

/** The surroundings of calls. */
interface Options {
  readonly toolset: Context.Tag.Service<Toolset>
  readonly events: EventQueue
  readonly account: CommandListener.CommandAccount
  readonly maxParallelTasks: number
}

/**
 * Runs the calls of a turn, and returns their results in the order of the calls. Neighbouring tasks run side by side.
 */
export const run = (
  turn: Pick<Finished, "calls" | "reason">,
  { account, events, maxParallelTasks, toolset }: Options
): Effect.Effect<ReadonlyArray<Done>> =>
  Effect.locallyWith(
    Effect.map(
      Effect.forEach(make(turn.calls), (group) =>
        Effect.forEach(
          group,
          (call) => {
            const refusal = refusalOf(turn, call)
            return events.emit(AgentEvent.ToolStarted({ call })).pipe(
              Effect.zipRight(refusal === undefined ? toolset.handle(call) : Effect.succeed(refusal)),
              Effect.tap((result) => events.emit(AgentEvent.ToolEnded({ call, result }))),
              Effect.map((result) => ({ call, result })),
              Effect.tap((done) => events.handOver(AgentEvent.Appended({ messages: [History.toolMessage([done])] })))
            )
          },
          { concurrency: Math.max(1, maxParallelTasks) }
        )
      ),
      (groups) => groups.flat()
    ),
    CallContext.current,
    (context) => ({ ...context, listener: { ...context.listener, account } })
  )

/** Returns the answer to a call that can't be run as it came. */
const refusalOf = (
  { calls, reason }: Pick<Finished, "calls" | "reason">,
  call: ToolCall
): ToolReturn.ToolReturn | undefined => {
  const refuse = (reason: string) => ToolReturn.fromError(call, new InvalidUsage({ reason }), { toolName: call.name })
  if (call.arguments.length > History.longestArguments) {
    return refuse(
      `The call was not run: its arguments have ${call.arguments.length} characters, and at most ${History.longestArguments} are taken. Write large files in parts.`
    )
  }
  return reason === "length" && call === calls.at(-1) && isCut(call.arguments)
    ? refuse(
        "The call was cut off, for the answer was too long, and it was not run. Do less in one answer: write large files in parts."
      )
    : undefined
}

const isCut = (text: string): boolean => {
  try {
    return text === "{}" || JSON.parse(text) === undefined
  } catch {
    return true
  }
}
