/** Parses tokens into a tree: lists of pipelines of commands, which may contain lists again. */
import { isAssignment, isRedirection, type Token, type Word } from "./Token.js"

export interface Redirection {
  readonly operator: string
  readonly target: Word
}

/** A simple command, or a compound one with its lists. */
export class Command {
  /** The `NAME=value` words before its name. */
  readonly assignments: Array<Word> = []
  /** Its name and the words after it. Of a compound command: a test's words, the items of a `for`, a `case`'s subject. */
  readonly words: Array<Word> = []
  readonly redirections: Array<Redirection> = []
  readonly lists: Array<List> = []
  /** The index after its last token. */
  end = 0

  constructor(
    /** What begins a compound command: a reserved word or bracket such as `if`, `{`, `(`, `((`, `[[`. */
    readonly keyword: string | undefined,
    /** True for the body of a function. */
    readonly isFunction: boolean
  ) {}
}

/** Commands joined by `|`. */
export interface Pipeline {
  /** The operator before it in its list: `&&`, `||` or an empty string. */
  readonly before: string
  /** True after `!`. */
  readonly isNegated: boolean
  readonly commands: Array<Command>
}

/** Pipelines joined by `&&` and `||`. */
export interface List {
  readonly pipelines: ReadonlyArray<Pipeline>
  readonly isBackground: boolean
}

export interface CommandTree {
  /** The text's lists, up to where bash would reject the text. */
  readonly lists: ReadonlyArray<List>
  /** The compound commands still open at the end (`if`, `{`), the innermost last. */
  readonly open: ReadonlyArray<string>
  /** The first token that bash would reject, or after which the parser is unsure. */
  readonly unexpected: Token | undefined
  /** True if the text may end where it does, apart from open compound commands. */
  readonly isAtRest: boolean
}

/** Tests whether the whole text was parsed and nothing is open at its end. */
export const isComplete = ({ isAtRest, open }: CommandTree): boolean => isAtRest && open.length === 0

/** The words that begin a compound command, with the word that ends it and the word that its head needs. */
const compounds: Readonly<Record<string, readonly [end: string, needs?: string]>> = {
  if: ["fi", "then"],
  for: ["done", "do"],
  select: ["done", "do"],
  while: ["done", "do"],
  until: ["done", "do"],
  case: ["esac"],
  "{": ["}"],
  "(": [")"]
}
const closing = new Set(Object.values(compounds).map(([end]) => end))

/** The reserved words after which a command begins. */
export const beforeCommand: ReadonlySet<string> = new Set("then do else elif if while until ! { time".split(" "))

/** The words that bash reserves for its grammar. */
export const reserved: ReadonlySet<string> = new Set([
  ...Object.keys(compounds),
  ...closing,
  ...beforeCommand,
  ...["in", "function", "coproc", "[["]
])

/** How deep compound commands are parsed. Nobody nests deeper, and recursion must end. */
const maximalDepth = 100

/** Parses tokens. Accepts every text; the tree tells how far the parser is certain. */
export const read = (text: string, tokens: ReadonlyArray<Token>): CommandTree => {
  const reader = new Reader(text)
  const unexpected = tokens.find((token) => !reader.take(token))
  return reader.tree(unexpected)
}

/** Yields all commands, nested ones included, in the order of the text. */
export function* commandsIn(lists: ReadonlyArray<List>): Generator<Command> {
  for (const { pipelines } of lists) {
    for (const { commands } of pipelines) {
      for (const command of commands) {
        yield command
        yield* commandsIn(command.lists)
      }
    }
  }
}

/** The lists between two brackets, or of the whole text. */
interface Frame {
  readonly word: string
  readonly end: string
  needs: string | undefined
  readonly owner: Command
  pipelines: Array<Pipeline>
  pipeline: Pipeline | undefined
  command: Command | undefined
  operator: string
  isNegated: boolean
}

const frameOf = (word: string, owner: Command): Frame => ({
  word,
  end: compounds[word]?.[0] ?? "",
  needs: compounds[word]?.[1],
  owner,
  pipelines: [],
  pipeline: undefined,
  command: undefined,
  operator: "",
  isNegated: false
})

/** What the next word is. `end`: after a compound command; `parameters`: between a function's parentheses. */
type Place =
  | "command"
  | "words"
  | "end"
  | "variable"
  | "in"
  | "items"
  | "subject"
  | "case in"
  | "pattern"
  | "function"
  | "parameters"
  | "test"

class Reader {
  private place: Place = "command"
  private readonly stack: Array<Frame> = [frameOf("", new Command(undefined, false))]
  private redirection: string | undefined
  /** The number of here-documents whose lines are still to come. */
  private documents = 0
  private isFunction = false
  private isUnclosed = false

  constructor(private readonly text: string) {}

  tree(unexpected: Token | undefined): CommandTree {
    const [top, ...open] = this.stack as [Frame, ...Array<Frame>]
    const { command, operator, pipeline } = this.frame
    const isAwaited = command === undefined && (operator !== "" || pipeline !== undefined)
    const isWithin = isAwaited || this.isFunction || !["command", "words", "end", "pattern"].includes(this.place)
    const isDocumentOpen = this.isUnclosed || this.documents > 0 || this.redirection !== undefined
    if (unexpected === undefined) for (const each of this.stack) endList(each, false)
    return {
      lists: top.owner.lists,
      open: open.map(({ word }) => word),
      unexpected,
      isAtRest: unexpected === undefined && !isWithin && !isDocumentOpen
    }
  }

  /** Takes a token. Returns false if it can't stand there. */
  take(token: Token): boolean {
    switch (token._tag) {
      case "Blank":
      case "Comment":
        return true
      case "HereDocument":
        // The scanner also reads one after a `<<` within `[[ … ]]`.
        if (this.documents > 0) this.documents--
        this.isUnclosed ||= !token.closed
        return true
      case "Newline":
        return this.redirection === undefined && this.separator("\n")
      case "Operator":
        return this.redirection === undefined && this.operator(token)
      case "Word":
        if (!token.closed) return false
        return this.redirection === undefined ? this.word(token) : this.target(token, this.redirection)
    }
  }

  private get frame(): Frame {
    return this.stack[this.stack.length - 1] as Frame
  }

  /** Returns the command that the next words and redirections belong to. */
  private command(): Command {
    const { frame } = this
    frame.command ??= new Command(undefined, false)
    return frame.command
  }

  private target(target: Word, operator: string): boolean {
    this.redirection = undefined
    const command = this.command()
    command.redirections.push({ operator, target })
    command.end = target.end
    if (/<<-?$/.test(operator)) this.documents++
    // A word after a redirection is never reserved: `> file if`.
    if (this.place === "command") this.place = "words"
    return true
  }

  private word(token: Word): boolean {
    const word = token.quoted || token.expands ? "" : token.value
    switch (this.place) {
      case "test":
        // bash takes a `]]` right after `[[` as the test's first word.
        if (word === "]]" && this.command().words.length > 0) this.place = "end"
        return this.add(token)
      case "variable":
        this.place = "in"
        return true
      case "in":
        if (word !== "in") return this.first(token, word)
        this.place = "items"
        return true
      case "items":
        this.frame.owner.words.push(token)
        return true
      case "subject":
        this.frame.owner.words.push(token)
        this.place = "case in"
        return true
      case "case in":
        this.place = "pattern"
        return word === "in"
      case "pattern":
        return word !== "esac" || this.close(word, token)
      case "function":
        this.isFunction = true
        this.place = "command"
        return true
      case "words":
        return this.add(token)
      case "parameters":
        return false
      case "command":
      case "end":
        return this.first(token, word)
    }
  }

  private first(token: Word, word: string): boolean {
    const { frame: open } = this
    if (word === "then" || word === "do") {
      if (open.needs !== word) return false
      open.needs = undefined
      return this.next()
    }
    if (word === "else" || word === "elif") {
      if (open.word !== "if" || open.needs !== undefined) return false
      if (word === "elif") open.needs = "then"
      return this.next()
    }
    if (closing.has(word)) return this.close(word, token)
    const isHead = open.needs === "do" && (open.word === "for" || open.word === "select")
    if (this.place === "end" || isHead || word === "coproc") return false
    if (word === "!") {
      this.frame.isNegated = true
      return true
    }
    if (word === "function") {
      this.place = "function"
      return true
    }
    if (Object.hasOwn(compounds, word)) return this.begin(word)
    const isArithmetic = this.text.startsWith("((", token.start)
    if (word === "[[" || isArithmetic) {
      this.compound(isArithmetic ? "((" : word).end = token.end
      this.place = isArithmetic ? "end" : "test"
      return true
    }
    // `time` is no command's name, since a compound command may follow it.
    if (word !== "time") this.place = "words"
    return this.add(token)
  }

  private add(token: Word): boolean {
    const command = this.command()
    const isBeforeName = command.keyword === undefined && command.words.length === 0 && isAssignment(this.text, token)
    ;(isBeforeName ? command.assignments : command.words).push(token)
    command.end = token.end
    return !this.isFunction
  }

  private operator(token: Token & { readonly value: string }): boolean {
    const { place } = this
    const { value } = token
    if (place === "test") return true
    if (isRedirection(value)) {
      this.redirection = value
      return place === "command" || place === "words" || place === "end"
    }
    if (value === "(") return this.parenthesis()
    if (value !== ")") return this.separator(value)
    if (place !== "parameters" && place !== "pattern") return this.close(value, token)
    this.place = "command"
    return true
  }

  /** Takes a `(` of a subshell, a pattern or a function. */
  private parenthesis(): boolean {
    if (this.place === "pattern") return true
    const { assignments = [], redirections = [], words = [] } = this.frame.command ?? {}
    const isAlone = words.length === 1 && assignments.length + redirections.length === 0
    const isParameters = this.place === "words" && isAlone
    if (isParameters || (this.place === "command" && this.isFunction)) {
      this.frame.command = undefined
      this.isFunction = true
      this.place = "parameters"
      return true
    }
    return this.place === "command" && !this.isFunction && this.begin("(")
  }

  private separator(value: string): boolean {
    const { frame, place } = this
    if (place === "in" || place === "items") {
      this.place = "command"
      return value === "\n" || value === ";"
    }
    if (place === "pattern") return value === "\n" || value === "|"
    if (place !== "command" && place !== "words" && place !== "end") return value === "\n"
    if (frame.command === undefined) return value === "\n" || (value.startsWith(";;") && this.endItem())
    if (value === "|" || value === "|&") endCommand(frame)
    else if (value === "&&" || value === "||") endPipeline(frame, value)
    else if (value !== ";" && value !== "&" && value !== "\n") return this.endItem()
    else endList(frame, value === "&")
    this.place = "command"
    return true
  }

  private endItem(): boolean {
    this.next()
    this.place = "pattern"
    return this.frame.word === "case"
  }

  /** Starts the next part of a compound command. */
  private next(): boolean {
    endList(this.frame, false)
    this.place = "command"
    return true
  }

  private compound(word: string): Command {
    const command = new Command(word, this.isFunction)
    this.isFunction = false
    this.frame.command = command
    return command
  }

  private begin(word: string): boolean {
    this.stack.push(frameOf(word, this.compound(word)))
    this.place = word === "for" || word === "select" ? "variable" : word === "case" ? "subject" : "command"
    return this.stack.length <= maximalDepth
  }

  private close(word: string, { end }: Token): boolean {
    const { frame: open } = this
    if (open.end !== word || open.needs !== undefined || this.isFunction) return false
    endList(this.frame, false)
    this.stack.pop()
    this.command().end = end
    this.place = "end"
    return true
  }
}

const endCommand = (frame: Frame): void => {
  const { command } = frame
  if (command === undefined) return
  frame.pipeline ??= { before: frame.operator, isNegated: frame.isNegated, commands: [] }
  frame.pipeline.commands.push(command)
  frame.command = undefined
}

const endPipeline = (frame: Frame, operator: string): void => {
  endCommand(frame)
  if (frame.pipeline !== undefined) frame.pipelines.push(frame.pipeline)
  frame.pipeline = undefined
  frame.operator = operator
  frame.isNegated = false
}

const endList = (frame: Frame, isBackground: boolean): void => {
  endPipeline(frame, "")
  if (frame.pipelines.length > 0) frame.owner.lists.push({ pipelines: frame.pipelines, isBackground })
  frame.pipelines = []
}
