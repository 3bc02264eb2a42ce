/**
 * The tokens of a command text, as bash splits it. Each has its range in the text, and together they cover all of it.
 *
 * @since 0.1.0
 */
import type * as Data from "effect/Data"

/**
 * A token's range in the text, from `start` up to but excluding `end`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * A token of a command text, with its range.
 *
 * @since 0.1.0
 * @category models
 */
export type Token = Data.TaggedEnum<{
  /** Spaces and tabs, and newlines after a backslash. */
  Blank: Range
  /** A comment, from `#` to the end of its line. */
  Comment: Range
  Newline: Range
  Word: Range & {
    /** The word without its quotes, and with expansions as written. */
    readonly value: string
    /** True if any part of it is quoted. */
    readonly quoted: boolean
    /**
     * True if bash replaces a part of it: `$…`, backquotes, `<(…)`, a glob, braces or a tilde. Also true if the text
     * alone can't tell, as for bytes that are not UTF-8. If false and the word is closed, `value` is what bash passes.
     */
    readonly expands: boolean
    /** True if every quote and bracket in it is closed. */
    readonly closed: boolean
  }
  /** A control operator (`&&`, `|`, `;`, `(` …) or a redirection (`>`, `2>&`, `<<` …). */
  Operator: Range & { readonly value: string }
  /** The lines of a here-document, with the delimiter line. */
  HereDocument: Range & {
    /** The text that bash passes. If it expands, the text as written, with joined lines joined. */
    readonly body: string
    /** True if its delimiter is quoted, so that nothing in the body is expanded. */
    readonly quoted: boolean
    /** True if bash replaces a part of it: `$…` or backquotes. */
    readonly expands: boolean
    /** True if the delimiter line is present. */
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
 * The body of a here-document, and the line that ends it.
 *
 * @since 0.1.0
 * @category models
 */
export type HereDocument = Data.TaggedEnum.Value<Token, "HereDocument">

/**
 * Tests whether an operator is a redirection, whose target is the next word.
 *
 * @since 0.1.0
 */
export const isRedirection = (operator: string): boolean => operator.includes("<") || operator.includes(">")

const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/

/**
 * Tests whether a word of a text has the form of an assignment, `NAME=value`.
 *
 * @since 0.1.0
 */
export const isAssignment = (text: string, { end, start }: Range): boolean => assignment.test(text.slice(start, end))
