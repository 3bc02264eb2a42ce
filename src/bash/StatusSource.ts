/** Finds the commands that the exit status of a command text can come from. */

import { programOf } from "./internal/Wrapper.js"
import { isRedirection, type Token, type Word } from "./Token.js"

/** The name of the program that decides a pipeline's status; undefined where it has none: for `(…)`, `if …`, `a=1`. */
export type Decider = string | undefined

const opening = new Set(["if", "for", "while", "until", "select", "{"])
const closing = new Set(["fi", "done", "}"])
const beforeCommand = new Set(["then", "do", "else", "elif", "if", "while", "until", "{"])
/** Reserved words after which the tokens alone do not tell the status. */
const unreadable = new Set(["case", "function", "coproc", "!"])
/** Commands after which a line's status may come from any of its commands. */
const leaving = new Set(["exit", "return", "exec", "set", "trap"])

/**
 * Returns the programs of the last list (`a && b | c`) that may have decided the status, in order; undefined where the
 * text is no complete command, or too complex to tell.
 *
 * @param mayLeave true where the text may have ended with any of its lists
 */
export const deciders = (tokens: ReadonlyArray<Token>, mayLeave = false): ReadonlyArray<Decider> | undefined => {
  const reader = new StatusReader(mayLeave)
  for (const token of tokens) {
    reader.take(token)
    if (reader.lost) return undefined
  }
  return reader.end()
}

class StatusReader {
  lost = false
  /** The number of open compound commands. */
  private depth = 0
  private atCommand = true
  private isTarget = false
  private inTest = false
  private compound = false
  private words: Array<Word> = []
  private list: Array<Decider> = []
  /** True where a list that has ended may have ended the whole text. */
  private left = false
  private last: ReadonlyArray<Decider> = []

  constructor(private mayLeave: boolean) {}

  take(token: Token): void {
    if (token._tag === "Word") return this.word(token)
    // After `&&` or `|`, the list goes on in the next line.
    if (token._tag === "Newline" && (this.words.length > 0 || this.compound)) return this.operator(";")
    if (token._tag === "Operator") return this.operator(token.value)
  }

  end(): ReadonlyArray<Decider> | undefined {
    this.endList(false)
    return this.depth === 0 && !this.inTest && !this.lost ? this.last : undefined
  }

  private word(word: Word): void {
    if (!word.closed) this.lost = true
    const written = word.quoted ? "" : word.value
    if (this.inTest) {
      this.inTest = written !== "]]"
      return
    }
    if (this.isTarget) {
      this.isTarget = false
      return
    }
    if (this.atCommand) {
      if (unreadable.has(written)) this.lost = true
      if (leaving.has(written)) this.mayLeave = true
      if (written === "[[") this.inTest = this.compound = true
      if (closing.has(written)) this.depth--
      if (opening.has(written)) {
        this.depth++
        this.compound = true
      }
      this.atCommand = beforeCommand.has(written)
    }
    if (this.depth === 0) this.words.push(word)
  }

  private operator(value: string): void {
    if (this.inTest) return
    if (isRedirection(value)) {
      this.isTarget = true
      return
    }
    if (value === "(") {
      // With words before it, this is the definition of a function.
      if (this.depth === 0 && this.words.length > 0) this.lost = true
      this.depth++
      this.compound = true
    } else if (value === ")") this.depth--
    else if (value.startsWith(";;") || value === ";&") this.lost = true
    else if (this.depth === 0) this.control(value)
    this.atCommand = value !== ")"
    if (this.depth < 0) this.lost = true
  }

  private control(value: string): void {
    // Without pipefail, a pipeline's status is that of its last command.
    if (value === "|" || value === "|&") {
      this.startCommand()
    } else if (value === "&&" || value === "||") this.endCommand()
    else this.endList(value === "&")
  }

  private startCommand(): void {
    this.words = []
    this.compound = false
  }

  private endCommand(): void {
    if (this.compound || this.words.length > 0) {
      this.list.push(this.compound ? undefined : programOf(this.words))
    }
    this.startCommand()
  }

  private endList(inBackground: boolean): void {
    this.endCommand()
    if (this.list.length === 0) return
    if (this.left) this.lost = true
    this.left = this.mayLeave
    this.last = inBackground ? [] : this.list
    this.list = []
  }
}
