/** Finds the pipeline of a command text that `PIPESTATUS` tells of: the one that ran last in the shell itself. */

import { unwrapped } from "./internal/Wrapper.js"
import { isRedirection, type Token, type Word } from "./Token.js"

/** A part of a pipeline: its program, undefined where it has none, as `(…)`, and what runs that, as `timeout`. */
export interface Part {
  readonly program: string | undefined
  readonly wrappers: ReadonlyArray<string>
}

type Pipeline = ReadonlyArray<Part>

/** A command of a list: the pipeline that it is, or those within it. */
interface Element {
  readonly pipelines: ReadonlyArray<Pipeline>
  readonly isCompound: boolean
}

interface List {
  readonly elements: ReadonlyArray<Element>
  /** True where a part of it may not have run though it succeeded (`||`). */
  readonly hasOr: boolean
}

const opening = new Set(["if", "for", "while", "until", "select", "{"])
const closing = new Set(["fi", "done", "}"])
const between = new Set(["then", "do", "else", "elif", "!"])
/** Reserved words after which the tokens alone do not tell. */
const unreadable = new Set(["case", "function", "coproc"])
/** Commands after which the rest of a text may not run. */
const leaving = new Set(["exit", "return", "exec", "set", "trap"])

/** The commands between two brackets, or of the whole text. */
class Frame {
  readonly lists: Array<List> = []
  words: Array<Word> = []
  isCompound = false
  isDefinition = false
  /** The pipelines within the compound command that has just ended. */
  within: ReadonlyArray<Pipeline> = []
  private parts: Array<Part> = []
  private elements: Array<Element> = []
  private hasOr = false

  constructor(readonly isSubshell: boolean) {}

  get all(): ReadonlyArray<Pipeline> {
    return this.lists.flatMap(({ elements }) => elements.flatMap(({ pipelines }) => pipelines))
  }

  endPart(): void {
    this.parts.push(this.part())
    this.begin()
  }

  /** Ends a command; returns the pipelines of a function that it defines. */
  endCommand(): ReadonlyArray<Pipeline> {
    const { isCompound, isDefinition, parts, within } = this
    const isCommand = isCompound || this.words.length > 0 || parts.length > 0
    if (isCommand && !isDefinition) {
      const pipelines = parts.length > 0 ? [[...parts, this.part()]] : within
      this.elements.push({ pipelines, isCompound: isCompound && parts.length === 0 })
    }
    this.parts = []
    this.begin()
    return isDefinition ? within : []
  }

  or(): void {
    this.hasOr = true
  }

  /** Ends a list; what runs in the background is no pipeline of the shell's own. */
  endList(inBackground: boolean): void {
    const { elements, hasOr } = this
    if (elements.length > 0)
      this.lists.push(inBackground ? { elements: [{ pipelines: [], isCompound: false }], hasOr } : { elements, hasOr })
    this.elements = []
    this.hasOr = false
  }

  private part(): Part {
    if (this.isCompound) return { program: undefined, wrappers: [] }
    const words = unwrapped(this.words)
    const before = this.words.slice(0, this.words.length - (words?.length ?? 0))
    return { program: words?.[0]?.value, wrappers: before.map(({ value }) => value) }
  }

  private begin(): void {
    this.words = []
    this.isCompound = this.isDefinition = false
    this.within = []
  }
}

class PipelineReader {
  lost = false
  /** True where the text may have ended before its end. */
  mayLeave = false
  readonly defined: Array<Pipeline> = []
  readonly top = new Frame(false)
  private readonly open: Array<Frame> = [this.top]
  private frame = this.top
  private atCommand = true
  private isTarget = false
  private inTest = false

  take(token: Token): void {
    if (token._tag === "Word") return this.word(token)
    if (token._tag === "Newline" && (this.frame.words.length > 0 || this.frame.isCompound)) return this.operator(";")
    if (token._tag === "Operator") return this.operator(token.value)
  }

  end(): boolean {
    this.endList(false)
    return !this.lost && !this.inTest && this.open.length === 1
  }

  private word(word: Word): void {
    if (!word.closed) this.lost = true
    const written = word.quoted ? "" : word.value
    if (this.inTest) this.inTest = written !== "]]"
    else if (this.isTarget) this.isTarget = false
    else if (!this.atCommand) this.frame.words.push(word)
    else this.first(word, written)
  }

  private first(word: Word, written: string): void {
    const isWithin = this.open.some(({ isDefinition }) => isDefinition)
    if (unreadable.has(written)) this.lost = true
    if (leaving.has(written) && (written !== "return" || !isWithin)) this.mayLeave = true
    if (closing.has(written)) return this.close(false)
    if (opening.has(written)) {
      this.push(false)
      this.atCommand = written !== "for" && written !== "select"
    } else if (between.has(written)) {
      this.endList(false)
    } else if (written === "[[") {
      this.inTest = this.frame.isCompound = true
      this.atCommand = false
    } else {
      this.frame.words.push(word)
      this.atCommand = false
    }
  }

  private operator(value: string): void {
    if (this.inTest) return
    if (isRedirection(value)) {
      this.isTarget = true
      return
    }
    if (value === "(") return this.bracket()
    if (value === ")") return this.close(true)
    if (value.startsWith(";;") || value === ";&") this.lost = true
    if (value === "|" || value === "|&") this.frame.endPart()
    else if (value === "&&" || value === "||") {
      this.endCommand()
      if (value === "||") this.frame.or()
    } else this.endList(value === "&")
    this.atCommand = true
  }

  private bracket(): void {
    const { frame } = this
    if (frame.words.length > 1 || (frame.isCompound && frame.words.length > 0)) this.lost = true
    if (frame.words.length === 1) {
      frame.isDefinition = true
      frame.words = []
      this.awaitsBody = true
      return
    }
    this.push(true)
    this.atCommand = true
  }

  /** True behind the opening bracket of a definition, which nothing but the closing one can follow. */
  private awaitsBody = false

  private push(isSubshell: boolean): void {
    this.frame = new Frame(isSubshell)
    this.open.push(this.frame)
  }

  private close(isBracket: boolean): void {
    if (isBracket && this.awaitsBody) {
      this.awaitsBody = false
      this.atCommand = true
      return
    }
    this.endList(false)
    const closed = this.open.pop()
    const above = this.open.at(-1)
    if (closed === undefined || above === undefined || closed.isSubshell !== isBracket) {
      this.lost = true
      this.open.splice(0, this.open.length, this.top)
      this.frame = this.top
      return
    }
    this.frame = above
    above.isCompound = true
    above.within = isBracket ? [] : closed.all
    this.atCommand = false
  }

  private endCommand(): void {
    this.defined.push(...this.frame.endCommand())
  }

  private endList(inBackground: boolean): void {
    this.endCommand()
    this.frame.endList(inBackground)
  }
}

/**
 * Returns the parts of the pipeline that ran last, where the exit codes of its parts are these; undefined where the text does
 * not tell for sure which one it was.
 *
 * @param exitCode the exit code of the whole text
 */
export const last = (
  tokens: ReadonlyArray<Token>,
  statuses: ReadonlyArray<number>,
  exitCode: number
): Pipeline | undefined => {
  const reader = new PipelineReader()
  for (const token of tokens) {
    reader.take(token)
    if (reader.lost) return undefined
  }
  if (!reader.end()) return undefined
  const found = new Map(
    candidates(reader, exitCode)
      .filter(({ length }) => length === statuses.length)
      .map((pipeline) => [JSON.stringify(pipeline), pipeline])
  )
  const [pipeline, ...others] = found.values()
  return others.length > 0 ? undefined : pipeline
}

/** Returns the pipelines that may have run last. */
const candidates = ({ defined, mayLeave, top }: PipelineReader, exitCode: number): ReadonlyArray<Pipeline> => {
  if (mayLeave) return [...top.all, ...defined]
  const { elements = [], hasOr = false } = top.lists.at(-1) ?? {}
  const end = elements.at(-1)
  // A loop may run nothing.
  if (elements.some(({ isCompound }) => isCompound)) return top.all
  return exitCode === 0 && !hasOr ? (end?.pipelines ?? []) : elements.flatMap(({ pipelines }) => pipelines)
}
