import * as Data from "effect/Data"

/** An answer to a prompt: a text, Ctrl-C (which drops the text), or Ctrl-D on an empty line. */
export type Entered = Data.TaggedEnum<{
  Text: { readonly text: string }
  Interrupted: Record<never, never>
  Ended: Record<never, never>
}>

export const Entered = Data.taggedEnum<Entered>()
