/** Words what `synapse agent` shows of a run: a model's and a command's texts, made harmless. */

import type { TokenUsage } from "../agent/loop/RunLimits.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as ToolCall from "../domain/ToolCall.js"
import type { SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"

/** The most characters of a line that tells of a call. */
const widest = 160

/** Tells of a call in one line. */
export const call = (call: ToolCall.ToolCall): string => {
  const command = ToolCall.commandOf(call)
  return `${ForeignText.word(call.name, 40)}: ${ForeignText.line(command ?? call.arguments, widest)}`
}

/** Writes a number with commas between thousands. */
const grouped = (count: number): string => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",")

/** Tells in a line where commands may write, and whether they have a network. */
export const place = ({ cwd, hosts, shown }: SandboxPolicy): string => {
  const allowed = hosts?.allowed.length ?? 0
  const network = allowed === 0 ? "no network" : `the network's ${allowed} allowed host${allowed === 1 ? "" : "s"}`
  return `Sandboxed in ${ForeignText.word(cwd, 300)}: ${shown === undefined ? "" : "read-only, "}${network}. synapse sandbox policy tells more.`
}

/** Tells how much a run or a session has used. */
export const usage = (turns: number, { cost, input, output }: TokenUsage): string =>
  [
    `${turns} turn${turns === 1 ? "" : "s"}`,
    `${grouped(input + output)} tokens`,
    ...(cost === undefined ? [] : [`cost ${cost.toFixed(4)}`])
  ].join(", ")
