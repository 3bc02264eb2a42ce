/** Splits a command text into tokens as bash does, without running or expanding anything. */

import * as AnsiC from "./AnsiC.js"
import { beforeCommand } from "./CommandTree.js"
import type { Word } from "./Token.js"
import { type HereDocument, isRedirection, type Token } from "./Token.js"

/** The end of an expansion, and how many characters were read to find it. */
interface End {
  readonly end: number
  readonly read: number
}

/**
 * Finds the index after the `))` of an arithmetic expression that begins at `from`. The index is -1 if it is not
 * arithmetic, as in `$((a); b)`.
 *
 * @param isExpansion false for a command, which may contain a newline or `;`
 */
const endOfParentheses = (text: string, from: number, isExpansion: boolean): End => {
  let open = 2
  let at = from
  const none = () => ({ end: -1, read: at - from })
  for (; at < text.length; at++) {
    const character = text[at]
    if (character === "(") open++
    else if (character === ")") {
      open--
      if (open === 1 && text[at + 1] !== ")") return none()
      if (open === 0) return { end: at + 1, read: at - from }
    } else if (isExpansion && (character === "\n" || character === ";")) return none()
  }
  return none()
}

/** Returns the index after the `]` of the old form `$[…]`, or -1 if it is not closed. */
const endOfBrackets = (text: string, from: number): number => {
  let open = 1
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === "\\") at++
    else if (character === "[") open++
    else if (character === "]" && --open === 0) return at + 1
  }
  return -1
}

/** Matches a word without special characters, as most words are. */
const plain = /[A-Za-z0-9_.,/:@%+=-]+(?=[ \t\n|&;)]|$)/y
const ends = new Set([" ", "\t", "\n", "|", "&", ";", "(", ")", "<", ">"])
/** Matches characters without a special meaning in a word, and in double quotes. */
const ordinary = /[^\\'"`$(<>*?[\]{},.~ \t\n|&;)]+/y
const ordinaryInQuotes = /[^\\"`$]+/y
/** How many characters are scanned in the time of one step. */
const perStep = 64
/** The longest `$'…'` that is decoded, in characters. */
const longestAnsiC = 64 * 1024
const parameter = /[A-Za-z_]\w*|[0-9@*#?$!-]/y
/** Matches characters that bash may change: it drops NULs and uses the other two internally. */
const unsafe = /[\0\x01\x7f]/
const arrayAssignment = /^[A-Za-z_]\w*\+?=$/

const scanWord = (text: string, start: number, scanner: Scanner): Word => {
  plain.lastIndex = start
  if (plain.test(text)) {
    const end = plain.lastIndex
    return { _tag: "Word", start, end, value: text.slice(start, end), quoted: false, expands: false, closed: true }
  }
  return new WordScanner(text, start, scanner).scan()
}

class WordScanner {
  private position: number
  private value = ""
  private quoted = false
  private expands = false
  private closed = true
  /**
   * `bracket`: a `[` was read, which begins a glob if it is closed. `brace`: the same for `{`, and for a list in it.
   */
  private bracket = false
  private brace: "open" | "list" | undefined
  /** True if a backslash joins two lines within the word. An expansion may then span the newline. */
  private joined = false

  constructor(
    private readonly text: string,
    private readonly start: number,
    private readonly scanner: Scanner,
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

  /** Tests whether a bracket belongs to the word, as in `<(…)`, `>(…)` and `name=(…)`. */
  private opensBracket(character: string): boolean {
    if (character === "(") {
      return !this.quoted && arrayAssignment.test(this.text.slice(this.start, this.position))
    }
    return (character === "<" || character === ">") && this.text[this.position + 1] === "("
  }

  private part(character: string): void {
    if (!this.scanner.spend(1)) return this.expansion(-1)
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

  /** Returns how many of the next characters a pattern matches. */
  private count(pattern: RegExp): number {
    pattern.lastIndex = this.position
    return pattern.test(this.text) ? pattern.lastIndex - this.position : 0
  }

  private take(count: number): void {
    this.value += this.text.slice(this.position, this.position + count)
    this.position += count
  }

  /** Copies an expansion literally up to `end`, or the whole rest if it is not closed. */
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
    // After a final backslash, the meaning depends on what bash reads next.
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
      if (!this.scanner.spend(1)) return this.expansion(-1)
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
    if (next === "[") return this.expansion(endOfBrackets(text, position + 2))
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
      const { end: arithmetic, read } = endOfParentheses(this.text, from + 1, true)
      if (!this.scanner.spend(read / perStep)) return this.expansion(-1)
      if (arithmetic >= 0) return this.expansion(arithmetic)
    }
    this.expansion(this.scanner.endOfCommands(from))
  }

  /** Returns the index after the `}` of `${…`, or -1 if it is not closed. */
  private endOfParameter(from: number): number {
    const { text } = this
    if (this.depth >= maximalDepth) return -1
    let at = from
    while (at < text.length) {
      const character = text[at] as string
      if (character === "}") return at + 1
      if (character === "\\") at += 2
      else if (character === '"' || character === "$" || character === "`") {
        if (!this.scanner.spend(1)) return -1
        const inner = new WordScanner(text, at, this.scanner, this.depth + 1)
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

const blank = /(?:[ \t]|\\\n)+/y
/** All operators, longer ones before their own beginnings. */
const operators = "<<< <<- << <> <& >> >& >| < > &>> &> && & || |& | ;;& ;; ;& ; ( )".split(" ")
/** Matches a joined line, which may stand within an operator. */
const joint = String.raw`(?:\\\n)*`
/** Matches a number or `{name}` that belongs to the redirection after it. */
const descriptor = String.raw`(?:\d(?:\\\n|\d)*|\{[A-Za-z_]\w{0,255}(?:\[[^\]\s]{0,255}\])?\}${joint})(?=[<>])`
const operator = new RegExp(`(?:${descriptor})?(?:${operators.map(patternOf).join("|")})`, "y")

const hereDocument = /^(?:\d*|\{\S*\})<<(-?)$/
/** Matches an expansion in a here-document, or a backslash that prevents one. */
const expansion = /\\[\\$`]|`|\$[A-Za-z0-9_@*#?$!{([-]/g
/** How deep nested expansions are scanned. Nobody nests deeper, and recursion must end. */
const maximalDepth = 20
/**
 * The most characters that are scanned, and the most steps, of about 200 ns each. The rest of the text becomes one
 * unclosed word, of which nothing is certain. bash reads the text itself anyway.
 */
const mostCharacters = 256 * 1024
const mostSteps = 20_000

/** The lines of a here-document after joining and stripping, and the index after its last line. */
interface Lines {
  readonly written: string
  readonly end: number
  readonly closed: boolean
}

interface Delimiter {
  readonly text: string
  readonly stripsTabs: boolean
  readonly quoted: boolean
}

/** The steps that are left for scanning a text. */
class Effort {
  constructor(private left: number) {}

  spend(steps: number): boolean {
    this.left -= steps
    return this.left >= 0
  }
}

export class Scanner {
  /** Here-documents whose operator was read. Their lines begin after the next newline. */
  private announced: Array<Delimiter> = []
  /** Here-documents whose lines come next, in reverse order. */
  private due: Array<Delimiter> = []
  /** The operator whose delimiter comes next, if any. */
  private awaited: "<<" | "<<-" | undefined

  /** The part of the text that is scanned. */
  private readonly text: string

  constructor(
    text: string,
    public position = 0,
    /** How many command substitutions surround this text. */
    private readonly depth = 0,
    private readonly effort = new Effort(mostSteps),
    private readonly end = text.length
  ) {
    this.text = text.length > mostCharacters ? text.slice(0, mostCharacters) : text
  }

  /** Reads the next token, or returns undefined at the end of the text. */
  next(): Token | undefined {
    const start = this.position
    if (start >= this.end) return undefined
    if (!this.effort.spend(1)) return this.unread(start)
    const token = this.read(start)
    // A token that ends where scanning stops may continue after it.
    return token.end === this.text.length && token.end < this.end ? this.unread(start) : token
  }

  private read(start: number): Token {
    const { text } = this
    const due = this.due.pop()
    if (due !== undefined) return this.hereDocument(due)

    blank.lastIndex = start
    if (blank.test(text)) return { _tag: "Blank", start, end: this.moveTo(blank.lastIndex) }
    const first = text[start]
    if (first === "\n") {
      this.due = this.announced.reverse()
      this.announced = []
      return { _tag: "Newline", start, end: this.moveTo(start + 1) }
    }
    if (first === "#") {
      const newline = text.indexOf("\n", start)
      return { _tag: "Comment", start, end: this.moveTo(newline < 0 ? text.length : newline) }
    }
    const arithmetic = first === "(" && text[start + 1] === "(" ? this.arithmetic(start) : undefined
    if (arithmetic !== undefined) return arithmetic
    operator.lastIndex = start
    if (operator.test(text)) {
      const value = text.slice(start, this.moveTo(operator.lastIndex)).replaceAll("\\\n", "")
      const dash = hereDocument.exec(value)?.[1]
      this.awaited = dash === undefined ? undefined : dash === "" ? "<<" : "<<-"
      return { _tag: "Operator", start, end: this.position, value }
    }
    const word = scanWord(text, start, this)
    this.moveTo(word.end)
    if (this.awaited !== undefined) {
      this.announced.push({ text: word.value, stripsTabs: this.awaited === "<<-", quoted: word.quoted })
      this.awaited = undefined
    }
    return word
  }

  /** Reads a `((…))` command as one word. */
  private arithmetic(start: number): Word | undefined {
    const { end, read } = endOfParentheses(this.text, start + 2, false)
    if (!this.spend(read / perStep) || end < 0) return undefined
    const value = this.text.slice(start, this.moveTo(end))
    return { _tag: "Word", start, end, value, quoted: false, expands: true, closed: true }
  }

  /** Returns the rest of the text as an unclosed word. */
  private unread(start: number): Token {
    const value = this.text.slice(start)
    return { _tag: "Word", start, end: this.moveTo(this.end), value, quoted: true, expands: true, closed: false }
  }

  /** Spends steps. Returns whether enough were left; otherwise the word counts as unclosed. */
  spend(steps: number): boolean {
    return this.effort.spend(steps)
  }

  /** Returns the index after the `)` of the command substitution that begins at `from`, or -1 if it is not closed. */
  endOfCommands(from: number): number {
    return this.depth >= maximalDepth ? -1 : new Scanner(this.text, from, this.depth + 1, this.effort).skipCommands()
  }

  private moveTo(position: number): number {
    this.position = position
    return position
  }

  private hereDocument(delimiter: Delimiter): HereDocument {
    const { quoted } = delimiter
    const { position: start } = this
    const { closed, end, written } = this.plainLines(delimiter) ?? this.lines(delimiter)
    const { count, real } = quoted ? { count: 0, real: false } : this.expansions(written)
    const expands = real || unsafe.test(written)
    const body = expands || count === 0 ? written : written.replace(expansion, (each) => each.slice(1))
    return { _tag: "HereDocument", start, end: this.moveTo(end), body, quoted, expands, closed }
  }

  /** Reads the lines at once if none has to be joined or stripped. Otherwise returns undefined. */
  private plainLines({ quoted, stripsTabs, text: last }: Delimiter): Lines | undefined {
    const { position: start, text } = this
    if (stripsTabs || last.includes("\n")) return undefined
    const isEmpty = text.startsWith(`${last}\n`, start)
    let from = isEmpty ? start : text.indexOf(`\n${last}\n`, start) + 1
    if (from === 0 && text.endsWith(`\n${last}`)) from = text.length - last.length
    if (from < start || (from === start && !isEmpty)) return undefined
    const written = text.slice(start, from)
    const isPlain = quoted || !written.includes("\\\n")
    if (!isPlain) this.spend((from - start) / perStep)
    return isPlain ? { written, end: Math.min(from + last.length + 1, text.length), closed: true } : undefined
  }

  private lines({ quoted, stripsTabs, text: last }: Delimiter): Lines {
    const { position: start, text } = this
    let lineStart = start
    let written = ""
    let closed = false
    while (lineStart < text.length && !closed) {
      if (!this.spend(1)) return { written, end: text.length, closed: false }
      const lineEnd = this.endOfLine(lineStart, !quoted)
      const raw = text.slice(lineStart, lineEnd)
      const joined = quoted ? raw : raw.replace(/(\\[^\n])|\\\n/g, "$1")
      const line = stripsTabs ? joined.replace(/^\t+/, "") : joined
      lineStart = Math.min(lineEnd + 1, text.length)
      if (line === last) closed = true
      else written += lineEnd < text.length ? `${line}\n` : line
    }
    return { written, end: lineStart, closed }
  }

  /** Counts escaped expansions up to the first real one. */
  private expansions(written: string): { readonly count: number; readonly real: boolean } {
    let count = 0
    for (const [each] of written.matchAll(expansion)) {
      if (!each.startsWith("\\") || !this.spend(1)) return { count, real: true }
      count++
    }
    return { count, real: false }
  }

  /** Returns the end of a here-document's line. If `joins`, a backslash at the end joins it to the next line. */
  private endOfLine(start: number, joins: boolean): number {
    let from = start
    for (;;) {
      const newline = this.text.indexOf("\n", from)
      if (newline < 0) return this.text.length
      let backslashes = 0
      while (joins && newline - backslashes > start && this.text[newline - backslashes - 1] === "\\") backslashes++
      if (!this.spend(1 + (backslashes >> 6))) return this.text.length
      if (backslashes % 2 === 0) return newline
      from = newline + 1
    }
  }

  private skipCommands(): number {
    // The `)` after a pattern of a `case` closes nothing.
    const cases: Array<number> = []
    let open = 1
    let atCommand = true
    for (let token = this.next(); token !== undefined; token = this.next()) {
      if (token._tag === "Newline") atCommand = true
      else if (token._tag === "Word") {
        if (!token.closed) return -1
        const written = token.quoted ? "" : token.value
        if (atCommand && written === "case") cases.push(open)
        if (written === "esac" && cases.at(-1) === open) cases.pop()
        atCommand = atCommand && beforeCommand.has(written)
      } else if (token._tag === "Operator") {
        atCommand = !isRedirection(token.value)
        if (token.value === "(") open++
        if (token.value === ")" && cases.at(-1) !== open && --open === 0) return token.end
      }
    }
    return -1
  }
}

/** Makes the pattern of an operator. Excludes `<(` and `>(`, which begin a word. */
function patternOf(operator: string): string {
  const pattern = [...operator].map((character) => character.replace(/[|()]/, "\\$&")).join(joint)
  return operator === "<" || operator === ">" ? String.raw`${pattern}(?!\()` : pattern
}
