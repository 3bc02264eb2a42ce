/**
 * The pieces that bash cuts a command text into. Every piece knows its place in the text, and together they are all of it.
 *
 * @since 0.1.0
 */
import type * as Data from "effect/Data"

/**
 * Where a token lies in the text: from `start` up to, not including, `end`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * A piece of a text, with its place in it.
 *
 * @since 0.1.0
 * @category models
 */
export type Token = Data.TaggedEnum<{
  /** Spaces and tabs, and newlines after a backslash. */
  Blank: Range
  /** From `#` to the end of its line. */
  Comment: Range
  Newline: Range
  Word: Range & {
    /** The word without its quotes; what bash would expand stands in it as written. */
    readonly value: string
    /** Whether any of it is quoted. */
    readonly quoted: boolean
    /**
     * Whether bash replaces any of it: `$…`, backquotes, `<(…)`, a glob, braces, a tilde. Where it does not, and the word is
     * closed, `value` is what bash passes. It is also said of what text can't tell for sure: bytes that are no UTF-8.
     */
    readonly expands: boolean
    /** Whether every quote and bracket in it is closed. */
    readonly closed: boolean
  }
  /** A control operator (`&&`, `|`, `;`, `(` …) or a redirection (`>`, `2>&`, `<<` …). */
  Operator: Range & { readonly value: string }
  /** The lines of a here-document, its last line included. */
  HereDocument: Range & {
    /** What bash passes; where it expands, what is written, in lines as bash joins them. */
    readonly body: string
    /** Whether its delimiter is quoted, so that nothing in the body is expanded. */
    readonly quoted: boolean
    /** Whether bash replaces any of it: `$…` or backquotes. */
    readonly expands: boolean
    /** Whether its last line is there. */
    readonly closed: boolean
  }
}>

/**
 * A word: a command's name, an argument, a redirection's target.
 *
 * @since 0.1.0
 * @category models
 */
export type Word = Data.TaggedEnum.Value<Token, "Word">

/**
 * A here-document's lines.
 *
 * @since 0.1.0
 * @category models
 */
export type HereDocument = Data.TaggedEnum.Value<Token, "HereDocument">

/**
 * Tells whether an operator is a redirection: the word after it is its target.
 *
 * @since 0.1.0
 */
export const isRedirection = (operator: string): boolean => operator.includes("<") || operator.includes(">")
