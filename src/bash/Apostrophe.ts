/** Finds the apostrophe that bash took for a quote, where a text can't be parsed for it. */
import * as CommandLine from "./CommandLine.js"

/**
 * An apostrophe in a word, as in `it's`. `written` is the word as it stands there, `correct` as bash would take it.
 */
export interface Apostrophe {
  readonly written: string
  readonly correct: string
  /** True where it ends a quote in which it stands; false where it opens one. */
  readonly ends: boolean
}

const inWord = /[\p{L}\d]{1,40}'\p{L}{1,40}/gu

/**
 * Returns the apostrophe whose correction makes a text complete; undefined where the text is complete, or where it is
 * not for one apostrophe alone.
 */
export const find = (text: string): Apostrophe | undefined => {
  if (isComplete(text)) return undefined
  const [only, ...others] = text.matchAll(inWord)
  if (only === undefined || others.length > 0) return undefined
  const [written] = only
  for (const [replacement, ends] of [["'\\''", true] as const, ["\\'", false] as const]) {
    const correct = written.replace("'", () => replacement)
    if (isComplete(text.slice(0, only.index) + correct + text.slice(only.index + written.length))) {
      return { written, correct, ends }
    }
  }
  return undefined
}

const isComplete = (text: string): boolean =>
  CommandLine.parse(text).tokens.every((token) => token._tag !== "Word" || token.closed)
