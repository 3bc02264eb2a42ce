/**
 * Splits a command text into tokens as bash does, without running or expanding anything.
 *
 * @since 0.1.0
 */
import { type HereDocument, isRedirection, type Token } from "./Token.js"
import { perStep, type Substitutions, scanWord, unsafe } from "./WordScanner.js"

const blank = /(?:[ \t]|\\\n)+/y
/** All operators; where one begins with another, the longer one comes first. */
const operators = "<<< <<- << <> <& >> >& >| < > &>> &> && & || |& | ;;& ;; ;& ; ( )".split(" ")
/** Matches a backslash and a newline, which may stand inside an operator. */
const joint = String.raw`(?:\\\n)*`
/** Matches a number or `{name}` right before a redirection, which belongs to it. */
const descriptor = String.raw`(?:\d(?:\\\n|\d)*|\{[A-Za-z_]\w{0,255}(?:\[[^\]\s]{0,255}\])?\}${joint})(?=[<>])`
const operator = new RegExp(`(?:${descriptor})?(?:${operators.map(patternOf).join("|")})`, "y")

const hereDocument = /^(?:\d*|\{\S*\})<<(-?)$/
/** Matches an expansion in a here-document, or a backslash that prevents one. */
const expansion = /\\[\\$`]|`|\$[A-Za-z0-9_@*#?$!{([-]/g
/** Words after which a command begins. */
const beforeCommand = new Set(["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"])
/** The depth to which nested substitutions are scanned: nobody writes deeper ones, and recursion has to end. */
const maximalDepth = 20
/**
 * The most characters of a text that are read, and the most steps that this takes, some 200 ns each: what lies behind
 * is one word that is not closed. Nothing that reads texts may be sure of more than it was told, and bash reads the
 * text itself anyway.
 */
const mostCharacters = 256 * 1024
const mostSteps = 20_000

/** The lines of a here-document, as bash joins and strips them, and the index behind the line that ends it. */
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

/** The work that the reading of a text may still take. */
class Effort {
  constructor(private left: number) {}

  spend(steps: number): boolean {
    this.left -= steps
    return this.left >= 0
  }
}

/**
 * Splits a text into tokens.
 *
 * @since 0.1.0
 * @category models
 */
export class Scanner implements Substitutions {
  /** Here-documents whose operator was read: their lines begin after the next newline. */
  private announced: Array<Delimiter> = []
  /** Here-documents whose lines come next, the last one first. */
  private due: Array<Delimiter> = []
  /** The operator whose delimiter comes next, if any. */
  private awaited: "<<" | "<<-" | undefined

  /** As much of the text as is read. */
  private readonly text: string

  constructor(
    text: string,
    public position = 0,
    /** The number of command substitutions around this text. */
    private readonly depth = 0,
    private readonly effort = new Effort(mostSteps),
    private readonly end = text.length
  ) {
    this.text = text.length > mostCharacters ? text.slice(0, mostCharacters) : text
  }

  /** Reads the next token; undefined at the end of the text. */
  next(): Token | undefined {
    const start = this.position
    if (start >= this.end) return undefined
    if (!this.effort.spend(1)) return this.unread(start)
    const token = this.read(start)
    // What ends where the reading ends may go on behind it.
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

  /** Returns the rest of the text as a word that is not closed. */
  private unread(start: number): Token {
    const value = this.text.slice(start)
    return { _tag: "Word", start, end: this.moveTo(this.end), value, quoted: true, expands: true, closed: false }
  }

  /** Spends steps; returns whether as many were left. */
  spend(steps: number): boolean {
    return this.effort.spend(steps)
  }

  /**
   * Returns the index behind the `)` of the command substitution whose text begins at `from`; -1 where it is not
   * closed.
   */
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

  /** Reads the lines at once where each stands as it is written; undefined where they have to be looked at singly. */
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

  /** Counts the expansions and what is escaped of them, up to the first that is real. */
  private expansions(written: string): { readonly count: number; readonly real: boolean } {
    let count = 0
    for (const [each] of written.matchAll(expansion)) {
      if (!each.startsWith("\\") || !this.spend(1)) return { count, real: true }
      count++
    }
    return { count, real: false }
  }

  /**
   * Returns the end of a line of a here-document; where its body is expanded, a backslash at the end joins the line to
   * the next.
   */
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
    // In `case`, the `)` after a pattern closes nothing.
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

/** Makes the pattern of an operator; `<(` and `>(` are none, for they begin a word. */
function patternOf(operator: string): string {
  const pattern = [...operator].map((character) => character.replace(/[|()]/, "\\$&")).join(joint)
  return operator === "<" || operator === ">" ? String.raw`${pattern}(?!\()` : pattern
}
