/**
 * Synapse as a tool of Mastra (`@mastra/core`), and as the sandbox of its workspaces.
 *
 * @since 0.1.0
 */
import * as Quote from "../bash/Quote.js"
import type { Result } from "../promise/Result.js"
import type { Signal, Synapse, ToolDefinition } from "../promise/Synapse.js"
import * as BashCall from "./internal/BashCall.js"
import * as IsolatedCommand from "./internal/IsolatedCommand.js"

/**
 * A tool in the form that Mastra's agents take.
 *
 * @since 0.1.0
 * @category models
 */
export interface MastraTool {
  readonly id: string
  readonly description: string
  readonly inputSchema: ToolDefinition["parameters"]
  readonly execute: (
    given: BashCall.Arguments,
    context?: { readonly abortSignal?: Signal | undefined; readonly toolCallId?: string | undefined }
  ) => Promise<Result>
  readonly toModelOutput: typeof BashCall.toModelOutput
}

/**
 * Makes the tool: `new Agent({ tools: { Bash: bash(synapse) } })`. Your program gets Synapse's own result; the model gets
 * the text (as an error if the call failed) and the images. The agent's abort signal ends the command.
 *
 * @since 0.1.0
 * @category constructors
 */
export const bash = (synapse: Synapse): MastraTool => {
  const { description, name, parameters } = BashCall.definitionOf(synapse)
  return {
    id: name,
    description,
    inputSchema: parameters,
    execute: (given, { abortSignal, toolCallId } = {}) => BashCall.run(synapse, given, toolCallId, abortSignal),
    toModelOutput: BashCall.toModelOutput
  }
}

/**
 * The options of a workspace's command.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The time limit, in milliseconds. */
  readonly timeout?: number
  readonly abortSignal?: Signal
  readonly onStdout?: (text: string) => void
  readonly onStderr?: (text: string) => void
}

/**
 * The result of a workspace's command.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandResult extends IsolatedCommand.Ended {
  readonly success: boolean
  readonly executionTimeMs: number
  readonly timedOut: boolean
  readonly killed: boolean
}

/**
 * Makes the sandbox of a workspace: `new Workspace({ sandbox: sandbox(synapse) })`. Changes of directory and variables end
 * with their command. A denial is explained in `stderr`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const sandbox = (synapse: Synapse) => ({
  id: "synapse",
  name: "Synapse",
  provider: "synapse",
  status: "running" as const,
  snapshot: async (): Promise<void> => {},
  getInstructions: (): string => BashCall.definitionOf(synapse).description,
  executeCommand: async (
    command: string,
    args: ReadonlyArray<string> = [],
    { abortSignal, onStderr, onStdout, ...options }: CommandOptions = {}
  ): Promise<CommandResult> => {
    const started = performance.now()
    const ended = await IsolatedCommand.run(synapse, [command, ...args.map(Quote.quote)].join(" "), {
      ...options,
      signal: abortSignal,
      onOutput: ({ stream, text }) => (stream === "stdout" ? onStdout : onStderr)?.(text)
    })
    return {
      ...ended,
      success: ended.exitCode === 0,
      executionTimeMs: performance.now() - started,
      timedOut: ended.exitCode === 124,
      killed: abortSignal?.aborted === true
    }
  }
})
