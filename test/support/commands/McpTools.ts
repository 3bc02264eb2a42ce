/** An MCP client without servers behind it, which records its calls. */
import * as Effect from "effect/Effect"
import type { CommandHandler } from "../../../src/command/CommandHandler.js"
import * as UnknownCommand from "../../../src/command/UnknownCommand.js"
import * as Mcp from "../../../src/commands/mcp/Mcp.js"
import type { CommandError } from "../../../src/domain/CommandError.js"
import {
  type JsonSchema,
  type McpCallOptions,
  McpClient,
  type McpOutput,
  type McpTool
} from "../../../src/extension/mcp/McpClient.js"

/** A call that came to a server. */
type Called = readonly [tool: string, args: Readonly<Record<string, unknown>>]

/** What a tool answers: a text, whole blocks, or whatever it does. */
type Answer =
  | string
  | McpOutput
  | ((
      args: Readonly<Record<string, unknown>>,
      options: McpCallOptions
    ) => McpOutput | Effect.Effect<McpOutput, CommandError>)

export interface FakeTool extends Partial<McpTool> {
  readonly schema?: JsonSchema
  readonly answer?: Answer
}

export const object = (
  properties: JsonSchema,
  required: ReadonlyArray<string> = [],
  more: JsonSchema = {}
): JsonSchema => ({
  type: "object",
  properties,
  required,
  ...more
})

export const text = (...texts: ReadonlyArray<string>): McpOutput => ({
  content: texts.map((text) => ({ type: "text", text }))
})

/** A client of one server `demo` with these tools; without an answer of its own, a tool answers its arguments as JSON. */
export const fake = (tools: Readonly<Record<string, FakeTool>>) => {
  const calls: Array<Called> = []
  const options: Array<McpCallOptions> = []
  const all = Object.entries(tools).map(([name, { answer: _, schema = {}, ...tool }]) => ({
    server: "demo",
    name,
    inputSchema: schema,
    ...tool
  }))
  const servers = [{ name: "demo", source: "home" as const, target: "node demo.js" }]
  const unknown = (command: string) => UnknownCommand.mcpServer(command, ["demo"])
  const client: typeof McpClient.Service = {
    servers: Effect.succeed(servers),
    tools: (server, { command = `mcp:${server}` } = {}) => (server === "demo" ? Effect.succeed(all) : unknown(command)),
    known: () => all,
    call: (server, tool, args, given = {}) => {
      if (server !== "demo") return unknown(`mcp:${server}:${tool}`)
      calls.push([tool, args])
      options.push(given)
      const answer = tools[tool]?.answer ?? text(JSON.stringify(args))
      const output = typeof answer === "function" ? answer(args, given) : answer
      if (Effect.isEffect(output)) return output
      return Effect.succeed(typeof output === "string" ? text(output) : output)
    }
  }
  const make: Effect.Effect<CommandHandler> = Effect.provideService(Mcp.make, McpClient, client)
  return { calls, options, client, make }
}
