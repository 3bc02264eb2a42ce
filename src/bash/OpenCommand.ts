/** Finds the compound commands that a text begins and does not end: bash names none of them. */
import { isRedirection, type Token } from "./Token.js"

/** A compound command without an end. */
export interface OpenCommand {
  /** The word that begins it: `if`, `{`. */
  readonly word: string
  /** The word that would end it: `fi`, `}`. */
  readonly end: string
  /** The number of the line where it begins, from 1 on. */
  readonly line: number
}

const ends: Readonly<Record<string, string>> = {
  if: "fi",
  for: "done",
  select: "done",
  while: "done",
  until: "done",
  case: "esac",
  "{": "}",
  "(": ")"
}
const closing = new Set(Object.values(ends))
/** Words behind which a command begins, or another reserved word. */
const between = new Set(["then", "else", "elif", "do", "!", "time"])

/**
 * Returns the compound commands that are open at the end of a text which bash has read to its end, the innermost last;
 * undefined where the tokens alone do not tell.
 */
export const find = (text: string, tokens: ReadonlyArray<Token>): ReadonlyArray<OpenCommand> | undefined => {
  // bash takes that end for the test's first word.
  if (/\[\[\s+\]\]/.test(text)) return undefined
  const reader = new Reader(text)
  for (const token of tokens) if (!reader.take(token)) return undefined
  return reader.isWithin ? undefined : reader.open
}

class Reader {
  readonly open: Array<OpenCommand> = []
  /**
   * The role of the next word: the first or a later one of a command, the variable of a `for` or the `in` after it, the
   * subject of a `case`, the `in` after it or a pattern, the name of a function, a part of a test.
   */
  private place: "command" | "words" | "name" | "in" | "subject" | "case in" | "pattern" | "function" | "test" =
    "command"
  private isTarget = false
  private lastOperator: { readonly value: string; readonly end: number } | undefined

  constructor(private readonly text: string) {}

  /** True within a test or the head of a loop, where other words are missing. */
  get isWithin(): boolean {
    return !["command", "words", "pattern"].includes(this.place) || this.open.some(({ word }) => word === "()")
  }

  /** Takes a token; returns false where it can't be told any more what is open. */
  take(token: Token): boolean {
    const before = this.lastOperator
    if (token._tag === "HereDocument") return token.closed
    if (token._tag === "Blank" || token._tag === "Comment") return true
    this.lastOperator = undefined
    if (token._tag === "Newline") return this.separator("\n")
    if (token._tag === "Word") {
      if (this.isTarget) {
        this.isTarget = false
        // What follows a redirection is no reserved word: `> file if`.
        if (this.place === "command") this.place = "words"
        return token.closed
      }
      return token.closed && this.word(token.quoted || token.expands ? "" : token.value, token)
    }
    if (this.place === "test") return true
    this.isTarget = isRedirection(token.value)
    if (this.isTarget) return true
    this.lastOperator = token
    if (token.value === "(") return this.parenthesis(token, before)
    if (token.value === ")") return this.end(before)
    return this.separator(token.value)
  }

  private word(word: string, token: Token): boolean {
    if (this.open.at(-1)?.word === "()") return false
    switch (this.place) {
      case "test":
        if (word === "]]") this.place = "words"
        return true
      case "name":
        this.place = "in"
        return true
      case "function":
        this.place = "command"
        return true
      case "subject":
        this.place = "case in"
        return true
      case "case in":
        this.place = "pattern"
        return word === "in"
      case "pattern":
        return word !== "esac" || this.close(word)
      case "in":
        if (word === "in") this.place = "words"
        else if (word === "do") this.place = "command"
        else return false
        return true
      case "words":
        return true
      case "command":
        return this.first(word, token)
    }
  }

  /** Takes the first word of a command. */
  private first(word: string, token: Token): boolean {
    if (word === "coproc") return false
    if (closing.has(word)) return this.close(word)
    if (between.has(word)) return true
    if (word === "[[") this.place = "test"
    else if (word === "function") this.place = "function"
    else if (Object.hasOwn(ends, word)) {
      this.begin(word, token)
      if (word === "for" || word === "select") this.place = "name"
      if (word === "case") this.place = "subject"
    } else this.place = "words"
    return true
  }

  /** Takes a `(`: a subshell's, a pattern's, a function's. Arithmetic is not read: its `<<` is none. */
  private parenthesis(token: Token, before: typeof this.lastOperator): boolean {
    if ((before?.value === "(" && before.end === token.start) || this.place === "name") return false
    if (this.place === "pattern") return true
    this.begin(this.place === "command" ? "(" : "()", token)
    this.place = "command"
    return true
  }

  private end(before: typeof this.lastOperator): boolean {
    if (this.place === "pattern") {
      this.place = "command"
      return true
    }
    const last = this.open.pop()
    this.place = "command"
    // Of a function, nothing is between them.
    return last?.word === "(" || (last?.word === "()" && before?.value === "(")
  }

  private separator(value: string): boolean {
    if (value.startsWith(";") && value !== ";") {
      this.place = "pattern"
      return this.open.at(-1)?.word === "case"
    }
    if (this.place === "words" || this.place === "in") this.place = "command"
    return true
  }

  private begin(word: string, { start }: Token): void {
    const line = this.text.slice(0, start).split("\n").length
    this.open.push({ word, end: ends[word] ?? ")", line })
  }

  private close(word: string): boolean {
    this.place = "command"
    return this.open.pop()?.end === word
  }
}
