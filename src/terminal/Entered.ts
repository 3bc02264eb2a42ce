/**
 * The ways in which a person answers a prompt.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * An answer to a prompt: a text, Ctrl-C (which drops the text), or Ctrl-D on an empty line.
 *
 * @since 0.1.0
 * @category models
 */
export type Entered = Data.TaggedEnum<{
  Text: { readonly text: string }
  Interrupted: Record<never, never>
  Ended: Record<never, never>
}>

/**
 * Constructors and matchers of what was entered.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Entered = Data.taggedEnum<Entered>()
