/**
 * Synapse as tools of the OpenAI Agents SDK (`@openai/agents`).
 *
 * @since 0.1.0
 */
import { type FunctionTool, type Shell, tool } from "@openai/agents"
import type { Synapse } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"

/**
 * Makes the tool: `new Agent({ tools: [bash(synapse)] })`. The model gets the text and the images. The run's abort
 * signal ends the command.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bash = (synapse: Synapse): FunctionTool => {
  const { description, name, parameters } = BashCall.definitionOf(synapse)
  const { properties = {}, required = [] } = parameters as {
    readonly properties?: object
    readonly required?: Array<string>
  }
  return tool({
    name,
    description,
    parameters: { type: "object", properties: { ...properties }, required, additionalProperties: true },
    strict: false,
    execute: async (given, _, details) => {
      const { extras, output } = await BashCall.run(
        synapse,
        given as BashCall.Arguments,
        details?.toolCall?.callId,
        details?.signal
      )
      if (extras.images === undefined) return output
      return [
        { type: "text" as const, text: output },
        ...extras.images.map(({ base64, mediaType }) => ({
          type: "image" as const,
          image: { data: base64, mediaType }
        }))
      ]
    }
  })
}

/**
 * Makes the shell of the SDK's `shellTool`, for models that were trained on it: `shellTool({ shell: shell(synapse) })`.
 * Its commands run in sequence in the session, and keep its state.
 *
 * @since 0.1.0
 * @category constructors
 */
export const shell = (synapse: Synapse): Shell => ({
  run: async ({ commands, timeoutMs }) => {
    const output = []
    for (const command of commands) {
      const timeout = typeof timeoutMs === "number" ? { timeout: timeoutMs } : {}
      const result = await BashCall.run(synapse, { command, ...timeout })
      const { exitCode = 1, stderr, stdout } = result.extras
      output.push({
        stdout: stdout ?? "",
        // If nothing ran, the text says why.
        stderr: stderr ?? (result.isError && stdout === undefined ? result.output : ""),
        outcome: exitCode === 124 ? { type: "timeout" as const } : { type: "exit" as const, exitCode }
      })
    }
    return { output }
  }
})
