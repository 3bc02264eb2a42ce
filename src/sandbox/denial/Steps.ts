/**
 * The simple commands of a text in the order in which bash runs them, up to what makes it unsure whether it does.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import { isRedirection, type Token, type Word } from "../../bash/Token.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Redirection {
  readonly operator: string
  readonly target: Word
}

/**
 * @since 0.1.0
 * @category models
 */
export type Step = Data.TaggedEnum<{
  Command: {
    readonly words: ReadonlyArray<Word>
    readonly redirections: ReadonlyArray<Redirection>
    /** The operators on both sides; empty where the text begins and ends. */
    readonly before: string
    readonly after: string
  }
  /** `(` or `)`: what was changed in between is as it was before. */
  Subshell: { readonly begins: boolean }
}>

/** @since 0.1.0 */
export const Step = Data.taggedEnum<Step>()

/** Words after which no look at the tokens can follow what runs, and how often. */
const unfollowed = new Set(
  "if while until for case select function coproc then do else elif fi done esac [[".split(" ")
)
const transparent = new Set(["!", "{", "}"])

const isOpening = (step: Step | undefined): boolean => step?._tag === "Subshell" && step.begins

/**
 * undefined where the text is no complete command, so that bash runs none of it.
 *
 * @since 0.1.0
 */
export const stepsOf = (tokens: ReadonlyArray<Token>): ReadonlyArray<Step> | undefined => {
  if (tokens.some((token) => token._tag === "Word" && !token.closed)) return undefined
  const walk = new Walk()
  for (const token of tokens) {
    if (walk.stopped) break
    walk.take(token)
  }
  return walk.end()
}

class Walk {
  stopped = false
  private steps: Array<Step> = []
  private words: Array<Word> = []
  private redirections: Array<Redirection> = []
  private before = ""
  private redirection: string | undefined

  take(token: Token): void {
    if (token._tag === "Word") this.word(token)
    else if (token._tag === "Newline") this.separator(";")
    else if (token._tag === "Operator") {
      if (isRedirection(token.value)) this.redirection = token.value
      else this.operator(token.value)
    }
  }

  end(): ReadonlyArray<Step> {
    if (!this.stopped) this.finish("")
    return this.steps
  }

  private word(word: Word): void {
    if (this.redirection !== undefined) {
      this.redirections.push({ operator: this.redirection, target: word })
      this.redirection = undefined
      return
    }
    const written = word.quoted || word.expands ? "" : word.value
    if (this.words.length === 0) {
      if (transparent.has(written)) return
      if (unfollowed.has(written)) {
        this.stopped = true
        return
      }
    }
    this.words.push(word)
  }

  private operator(value: string): void {
    if (value === "(") {
      // A function's definition, or arithmetic.
      if (this.words.length > 0 || isOpening(this.steps.at(-1))) this.stopped = true
      else this.steps.push(Step.Subshell({ begins: true }))
    } else if (value === ")") {
      this.finish(";")
      this.steps.push(Step.Subshell({ begins: false }))
    } else if (value.startsWith(";") && value !== ";") this.stopped = true
    else this.separator(value)
  }

  private separator(operator: string): void {
    const isEmpty = this.words.length === 0 && this.redirections.length === 0
    const isContinued = operator === ";" && isEmpty && /^[|&]{2}$|^\|&?$/.test(this.before)
    if (isContinued) return
    this.finish(operator)
    this.before = operator
  }

  private finish(after: string): void {
    const { before, redirections, words } = this
    if (words.length > 0 || redirections.length > 0) {
      this.steps.push(Step.Command({ words, redirections, before, after }))
    }
    this.words = []
    this.redirections = []
    this.before = ""
  }
}
