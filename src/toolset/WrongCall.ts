/**
 * Answers calls that no tool can take: of a tool that there is not, and with arguments that are not JSON.
 *
 * @since 0.1.0
 */
import { CommandNotFound } from "../domain/CommandError.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as Lack from "./ForeignTool.lack.js"
import * as Tool from "./Tool.js"
import * as ToolReturn from "./ToolReturn.js"

/**
 * Answers the call of a tool that there is not, with the call that takes its place.
 *
 * @since 0.1.0
 */
export const unknownTool = (call: ToolCall, tools: ReadonlyArray<Tool.Tool>): ToolReturn.ToolReturn => {
  const known = tools.map(({ definition }) => definition.name)
  const isNamed = call.name.trim() !== ""
  const params = argumentsOf(call)
  const replaced = tools.flatMap((tool) => Tool.orNone(() => tool.replace?.(call.name, params)) ?? [])[0]
  const correction =
    replaced ??
    Lack.of(call.name) ??
    (isNamed && known.includes("Bash")
      ? `commands run through the tool Bash: Bash(command="${call.name} <args>")`
      : "call one of the tools that there are.")
  return ToolReturn.fromError(
    call,
    new CommandNotFound({
      command: call.name,
      reason: `${isNamed ? `Unknown tool: ${call.name}` : "The call names no tool"}. There is: ${known.join(", ") || "no tool"}.\nCORRECTION: ${correction}`
    }),
    { toolName: call.name }
  )
}

/** Returns the arguments of a call, or their text where that is not JSON. */
const argumentsOf = (call: ToolCall): unknown => {
  try {
    return JSON.parse(call.arguments)
  } catch {
    return call.arguments
  }
}

/**
 * Answers a call whose arguments are not JSON, with the call that they probably mean.
 *
 * @since 0.1.0
 */
export const brokenArguments = (call: ToolCall, tool: Tool.Tool, { message }: SyntaxError): ToolReturn.ToolReturn => {
  const example = Tool.orNone(() => tool.exampleFor?.(call.arguments)) ?? tool.example
  const error = Tool.invalidParameters(tool.definition.name, [`the arguments are not JSON: ${message}`], example)
  return ToolReturn.fromError(call, error, { toolName: call.name, parseError: message })
}
