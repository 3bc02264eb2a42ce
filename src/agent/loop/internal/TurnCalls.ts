/** Runs the tool calls of a turn. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { InvalidUsage } from "../../../domain/CommandError.js"
import * as CommandListener from "../../../domain/CommandListener.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as ToolReturn from "../../../toolset/ToolReturn.js"
import type { Toolset } from "../../../toolset/Toolset.js"
import type { Finished } from "../../model/TurnPart.js"
import { AgentEvent } from "../AgentEvent.js"
import * as History from "../History.js"
import * as CalledLine from "./CalledLine.js"
import type { EventQueue } from "./EventQueue.js"

const task = /^task:./

/**
 * Tests whether a call is a task of its own: its whole line is one `task:*` command, with nothing in it that a shell has
 * to expand or to carry out.
 */
export const isTask = (call: ToolCall): boolean => {
  const line = CalledLine.of(call)
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
    CommandListener.current,
    (listener) => ({ ...listener, account })
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
