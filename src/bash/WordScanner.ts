/**
 * Scans one word of a command text, up to the blank or the operator that ends it.
 *
 * @since 0.1.0
 */
import * as AnsiC from "./AnsiC.js"
import * as Arithmetic from "./Arithmetic.js"
import type { Word } from "./Token.js"

/** Matches a word in which nothing has a special meaning, as most words. */
const plain = /[A-Za-z0-9_.,/:@%+=-]+(?=[ \t\n|&;)]|$)/y
const ends = new Set([" ", "\t", "\n", "|", "&", ";", "(", ")", "<", ">"])
/** Matches what has no special meaning in a word, and in double quotes. */
const ordinary = /[^\\'"`$(<>*?[\]{},.~ \t\n|&;)]+/y
const ordinaryInQuotes = /[^\\"`$]+/y
/**
 * The number of characters that are scanned in the time of a step.
 *
 * @since 0.1.0
 */
export const perStep = 64
/** The most characters of `$'…'` that are decoded. */
const longestAnsiC = 64 * 1024
const parameter = /[A-Za-z_]\w*|[0-9@*#?$!-]/y
/** The depth to which nested parameter expansions are scanned: nobody writes deeper ones, and recursion has to end. */
const maximalDepth = 20
/**
 * Matches the characters that bash may not pass as they are written: it drops NULs, and uses the other two internally.
 *
 * @since 0.1.0
 */
export const unsafe = /[\0\x01\x7f]/
const arrayAssignment = /^[A-Za-z_]\w*\+?=$/

/**
 * Finds the ends of the command substitutions in a word.
 *
 * @since 0.1.0
 */
export interface Substitutions {
  /**
   * Returns the index behind the `)` of the command substitution whose text begins at `from`; -1 where it is not
   * closed.
   */
  readonly endOfCommands: (from: number) => number
  /** Spends steps; returns whether as many were left. A word that takes more is not closed. */
  readonly spend: (steps: number) => boolean
}

/**
 * Scans the word that begins at `start`.
 *
 * @since 0.1.0
 */
export const scanWord = (text: string, start: number, substitutions: Substitutions): Word => {
  plain.lastIndex = start
  if (plain.test(text)) {
    const end = plain.lastIndex
    return { _tag: "Word", start, end, value: text.slice(start, end), quoted: false, expands: false, closed: true }
  }
  return new WordScanner(text, start, substitutions).scan()
}

class WordScanner {
  private position: number
  private value = ""
  private quoted = false
  private expands = false
  private closed = true
  /**
   * True where a `[` was read, which begins a glob if it is closed; `brace` is the same for a brace expansion, and
   * tells whether it has become a list.
   */
  private bracket = false
  private brace: "open" | "list" | undefined
  /** True where a backslash joins two lines in it, so that what stands before and behind the newline meet. */
  private joined = false

  constructor(
    private readonly text: string,
    private readonly start: number,
    private readonly substitutions: Substitutions,
    private readonly depth = 0
  ) {
    this.position = start
  }

  scan(): Word {
    const { start, text } = this
    if (text[start] === "~") this.expands = true
    while (this.position < text.length && this.closed) {
      const character = text[this.position] as string
      if (ends.has(character) && !this.opensBracket(character)) break
      this.part(character)
    }
    const { closed, position: end, quoted, value } = this
    const meets = this.joined && /[$~{]/.test(text.slice(start, end))
    const expands = this.expands || meets || unsafe.test(value)
    return { _tag: "Word", start, end, value, quoted, expands, closed }
  }

  /** Tests whether a bracket belongs to the word: `<(…)`, `>(…)`, and the list of `name=(…)`. */
  private opensBracket(character: string): boolean {
    if (character === "(") {
      return !this.quoted && arrayAssignment.test(this.text.slice(this.start, this.position))
    }
    return (character === "<" || character === ">") && this.text[this.position + 1] === "("
  }

  private part(character: string): void {
    if (!this.substitutions.spend(1)) return this.expansion(-1)
    switch (character) {
      case "\\":
        return this.backslash()
      case "'":
        return this.literal("'", this.position + 1)
      case '"':
        return this.doubleQuotes(this.position + 1)
      case "$":
        return this.dollar(false)
      case "`":
        return this.backquotes()
      case "(":
        return this.substitution(this.position + 1)
      case "<":
      case ">":
        return this.substitution(this.position + 2)
      default:
        this.pattern(character)
        return this.take(this.count(ordinary) || 1)
    }
  }

  /** Returns the number of characters from here on that a pattern matches. */
  private count(pattern: RegExp): number {
    pattern.lastIndex = this.position
    return pattern.test(this.text) ? pattern.lastIndex - this.position : 0
  }

  /** Copies `count` characters as they are. */
  private take(count: number): void {
    this.value += this.text.slice(this.position, this.position + count)
    this.position += count
  }

  /** Copies the text of an expansion, up to `end`, as it is written; where it is not closed, the whole rest. */
  private expansion(end: number): void {
    this.expands = true
    if (end < 0) this.closed = false
    this.take((end < 0 ? this.text.length : end) - this.position)
  }

  private pattern(character: string): void {
    if (character === "*" || character === "?") this.expands = true
    else if (character === "[") this.bracket = true
    else if (character === "]") this.expands ||= this.bracket
    else if (character === "{") this.brace ??= "open"
    else if (character === "," || (character === "." && this.text[this.position + 1] === ".")) {
      if (this.brace === "open") this.brace = "list"
    } else if (character === "}") this.expands ||= this.brace === "list"
    else if (character === "~" && /[=:]/.test(this.text[this.position - 1] ?? "")) this.expands = true
  }

  private backslash(): void {
    const next = this.text[this.position + 1]
    // The meaning of a backslash at the end depends on what bash reads after it.
    if (next === undefined) return this.expansion(this.text.length)
    this.position += 2
    if (next === "\n") {
      this.joined = true
      return
    }
    this.quoted = true
    this.value += next
  }

  private literal(quote: string, from: number): void {
    const close = this.text.indexOf(quote, from)
    this.quoted = true
    this.closed = close >= 0
    const end = close < 0 ? this.text.length : close
    this.value += this.text.slice(from, end)
    this.position = close < 0 ? end : end + 1
  }

  private doubleQuotes(from: number): void {
    const { text } = this
    this.quoted = true
    this.position = from
    while (this.position < text.length && this.closed) {
      const character = text[this.position] as string
      const next = text[this.position + 1]
      if (!this.substitutions.spend(1)) return this.expansion(-1)
      if (character === '"') {
        this.position++
        return
      }
      if (character === "\\" && next !== undefined && '$`"\\\n'.includes(next)) {
        if (next === "\n") this.joined = true
        else this.value += next
        this.position += 2
      } else if (character === "$") this.dollar(true)
      else if (character === "`") this.backquotes()
      else this.take(this.count(ordinaryInQuotes) || 1)
    }
    this.closed = false
  }

  private dollar(inQuotes: boolean): void {
    const { position, text } = this
    const next = text[position + 1]
    if (next === "'" && !inQuotes) return this.ansiC(position + 2)
    if (next === '"' && !inQuotes) return this.doubleQuotes(position + 2)
    if (next === "(") return this.substitution(position + 2)
    if (next === "{") return this.expansion(this.endOfParameter(position + 2))
    if (next === "[") return this.expansion(Arithmetic.endOfBrackets(text, position + 2))
    parameter.lastIndex = position + 1
    if (parameter.test(text)) return this.expansion(parameter.lastIndex)
    this.take(1)
  }

  private ansiC(from: number): void {
    let end = from
    while (end < this.text.length && this.text[end] !== "'") end += this.text[end] === "\\" ? 2 : 1
    end = Math.min(end, this.text.length)
    this.quoted = true
    this.closed = this.text[end] === "'"
    const written = this.text.slice(from, end)
    const { exact, text } = end - from > longestAnsiC ? { exact: false, text: written } : AnsiC.read(written)
    this.value += text
    this.expands ||= !exact
    this.position = this.closed ? end + 1 : end
  }

  private substitution(from: number): void {
    if (this.text[from - 2] === "$" && this.text[from] === "(") {
      const { end: arithmetic, read } = Arithmetic.endOfParentheses(this.text, from + 1)
      if (!this.substitutions.spend(read / perStep)) return this.expansion(-1)
      if (arithmetic >= 0) return this.expansion(arithmetic)
    }
    this.expansion(this.substitutions.endOfCommands(from))
  }

  /** Returns the index behind the `}` of `${…`; -1 where it is not closed. */
  private endOfParameter(from: number): number {
    const { text } = this
    if (this.depth >= maximalDepth) return -1
    let at = from
    while (at < text.length) {
      const character = text[at] as string
      if (character === "}") return at + 1
      if (character === "\\") at += 2
      else if (character === '"' || character === "$" || character === "`") {
        if (!this.substitutions.spend(1)) return -1
        const inner = new WordScanner(text, at, this.substitutions, this.depth + 1)
        inner.part(character)
        if (!inner.closed) return -1
        at = inner.position
      } else at++
    }
    return -1
  }

  private backquotes(): void {
    let end = this.position + 1
    while (end < this.text.length && this.text[end] !== "`") end += this.text[end] === "\\" ? 2 : 1
    this.expansion(end < this.text.length ? end + 1 : -1)
  }
}
