/** The events of runs, in few words. */
import { SubAgentStep } from "../../../src/domain/SubAgentEvent.js"
import { RunEvent } from "../../../src/terminal/RunEvent.js"
import type { Extras } from "../../../src/toolset/ToolReturn.js"

const bash = (id: string, command: string) => ({ id, name: "Bash", arguments: JSON.stringify({ command }) })

export const started = (id: string, command: string): RunEvent => RunEvent.ToolStarted({ call: bash(id, command) })

export const ended = (id: string, command: string, output: string, extras: Extras = { exitCode: 0 }): RunEvent =>
  RunEvent.ToolEnded({
    call: bash(id, command),
    result: { toolCallId: id, isError: extras.exitCode !== 0, output, message: "", extras }
  })

/** The steps of one task. */
export const task = (id: string, description: string, type = "explore") => {
  const step = (step: SubAgentStep) => RunEvent.SubAgent({ event: { id, type, description, step } })
  return {
    started: step(SubAgentStep.Started()),
    retrying: (reason: string, delay: number) => step(SubAgentStep.Retrying({ reason, delay })),
    tool: (call: string, command: string) => step(SubAgentStep.ToolStarted({ call: bash(call, command) })),
    toolEnded: (call: string, command: string, message = "") =>
      step(SubAgentStep.ToolEnded({ call: bash(call, command), isError: message !== "", message })),
    ended: (ending = "done", text = "") => step(SubAgentStep.Ended({ ending, text }))
  }
}

export const said = (delta: string): RunEvent => RunEvent.Text({ delta })
export const turnEnded: RunEvent = RunEvent.TurnEnded()
