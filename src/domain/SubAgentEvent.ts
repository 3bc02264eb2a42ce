/**
 * The steps of a sub-agent that a command runs, for who shows them while the command goes on.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { ToolCall } from "./ToolCall.js"
import * as UntrustedText from "./UntrustedText.js"

/**
 * The reason why a request is tried again, as the server told it, and the milliseconds until then.
 *
 * @since 0.1.0
 * @category models
 */
export interface Retrying {
  readonly reason: string
  readonly delay: number
}

/**
 * Says that the request is tried again, on one line which no terminal obeys.
 *
 * @since 0.1.0
 * @internal
 */
export const describeRetrying = ({ delay, reason }: Retrying): string =>
  `trying again${delay === 0 ? "" : ` in ${Math.ceil(delay / 1000)} s`}: ${UntrustedText.line(reason, 300)}`

/**
 * A step of a sub-agent. Texts are a model's or a command's: who shows them makes control characters harmless.
 *
 * @since 0.1.0
 * @category models
 */
export type SubAgentStep = Data.TaggedEnum<{
  /** It has been asked for; it waits for its turn where as many run as may. */
  Started: Record<never, never>
  /** Its model is asked again, after so many milliseconds. */
  Retrying: Retrying
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly isError: boolean; readonly message: string }
  /** It has ended; `ending` is `done`, `failed` or `interrupted`, and `text` its answer, or why it failed. */
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
 * A step, and the sub-agent that has made it.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentEvent {
  /** Tells the sub-agent from all others that run. */
  readonly id: string
  readonly type: string
  /** What it does, in the words of who asked for it. */
  readonly description: string
  readonly step: SubAgentStep
}
