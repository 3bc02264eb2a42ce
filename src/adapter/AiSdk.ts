/**
 * Synapse as a tool of the AI SDK (`ai`).
 *
 * @since 0.1.0
 */
import { type JSONSchema7, jsonSchema, type Tool, tool } from "ai"
import type { Result } from "../promise/Result.js"
import type { Synapse } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"

/**
 * Makes the tool. Your program gets Synapse's own result; the model gets the text (as an error if the call failed) and
 * the images. The SDK's abort signal ends the command.
 *
 * @example
 * ```ts
 * import { generateText, stepCountIs } from "ai"
 * import { bash } from "synapse-shell/ai-sdk"
 * import { make } from "synapse-shell/promise"
 *
 * await using synapse = await make()
 * await generateText({ model, tools: { Bash: bash(synapse) }, prompt: "…", stopWhen: stepCountIs(20) })
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const bash = (synapse: Synapse): Tool<BashCall.Arguments, Result> => {
  const { description, parameters } = BashCall.definitionOf(synapse)
  return tool({
    description,
    inputSchema: jsonSchema<BashCall.Arguments>(parameters as JSONSchema7),
    execute: (given, { abortSignal, toolCallId }) => BashCall.run(synapse, given, toolCallId, abortSignal),
    toModelOutput: ({ output: { extras, isError, output } }) => {
      if (extras.images !== undefined) {
        const images = extras.images.map(({ base64, mediaType }) => ({
          type: "image-data" as const,
          data: base64,
          mediaType
        }))
        return { type: "content", value: [{ type: "text", text: output }, ...images] }
      }
      return { type: isError ? "error-text" : "text", value: output }
    }
  })
}
