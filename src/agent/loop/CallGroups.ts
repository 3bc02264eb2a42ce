/**
 * Decides which calls of a turn run side by side.
 *
 * @since 0.1.0
 */
import type { ToolCall } from "../../domain/ToolCall.js"
import * as CalledLine from "./CalledLine.js"

const task = /^task:./

/**
 * Tests whether a call is a task of its own: its whole line is one `task:*` command, with nothing in it that a shell has
 * to expand or to carry out.
 *
 * @since 0.1.0
 */
export const isTask = (call: ToolCall): boolean => {
  const line = CalledLine.of(call)
  return line !== undefined && task.test(line.name) && line.assignments.length === 0 && line.literal
}

/**
 * Parts the calls of a turn into groups that run one after the other: neighbouring tasks are one group, whose calls are
 * independent of each other; every other call is a group of its own, for it may need what the calls before it have done.
 *
 * @since 0.1.0
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
