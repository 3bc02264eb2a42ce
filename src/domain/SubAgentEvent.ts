/**
 * The steps of a sub-agent that a command runs, for showing them while the command runs.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { ToolCall } from "./ToolCall.js"
import * as UntrustedText from "./UntrustedText.js"

/**
 * A request that will be retried: the server's reason, and the delay in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Retrying {
  readonly reason: string
  readonly delay: number
}

/**
 * Words the retry in one line without control characters.
 *
 * @since 0.1.0
 * @internal
 */
export const describeRetrying = ({ delay, reason }: Retrying): string =>
  `trying again${delay === 0 ? "" : ` in ${Math.ceil(delay / 1000)} s`}: ${UntrustedText.line(reason, 300)}`

/**
 * A step of a sub-agent. Texts come from a model or a command and may hold control characters, so escape them before
 * showing them.
 *
 * @since 0.1.0
 * @category models
 */
export type SubAgentStep = Data.TaggedEnum<{
  /** It was requested. It may still wait for other sub-agents to end. */
  Started: Record<never, never>
  /** The request to its model is retried after `delay` ms. */
  Retrying: Retrying
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly isError: boolean; readonly message: string }
  /** It ended. `ending` is `done`, `failed` or `interrupted`. `text` is its answer, or why it failed. */
  Ended: { readonly ending: string; readonly text: string }
}>

/**
 * Makes a SubAgentStep, and takes one apart with `$match`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const SubAgentStep = Data.taggedEnum<SubAgentStep>()

/**
 * A step, and the sub-agent that made it.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentEvent {
  /** Identifies the sub-agent among all that run. */
  readonly id: string
  readonly type: string
  /** The task, in the words of its caller. */
  readonly description: string
  readonly step: SubAgentStep
}
