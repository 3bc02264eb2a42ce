/**
 * The listener of a running command.
 *
 * @since 0.1.0
 */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
import type * as Advice from "./Advice.js"
import type { CommandResult } from "./CommandResult.js"
import type { SubAgentEvent } from "./SubAgentEvent.js"

/**
 * The progress of a command of ours which waits for something else, as that tells it. The message is one harmless line.
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
 * The tokens that a command of ours has used by asking a model, and their price where it is known.
 *
 * @since 0.1.0
 */
export interface CommandUsage {
  /** All tokens that were sent, also the cached ones. */
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cost: number | undefined
}

/**
 * Counts what commands use of a model, on the account of whoever calls them.
 *
 * @since 0.1.0
 */
export interface CommandAccount {
  /** True where a budget limits what may be used, so that every model needs a price. */
  readonly hasBudget: boolean
  readonly add: (usage: CommandUsage) => void
  /** Returns which limit of the caller is reached, and a line about it; undefined while more may be used. */
  readonly reached: () => { readonly ending: "tokens" | "budget"; readonly reason: string } | undefined
}

/**
 * Hears the output of a command while it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandListener {
  /**
   * Called with the output as it comes, byte for byte and without a limit. The bytes are valid only during the call.
   * Where it returns a promise, nothing more is read until that is settled.
   */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>
  /**
   * True where `onOutput` is all that is heard of the output, so that no command fits its own to the result's limit.
   */
  readonly takesAll?: true
  /** The reader of the output, for whom advice in it is worded; where none is named, a model. */
  readonly audience?: Advice.Audience
  /** Called with one line on what probably went wrong where a command failed: `did you mean git?` */
  readonly onHint?: (hint: string) => void
  /**
   * Called with the output so far when the command is interrupted, for an interrupted Effect has no value; `began` is
   * false where it is known that the command did not begin.
   */
  readonly onInterrupted?: (result: CommandResult) => void
  /** Called with the progress of a command of ours (`mcp:<server>:<tool>`), as often as it is told. */
  readonly onProgress?: (progress: CommandProgress) => void
  /** The account of what commands of ours (`task:<type>`) use of a model. */
  readonly account?: CommandAccount
  /** Called with each step of the sub-agents that commands of ours (`task:<type>`) run. */
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
 * Returns the part of a listener that a command of ours hears: its output is told by who runs it.
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
