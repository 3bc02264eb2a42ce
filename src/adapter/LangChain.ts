/**
 * Synapse as a tool of LangChain and LangGraph (`@langchain/core`).
 *
 * @since 0.1.0
 */
import { ToolMessage } from "@langchain/core/messages"
import { DynamicStructuredTool, type ToolRunnableConfig } from "@langchain/core/tools"
import type { Synapse, ToolDefinition } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"

/**
 * Makes the tool. Called with a tool call, as agents do, it returns a message whose artifact is Synapse's own result.
 * The message of a failure has the `status` `error`. The run's abort signal ends the command.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bash = (synapse: Synapse): DynamicStructuredTool<ToolDefinition["parameters"]> => {
  const { description, name, parameters } = BashCall.definitionOf(synapse)
  return new DynamicStructuredTool({
    name,
    description,
    schema: parameters,
    func: async (given, _, config: ToolRunnableConfig = {}) => {
      const id = config.toolCall?.id
      const result = await BashCall.run(synapse, given as BashCall.Arguments, id, config.signal)
      const { extras, isError, output } = result
      const images = (extras.images ?? []).map(({ base64, mediaType }) => ({
        type: "image_url",
        image_url: { url: `data:${mediaType};base64,${base64}` }
      }))
      const content = images.length === 0 ? output : [{ type: "text", text: output }, ...images]
      return id === undefined
        ? content
        : new ToolMessage({
            content,
            name,
            tool_call_id: id,
            status: isError ? "error" : "success",
            artifact: result
          })
    }
  })
}
