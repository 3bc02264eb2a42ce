/**
 * The listener that hears a command while it runs.
 *
 * @since 0.1.0
 */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
import type * as Advice from "./Advice.js"
import type { CommandResult } from "./CommandResult.js"
import type { SubAgentEvent } from "./SubAgentEvent.js"

/**
 * The progress of a Synapse command, as the MCP server reports it. `message` is one line without control characters.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandProgress {
  /** The name that the command was called by. */
  readonly command: string
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/**
 * The tokens that a Synapse command used by asking a model, and their price if it is known.
 *
 * @since 0.1.0
 */
export interface CommandUsage {
  /** All tokens sent, including the cached ones. */
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cost: number | undefined
}

/**
 * Counts the model usage of commands on behalf of their caller.
 *
 * @since 0.1.0
 */
export interface CommandAccount {
  /** True if a budget limits the usage, so that every model needs a price. */
  readonly hasBudget: boolean
  readonly add: (usage: CommandUsage) => void
  /** Returns the limit that the caller has reached, and a line about it. Undefined while more may be used. */
  readonly reached: () => { readonly ending: "tokens" | "budget"; readonly reason: string } | undefined
}

/**
 * The callbacks that hear a command while it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandListener {
  /**
   * Called with the output as it comes, byte for byte and without a limit. The bytes are valid only during the call. If
   * it returns a promise, nothing more is read until the promise settles.
   */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>
  /**
   * True if the caller reads the output only from `onOutput`, so that commands need not fit it to the result's limit.
   */
  readonly takesAll?: true
  /** The reader of the output, for whom advice in it is worded. A model by default. */
  readonly audience?: Advice.Audience
  /** Called with one line on what probably went wrong when a command failed: `did you mean git?` */
  readonly onHint?: (hint: string) => void
  /**
   * Called with the output so far when the command is interrupted, since an interrupted Effect has no value. `began` is
   * false if the command is known not to have begun.
   */
  readonly onInterrupted?: (result: CommandResult) => void
  /** Called each time a Synapse command (`mcp:<server>:<tool>`) reports progress. */
  readonly onProgress?: (progress: CommandProgress) => void
  /** Counts what Synapse commands (`task:<type>`) use of a model. */
  readonly account?: CommandAccount
  /** Called with each step of the sub-agents that `task:<type>` runs. */
  readonly onSubAgent?: (event: SubAgentEvent) => void
}

/**
 * The listener of the commands that a fiber runs: `Effect.locally(CommandListener.current, { onOutput })`.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const current: FiberRef.FiberRef<CommandListener> = GlobalValue.globalValue("synapse/CommandListener", () =>
  FiberRef.unsafeMake<CommandListener>({})
)

/**
 * Returns a listener without `onOutput`, `onHint` and `onInterrupted`, for a Synapse command whose runner reports its
 * output.
 *
 * @since 0.1.0
 * @category combinators
 */
export const ofProgress = ({ account, audience, onProgress, onSubAgent }: CommandListener): CommandListener => ({
  ...(audience === undefined ? undefined : { audience }),
  ...(onProgress === undefined ? undefined : { onProgress }),
  ...(account === undefined ? undefined : { account }),
  ...(onSubAgent === undefined ? undefined : { onSubAgent })
})
