/**
 * Converts a tool's definition to the form that a model's API expects.
 *
 * @since 0.1.0
 */
import type { JsonSchema, ToolDefinition } from "./Tool.js"

/**
 * The name of a format: `anthropic` for the Messages API, `openai` for the Chat Completions API and compatible APIs,
 * `mcp` for the answer to `tools/list`.
 *
 * @since 0.1.0
 * @category models
 */
export type ToolFormat = keyof typeof make

/**
 * An entry of the `tools` of a request to Anthropic's Messages API.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonSchema
}

/**
 * An entry of the `tools` of a request to OpenAI's Chat Completions API.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAiTool {
  readonly type: "function"
  readonly function: ToolDefinition
}

/**
 * An entry of the `tools` that an MCP server lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

const make = {
  anthropic: ({ description, name, parameters }: ToolDefinition): AnthropicTool => ({
    name,
    description,
    input_schema: parameters
  }),
  openai: ({ description, name, parameters }: ToolDefinition): OpenAiTool => ({
    type: "function",
    function: { name, description, parameters }
  }),
  mcp: ({ description, name, parameters }: ToolDefinition): McpTool => ({ name, description, inputSchema: parameters })
}

/**
 * The names of all formats.
 *
 * @since 0.1.0
 */
export const formats = Object.keys(make) as ReadonlyArray<ToolFormat>

/**
 * Converts a definition to a format.
 *
 * @example
 * ```ts
 * import { Synapse, ToolFormat, Toolset } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * const tools = Effect.map(Toolset.Toolset, ({ tools }) => tools.map((tool) => ToolFormat.toFormat(tool, "anthropic"))).pipe(
 *   Effect.provide(Synapse.layer())
 * )
 * ```
 * @since 0.1.0
 */
export const toFormat = <F extends ToolFormat>(definition: ToolDefinition, format: F): ReturnType<(typeof make)[F]> =>
  make[format](definition) as ReturnType<(typeof make)[F]>
