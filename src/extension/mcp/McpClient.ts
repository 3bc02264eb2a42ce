/**
 * Lists the tools of MCP servers and calls them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import type { CommandError } from "../../domain/CommandError.js"

/**
 * A JSON Schema as a server sent it. It is untrusted: only its being an object is checked.
 *
 * @since 0.1.0
 * @category models
 */
export type JsonSchema = { readonly [key: string]: unknown }

/**
 * A tool of a server. Its texts are untrusted, so escape control characters before showing them.
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
  /** True if it can only be called as an MCP task, which Synapse does not support. */
  readonly needsTask?: true
}

/**
 * A configured server. `problem` says why it can't be used: a broken entry, or a file that is not trusted.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpServer {
  readonly name: string
  /** `project` for the file in the working directory, `home` for the one in `$SYNAPSE_HOME`. */
  readonly source: "project" | "home"
  /** The program with its arguments, or the address, without the values of variables and headers. */
  readonly target: string
  readonly problem?: string
  /** True if this stands for an unreadable file of servers, whose path is the name. */
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
 * The progress of a call, as its server reports it.
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
  /** The timeout in milliseconds. By default, `SYNAPSE_MCP_TIMEOUT`. */
  readonly timeout?: number | undefined
  readonly onProgress?: ((progress: McpProgress) => void) | undefined
}

/**
 * The options of listing a server's tools.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpListOptions {
  /** True to ask the server even if its tools are known. */
  readonly refresh?: boolean
  /** The command that needs the tools, named in the error for an unknown server. */
  readonly command?: string
}

/**
 * Connects to the configured MCP servers. A server starts when it is first needed, once for all callers, and ends with
 * the scope.
 *
 * An unknown server or tool fails with CommandNotFound, which names the nearest. A server that is not trusted fails
 * with Blocked. A server that can't start, does not answer or dies fails with ExecutionFailed.
 *
 * @since 0.1.0
 * @category tags
 */
export class McpClient extends Context.Tag("synapse/McpClient")<
  McpClient,
  {
    /** Returns the configured servers, sorted by name. Reads the files again if they have changed. */
    readonly servers: Effect.Effect<ReadonlyArray<McpServer>>
    /**
     * Returns the tools of a server, in the server's order. Starts the server only if its tools are not cached, or with
     * `refresh`.
     */
    readonly tools: (server: string, options?: McpListOptions) => Effect.Effect<ReadonlyArray<McpTool>, CommandError>
    /**
     * Returns the cached tools of all usable servers, without starting one. Returns the same array until they change.
     */
    readonly known: () => ReadonlyArray<McpTool>
    /** Calls a tool. Interruption cancels the call, and the server goes on running. */
    readonly call: (
      server: string,
      tool: string,
      args: Readonly<Record<string, unknown>>,
      options?: McpCallOptions
    ) => Effect.Effect<McpOutput, CommandError>
  }
>() {}

/**
 * A layer without servers, in which every name is unknown.
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
