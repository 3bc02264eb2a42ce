/**
 * Finds the `then` or `do` that bash took for a word of the command before it, and the `for` that has none.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import { isRedirection } from "../bash/Token.js"

/** The words that begin a part of a compound command, and the word that the part needs. */
const needed: Readonly<Record<string, string>> = { elif: "then", for: "do", if: "then", until: "do", while: "do" }
/** The words behind which a command begins. */
const leading = new Set(["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"])

interface Open {
  readonly word: string
  readonly needs: string
  readonly line: number
  /** True where the needed word stands among the words of a command. */
  isSwallowed: boolean
}

/**
 * Returns what is wrong with a text of which bash said that its syntax is; undefined where that is not certain.
 *
 * @since 0.1.0
 */
export const find = (text: string, stderr: string): string | undefined => {
  const near =
    /^bash: (?:-c: )?line \d+: syntax error(?:: unexpected end of file| near unexpected token [`']([^\n]*)')$/m.exec(
      stderr
    )
  if (near === null) return undefined
  const open: Array<Open> = []
  let isFirst = true
  let isTarget = false
  for (const token of CommandLine.parse(text).tokens) {
    if (token._tag === "HereDocument" || token._tag === "Comment" || token._tag === "Blank") continue
    if (token._tag === "Newline" || token._tag === "Operator") {
      isTarget = token._tag === "Operator" && isRedirection(token.value)
      isFirst = !isTarget
      continue
    }
    const word = token.quoted ? "" : token.value
    const last = open.at(-1)
    if (isTarget) isTarget = false
    else if (isFirst && word === last?.needs) open.pop()
    else if (isFirst && last?.word === "for" && !last.isSwallowed) {
      return near[1] === word ? `the for on line ${last.line} has no do` : undefined
    } else if (isFirst && /^(?:fi|done|else)$/.test(word) && last?.isSwallowed === true) break
    else if (isFirst && Object.hasOwn(needed, word)) {
      const line = text.slice(0, token.start).split("\n").length
      open.push({ word, needs: needed[word] as string, line, isSwallowed: false })
    } else if (word === last?.needs) {
      // `for x do` is right.
      if (last.word === "for" && /\bfor\s+\w+\s+$/.test(text.slice(0, token.start))) open.pop()
      else last.isSwallowed = true
    }
    isFirst = isFirst && leading.has(word)
  }
  const swallowed = open.find(({ isSwallowed }) => isSwallowed)
  return swallowed === undefined
    ? undefined
    : `put ; before the ${swallowed.needs} of the ${swallowed.word} on line ${swallowed.line}`
}
