/**
 * Shows a run on a terminal: what runs in live lines, what has ended above them.
 *
 * @since 0.1.0
 */
import * as Retrying from "../domain/Retrying.js"
import * as Columns from "./Columns.js"
import { spinner } from "./LiveArea.js"
import { harmless, OpenLine } from "./OpenLine.js"
import type { RunEvent } from "./RunEvent.js"
import { type Call, type Change, Running, type Task } from "./Running.js"
import type { View } from "./View.js"
import * as Wording from "./Wording.js"

/** Milliseconds for which a spinner's sign stays. */
const turn = 125

/** The most characters kept of a running command's output, and the most lines and rows that show its end and a text's. */
const most = { characters: 8000, lines: 3, rows: 6 }

/** The most columns of a line of the reason for which a task failed: the terminal wraps it. */
const longestReason = 300

/** Returns a task's calls, the last of them behind `└` where no line follows. */
const toolLines = (task: Task, count: number, last = "└"): ReadonlyArray<string> => {
  const shown = count === 0 ? [] : task.recent.slice(-count)
  const earlier = task.count - shown.length
  const tools = shown.map(
    ({ failed, text }, at) => `  ${at === shown.length - 1 ? last : "├"}─${failed ? "✗" : "•"} ${text}`
  )
  return earlier === 0 || shown.length === 0
    ? tools
    : [`  ... (${earlier} earlier tool${earlier === 1 ? "" : "s"})`, ...tools]
}

/**
 * Makes a view of lines that change. The newest calls of a task are shown, so many of them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (maxRecentTools: number): View => {
  const running = new Running(maxRecentTools)
  const text = new OpenLine()
  /** The end of what the running call prints. */
  let output = ""

  const ended = (change: Change | undefined, now: number, columns: number): ReadonlyArray<string> => {
    if (change?._tag === "CallEnded") {
      const { call, result } = change
      const sign = result.isError ? "✗" : "•"
      return [
        Wording.callLine(sign, call.name, Wording.callEnd(result, now - call.started), columns),
        ...Wording.result(Wording.outputOf(result), columns)
      ]
    }
    if (change?._tag === "TaskRetrying") {
      return [Columns.cut(`• Task(${change.task.name}): ${Retrying.describe(change)}`, columns)]
    }
    if (change?._tag !== "TaskEnded") return []
    const { ending, task } = change
    const tally = Wording.tally(task.count, now - task.started, false)
    const reason = ending === "done" ? [] : Wording.result(change.text, Math.max(longestReason, columns))
    const tools = toolLines(task, maxRecentTools, reason.length === 0 ? "└" : "├")
    const head =
      ending === "done"
        ? Wording.taskLine("✓", task.name, tally, columns)
        : Wording.taskLine("✗", task.name, ` ${failed(ending)}${tally}`, columns)
    return [head, ...tools.map((line) => Columns.cut(line, columns)), ...reason]
  }

  const take = (event: RunEvent, now: number, columns: number): ReadonlyArray<string> => {
    switch (event._tag) {
      case "ToolStarted":
        output = ""
        running.start(event.call, now)
        return text.end()
      case "ToolOutput":
        output = (output + event.chunk).slice(-most.characters)
        return []
      case "ToolEnded":
        return [...text.end(), ...ended(running.end(event, now), now, columns)]
      case "SubAgent":
        return ended(running.step(event.event, now), now, columns)
      case "Text":
        return text.push(event.delta)
      case "TurnEnded":
        return text.end()
      case "Retrying":
        return [...text.end(), Columns.cut(`• ${Retrying.describe(event)}`, columns)]
      case "Interrupted":
        return [
          ...text.end(),
          ...running
            .interrupt()
            .map(({ name, started }) =>
              Wording.callLine("✗", name, ` ${failed("interrupted")}${Wording.tally(0, now - started, true)}`, columns)
            )
        ]
      case "Notice":
        return [...text.end(), ...event.text.split("\n").map(harmless)]
    }
  }

  const callLines = (call: Call, sign: string, now: number, columns: number, count: number): ReadonlyArray<string> => {
    const shown = count > 0 && running.calls.size === 1 && running.tasks.size === 0 ? most.lines : 0
    const lines = shown === 0 ? [] : Wording.lastLines(output, shown)
    return [
      Wording.callLine(sign, call.name, Wording.tally(0, now - call.started, true), columns),
      ...lines.map((line, at) => Columns.cut(`${at === 0 ? "  └─ " : "     "}${line}`, columns))
    ]
  }

  /** Returns the lines with so many of each task's calls. */
  const lines = (now: number, columns: number, count: number): ReadonlyArray<string> => {
    const sign = spinner[Math.floor(now / turn) % spinner.length] ?? spinner[0]
    return [
      ...Array.from(running.calls.values())
        .filter(({ isTold }) => !isTold)
        .flatMap((call) => callLines(call, sign, now, columns, count)),
      ...Array.from(running.tasks.values()).flatMap((task) => [
        Wording.taskLine(sign, task.name, Wording.tally(task.count, now - task.started, true), columns),
        ...toolLines(task, count).map((line) => Columns.cut(line, columns))
      ])
    ]
  }

  return {
    take,
    live: (now, columns, rows) => {
      const open = text.open
      const rest = open === "" ? [] : Columns.wrap(open, columns).slice(-Math.max(1, Math.min(most.rows, rows)))
      const room = rows - rest.length
      let count = maxRecentTools
      let shown = lines(now, columns, count)
      while (shown.length > room && count > 0) shown = lines(now, columns, --count)
      if (shown.length <= room) return [...rest, ...shown]
      const kept = Math.max(0, room - 1)
      return [...rest, ...shown.slice(0, kept), Columns.cut(`... (${shown.length - kept} more)`, columns)].slice(
        0,
        rows
      )
    },
    isMoving: () => running.calls.size > 0 || running.tasks.size > 0
  }
}

/**
 * Words the ending of a task that has no answer.
 *
 * @since 0.1.0
 */
export const failed = (ending: string): string =>
  ending === "failed" || ending === "done" ? "FAILED" : `FAILED (${Wording.short(ending, 40)})`
