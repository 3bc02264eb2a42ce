/**
 * Parses a command as a model or a person writes it: the first command's name and the text after it.
 *
 * @since 0.1.0
 */
import * as CommandTree from "./CommandTree.js"
import { Scanner } from "./Scanner.js"
import { type HereDocument, isAssignment, isRedirection, type Token, type Word } from "./Token.js"

/**
 * A parsed command line. The first word is read at once, and other tokens on demand, since most commands just go to the
 * shell.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandLine {
  /** The `NAME=value` words before the first command's name. */
  readonly assignments: ReadonlyArray<Word>
  /** The word that names the first command; undefined if there is none, as in an empty line, `(…)` or `a=1`. */
  readonly command: Word | undefined
  private readonly scanner: Scanner
  private readonly read: Array<Token> = []
  private commands: CommandTree.CommandTree | undefined

  constructor(readonly text: string) {
    this.scanner = new Scanner(text)
    const assignments: Array<Word> = []
    let command: Word | undefined
    let isTarget = false
    for (let token = this.next(); token !== undefined; token = this.next()) {
      if (token._tag === "Operator") {
        if (!isRedirection(token.value)) break
        isTarget = true
      } else if (token._tag === "Word") {
        if (isTarget) isTarget = false
        else if (isAssignment(text, token)) assignments.push(token)
        else {
          command = token
          break
        }
      } else if (token._tag === "Newline" && assignments.length > 0) break
    }
    this.assignments = assignments
    this.command = command
  }

  private next(): Token | undefined {
    const token = this.scanner.next()
    if (token !== undefined) this.read.push(token)
    return token
  }

  /** The first command's name without quotes; empty if there is none or it comes from an expansion. */
  get name(): string {
    return this.command === undefined || this.command.expands || !this.command.closed ? "" : this.command.value
  }

  /** The raw text after the name, without leading blanks. */
  get rest(): string {
    const { command, text } = this
    if (command === undefined) return ""
    // Not a regular expression: it would overflow the stack on millions of blanks.
    let at = command.end
    while (text[at] === " " || text[at] === "\t" || text.startsWith("\\\n", at)) at += text[at] === "\\" ? 2 : 1
    return text.slice(at)
  }

  /** Every token of the text. */
  get tokens(): ReadonlyArray<Token> {
    while (this.next() !== undefined);
    return this.read
  }

  /** The commands of the text, as bash nests them. */
  get tree(): CommandTree.CommandTree {
    this.commands ??= CommandTree.read(this.text, this.tokens)
    return this.commands
  }

  /** The tokens after the name, without blanks, comments and trailing newlines. */
  get tail(): ReadonlyArray<Token> {
    const { command } = this
    if (command === undefined) return []
    const tail = this.tokens.filter(
      (token) => token.start >= command.end && token._tag !== "Blank" && token._tag !== "Comment"
    )
    return tail.slice(0, tail.findLastIndex((token) => token._tag !== "Newline") + 1)
  }

  /** The words after the name. Unless the line is `simple`, they include words of other commands on it. */
  get words(): ReadonlyArray<Word> {
    return this.tail.filter((token, index, tail): token is Word => {
      const before = tail[index - 1]
      return token._tag === "Word" && !(before?._tag === "Operator" && isRedirection(before.value))
    })
  }

  /** The command's here-document; the last one if there are several. */
  get hereDocument(): HereDocument | undefined {
    return this.tail.findLast((token): token is HereDocument => token._tag === "HereDocument")
  }

  /** The text that `<<` or `<<<` gives to the command's standard input; the last one if there are several. */
  get input(): string | undefined {
    const { tail } = this
    const last = tail.findLastIndex((token) => token._tag === "Operator" && token.value.startsWith("<<"))
    const operator = tail[last]
    if (operator?._tag !== "Operator" || operator.value !== "<<<") return this.hereDocument?.body
    const word = tail[last + 1]
    return word?._tag === "Word" ? `${word.value}\n` : undefined
  }

  /** True if the line is one command with words only, and perhaps here-documents. It can run without a shell. */
  get simple(): boolean {
    const { command } = this
    if (command === undefined) return false
    const tail = this.tail
    const last = tail.findLastIndex((token) => token._tag === "Word" || token._tag === "Operator")
    return (
      !this.tokens.some((token) => token._tag === "Operator" && token.start < command.start) &&
      tail.every((token, index) => {
        if (token._tag === "Word") return token.closed
        if (token._tag === "Operator") return /^(?:<<-?|<<<)$/.test(token.value) && tail[index + 1]?._tag === "Word"
        return token._tag === "HereDocument" ? token.closed : index > last
      })
    )
  }

  /** True if the line is `simple` and without expansions, so that `words` and `input` are what bash would pass. */
  get literal(): boolean {
    return (
      this.simple &&
      this.tokens.every((token) => (token._tag === "Word" || token._tag === "HereDocument" ? !token.expands : true))
    )
  }
}

/**
 * Parses a command line. Accepts every text, even with syntax errors.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (text: string): CommandLine => new CommandLine(text)
