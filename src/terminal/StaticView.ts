/**
 * Shows a run where lines can't be drawn anew: each event is a line of its own, which names its task.
 *
 * @since 0.1.0
 */
import * as Retrying from "../domain/Retrying.js"
import { harmless, OpenLine } from "./OpenLine.js"
import type { RunEvent } from "./RunEvent.js"
import { type Call, type Change, Running } from "./Running.js"
import * as RunView from "./RunView.js"
import type { View } from "./View.js"
import * as Wording from "./Wording.js"

const endless = Number.POSITIVE_INFINITY

/**
 * Makes a view of lines that stay.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): View => {
  const running = new Running(1)
  const text = new OpenLine()
  /** The call whose line was written last, so that its output needs no name. */
  let last: Call | undefined

  const told = (change: Change | undefined, now: number): ReadonlyArray<string> => {
    switch (change?._tag) {
      case undefined:
        return []
      case "CallStarted":
        // A task tells of itself.
        if (change.call.taskType !== undefined) return []
        last = change.call
        return [`• ${change.call.name}`]
      case "CallEnded": {
        const { call, result } = change
        const end = Wording.callEnd(result, now - call.started)
        const isNamed = last === call && end === ""
        const sign = result.isError ? "✗" : "•"
        return [
          ...(isNamed ? [] : [`${sign} ${call.name}${end}`]),
          ...Wording.result(Wording.outputOf(result), endless)
        ]
      }
      case "TaskStarted":
        return [`◐ Task(${change.task.name})`]
      case "TaskRetrying":
        return [`  ├─• Task(${change.task.name}): ${Retrying.describe(change)}`]
      case "ToolStarted":
        return [`  ├─• Task(${change.task.name}): ${change.tool.text}`]
      case "ToolFailed": {
        const reason = Wording.short(change.reason)
        return [`  ├─✗ Task(${change.task.name}): ${change.tool.text}${reason === "" ? "" : `: ${reason}`}`]
      }
      case "TaskEnded": {
        const { ending, task } = change
        const tally = Wording.tally(task.count, now - task.started, false)
        if (ending === "done") return [`✓ Task(${task.name})${tally}`]
        return [`✗ Task(${task.name}) ${RunView.failed(ending)}${tally}`, ...Wording.result(change.text, endless)]
      }
    }
  }

  const lines = (event: RunEvent, now: number): ReadonlyArray<string> => {
    switch (event._tag) {
      case "ToolStarted":
        return [...text.end(), ...told(running.start(event.call, now), now)]
      case "ToolOutput":
        return []
      case "ToolEnded":
        return [...text.end(), ...told(running.end(event, now), now)]
      case "SubAgent":
        return told(running.step(event.event, now), now)
      case "Text":
        return text.push(event.delta)
      case "TurnEnded":
        return text.end()
      case "Retrying":
        return [...text.end(), `• ${Retrying.describe(event)}`]
      case "Interrupted":
        return [...text.end(), ...running.interrupt().map(({ name }) => `✗ ${name} ${RunView.failed("interrupted")}`)]
      case "Notice":
        return [...text.end(), ...event.text.split("\n").map(harmless)]
    }
  }

  return {
    take: (event, now) => {
      const before = last
      const taken = lines(event, now)
      if (taken.length > 0 && last === before) last = undefined
      return taken
    },
    live: () => [],
    isMoving: () => false
  }
}
