/**
 * Talks to MCP servers: what they offer, and the calls of their tools.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import type { CommandError } from "../../domain/CommandError.js"

/**
 * A JSON Schema as a server sent it: nothing in it is certain but that it is an object.
 *
 * @since 0.1.0
 * @category models
 */
export type JsonSchema = { readonly [key: string]: unknown }

/**
 * A tool of a server. All texts are the server's, as it sent them: who shows them makes control characters harmless.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpTool {
  readonly server: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** True where it can be called as an MCP task only, which Synapse does not offer. */
  readonly needsTask?: true
}

/**
 * A configured server. `problem` says why it can't be used: its entry is broken, or its file is not trusted.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpServer {
  readonly name: string
  /** `project`: the working directory's file; `home`: the file in `$SYNAPSE_HOME`. */
  readonly source: "project" | "home"
  /** The program and its words, or the address, without the values of variables and headers. */
  readonly target: string
  readonly problem?: string
  /** True for a file of servers that can't be read; its path is the name. */
  readonly isFile?: true
}

/**
 * The result of a tool's call, as the server sent it.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpOutput {
  readonly content: ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }>
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

/**
 * The progress of a call, as its server tells it.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/**
 * The options of a tool's call.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpCallOptions {
  /** Milliseconds; `SYNAPSE_MCP_TIMEOUT` where it is not given. */
  readonly timeout?: number | undefined
  readonly onProgress?: ((progress: McpProgress) => void) | undefined
}

/**
 * The options of a look at a server's tools.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpListOptions {
  /** True to ask the server, also where its tools are known. */
  readonly refresh?: boolean
  /** The command that needs them, for the error where there is no such server. */
  readonly command?: string
}

/**
 * Talks to the MCP servers of the configuration. A server starts when it is first needed, once for all callers, and ends
 * with the scope.
 *
 * An unknown server or tool fails with CommandNotFound, which names the nearest; a server that the user has not trusted
 * with Blocked; one that can't be started, does not answer, or dies with ExecutionFailed.
 *
 * @since 0.1.0
 * @category tags
 */
export class McpClient extends Context.Tag("synapse/McpClient")<
  McpClient,
  {
    /** Returns the servers of the configuration, read anew where its files have changed, sorted by name. */
    readonly servers: Effect.Effect<ReadonlyArray<McpServer>>
    /**
     * Returns the tools of a server, in the server's order. It is started only where they were not kept from an earlier
     * connection, or where `refresh` says so.
     */
    readonly tools: (server: string, options?: McpListOptions) => Effect.Effect<ReadonlyArray<McpTool>, CommandError>
    /**
     * Returns the tools of all servers that are known without starting one; the same array until they change. Those of
     * servers that can't be used are not among them.
     */
    readonly known: () => ReadonlyArray<McpTool>
    /** Calls a tool. Interruption cancels the call at the server, which goes on running. */
    readonly call: (
      server: string,
      tool: string,
      args: Readonly<Record<string, unknown>>,
      options?: McpCallOptions
    ) => Effect.Effect<McpOutput, CommandError>
  }
>() {}

/**
 * A layer without any servers: every name is unknown.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<McpClient> = Layer.succeed(McpClient, {
  servers: Effect.succeed([]),
  tools: (server, { command = `mcp:${server}` } = {}) => UnknownCommand.mcpServer(command, []),
  known: () => [],
  call: (server, tool) => UnknownCommand.mcpServer(`mcp:${server}:${tool}`, [])
})
