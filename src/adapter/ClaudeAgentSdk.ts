/**
 * Synapse as an in-process MCP server for the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`), which includes
 * `@modelcontextprotocol/sdk`.
 *
 * @since 0.1.0
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Version from "../domain/Version.js"
import type { Synapse } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"

/**
 * Makes the server: `query({ prompt, options: { mcpServers: { synapse: server(synapse) }, allowedTools:
 * ["mcp__synapse__Bash"] } })`. Disable the SDK's own `Bash` with `disallowedTools: ["Bash"]`; otherwise, the model may
 * use it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const server = (synapse: Synapse) => {
  const instance = new McpServer({ name: "synapse", version: Version.current }, { capabilities: { tools: {} } })
  const { server } = instance
  server.setRequestHandler(ListToolsRequestSchema, () => {
    const { description, name, parameters } = BashCall.definitionOf(synapse)
    return { tools: [{ name, description, inputSchema: { ...parameters, type: "object" as const } }] }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { extras, isError, output } = await BashCall.run(synapse, params.arguments ?? {}, undefined, signal)
    const images = (extras.images ?? []).map(({ base64, mediaType }) => ({
      type: "image" as const,
      data: base64,
      mimeType: mediaType
    }))
    return { content: [{ type: "text" as const, text: output }, ...images], isError }
  })
  return { type: "sdk" as const, name: "synapse", instance }
}
