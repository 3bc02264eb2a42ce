import * as Data from "effect/Data"
import type { SubAgentEvent } from "../../domain/SubAgentEvent.js"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import type { RunEvent } from "../RunEvent.js"
import * as StepLines from "./StepLines.js"

export interface Tool {
  readonly id: string
  readonly text: string
  failed: boolean
}

export interface Task {
  /** Type and description, made unique among running tasks. */
  readonly name: string
  started: number
  /** The newest calls; `count` counts all of them. */
  readonly recent: Array<Tool>
  count: number
}

export interface Call {
  readonly name: string
  started: number
  /** The task's type, if the call begins with a `task:` command. */
  readonly taskType: string | undefined
  isTold: boolean
}

export type Change = Data.TaggedEnum<{
  CallStarted: { readonly call: Call }
  CallEnded: { readonly call: Call; readonly result: ToolReturn }
  TaskStarted: { readonly task: Task }
  TaskRetrying: { readonly task: Task; readonly reason: string; readonly delay: number }
  ToolStarted: { readonly task: Task; readonly tool: Tool }
  ToolFailed: { readonly task: Task; readonly tool: Tool; readonly reason: string }
  TaskEnded: { readonly task: Task; readonly ending: string; readonly text: string }
}>

export const Change = Data.taggedEnum<Change>()

const toCall = (call: ToolCall, now: number): Call => ({
  name: StepLines.call(call),
  started: now,
  taskType: StepLines.taskType(call),
  isTold: false
})

/** The running calls and tasks, in the order of their start. */
export class Running {
  readonly calls = new Map<string, Call>()
  readonly tasks = new Map<string, Task>()

  constructor(private readonly maxRecentTools: number) {}

  start(call: ToolCall, now: number): Change {
    const begun = toCall(call, now)
    this.calls.set(call.id, begun)
    return Change.CallStarted({ call: begun })
  }

  /** Ends a call. Returns undefined if its task reports the end. */
  end({ call, result }: Extract<RunEvent, { readonly _tag: "ToolEnded" }>, now: number): Change | undefined {
    const begun = this.calls.get(call.id) ?? toCall(call, now)
    this.calls.delete(call.id)
    return begun.isTold ? undefined : Change.CallEnded({ call: begun, result })
  }

  /** Excludes a duration from the running times. */
  pause(milliseconds: number): void {
    for (const one of [...this.calls.values(), ...this.tasks.values()]) one.started += milliseconds
  }

  /** Ends all calls, and returns those that no task reports. */
  interrupt(): ReadonlyArray<Call> {
    const left = [...this.calls.values()].filter(({ isTold }) => !isTold)
    this.calls.clear()
    return left
  }

  step({ description, id, step, type }: SubAgentEvent, now: number): Change | undefined {
    const known = this.tasks.get(id)
    const task = known ?? { name: this.nameOf(type, description), started: now, recent: [], count: 0 }
    switch (step._tag) {
      case "Started": {
        if (known !== undefined) return undefined
        this.tasks.set(id, task)
        const call = [...this.calls.values()].find((call) => !call.isTold && call.taskType === type)
        if (call !== undefined) call.isTold = true
        return Change.TaskStarted({ task })
      }
      case "Retrying":
        return Change.TaskRetrying({ task, reason: step.reason, delay: step.delay })
      case "ToolStarted": {
        const tool = { id: step.call.id, text: StepLines.tool(step.call), failed: false }
        task.recent.push(tool)
        task.count++
        if (task.recent.length > this.maxRecentTools) task.recent.shift()
        return Change.ToolStarted({ task, tool })
      }
      case "ToolEnded": {
        if (!step.isError) return undefined
        const found = task.recent.findLast((tool) => tool.id === step.call.id)
        const tool = found ?? { id: step.call.id, text: StepLines.tool(step.call), failed: true }
        tool.failed = true
        return Change.ToolFailed({ task, tool, reason: step.message })
      }
      case "Ended":
        this.tasks.delete(id)
        return Change.TaskEnded({ task, ending: step.ending, text: step.text })
    }
  }

  private nameOf(type: string, description: string): string {
    const name = StepLines.task(type, description)
    const taken = new Set(Array.from(this.tasks.values(), (task) => task.name))
    for (let count = 1; ; count++) {
      const unique = count === 1 ? name : `${name} #${count}`
      if (!taken.has(unique)) return unique
    }
  }
}
