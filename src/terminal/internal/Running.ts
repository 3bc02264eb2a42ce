/** The calls and tasks that run, as a run's events tell it. */
import * as Data from "effect/Data"
import type { SubAgentEvent } from "../../domain/SubAgentEvent.js"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import type { RunEvent } from "../RunEvent.js"
import * as Wording from "./Wording.js"

/** A tool call of a task. */
export interface Tool {
  readonly id: string
  readonly text: string
  failed: boolean
}

/** A task that runs; times are in milliseconds. */
export interface Task {
  /** Its type and description; tasks that run at the same time have different ones. */
  readonly name: string
  readonly started: number
  /** The newest of its calls; `count` counts all. */
  readonly recent: Array<Tool>
  count: number
}

/** A call that runs. */
export interface Call {
  readonly name: string
  readonly started: number
  /** The type of the task that the call is, where it is nothing else: its line tells of it. */
  readonly taskType: string | undefined
  isTold: boolean
}

/** A change of what runs, as an event makes it. */
export type Change = Data.TaggedEnum<{
  CallStarted: { readonly call: Call }
  CallEnded: { readonly call: Call; readonly result: ToolReturn }
  TaskStarted: { readonly task: Task }
  TaskRetrying: { readonly task: Task; readonly reason: string; readonly delay: number }
  ToolStarted: { readonly task: Task; readonly tool: Tool }
  ToolFailed: { readonly task: Task; readonly tool: Tool; readonly reason: string }
  TaskEnded: { readonly task: Task; readonly ending: string; readonly text: string }
}>

/** Constructors and matchers of changes. */
export const Change = Data.taggedEnum<Change>()

/** Keeps the calls and tasks that run, in the order in which they began. */
export class Running {
  readonly calls = new Map<string, Call>()
  readonly tasks = new Map<string, Task>()

  /** Keeps so many of a task's newest calls. */
  constructor(private readonly maxRecentTools: number) {}

  /** Begins a call. */
  start(call: ToolCall, now: number): Change {
    const begun = { name: Wording.call(call), started: now, taskType: Wording.taskType(call), isTold: false }
    this.calls.set(call.id, begun)
    return Change.CallStarted({ call: begun })
  }

  /** Ends a call; undefined where its task has told how it ended. */
  end({ call, result }: Extract<RunEvent, { readonly _tag: "ToolEnded" }>, now: number): Change | undefined {
    const begun = this.calls.get(call.id) ?? {
      name: Wording.call(call),
      started: now,
      taskType: undefined,
      isTold: false
    }
    this.calls.delete(call.id)
    return begun.isTold ? undefined : Change.CallEnded({ call: begun, result })
  }

  /** Ends all calls; returns those of which no task has told. Tasks tell of their own end. */
  interrupt(): ReadonlyArray<Call> {
    const left = [...this.calls.values()].filter(({ isTold }) => !isTold)
    this.calls.clear()
    return left
  }

  /** Takes a step of a task; undefined where nothing is to be told of it. */
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
        const tool = { id: step.call.id, text: Wording.tool(step.call), failed: false }
        task.recent.push(tool)
        task.count++
        if (task.recent.length > this.maxRecentTools) task.recent.shift()
        return Change.ToolStarted({ task, tool })
      }
      case "ToolEnded": {
        if (!step.isError) return undefined
        const found = task.recent.findLast((tool) => tool.id === step.call.id)
        const tool = found ?? { id: step.call.id, text: Wording.tool(step.call), failed: true }
        tool.failed = true
        return Change.ToolFailed({ task, tool, reason: step.message })
      }
      case "Ended":
        this.tasks.delete(id)
        return Change.TaskEnded({ task, ending: step.ending, text: step.text })
    }
  }

  private nameOf(type: string, description: string): string {
    const name = Wording.task(type, description)
    const taken = new Set(Array.from(this.tasks.values(), (task) => task.name))
    for (let count = 1; ; count++) {
      const unique = count === 1 ? name : `${name} #${count}`
      if (!taken.has(unique)) return unique
    }
  }
}
