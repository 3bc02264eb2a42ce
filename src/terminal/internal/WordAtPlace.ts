/** The word of a command line that is being typed at a place. */
import * as CommandLine from "../../bash/CommandLine.js"
import { beforeCommand } from "../../bash/CommandTree.js"
import { isRedirection, type Token } from "../../bash/Token.js"

/** A word that ends at the place; empty where another one would begin there. */
export interface WordAtPlace {
  /** The index in the text at which it begins. */
  readonly start: number
  /** The word without its quotes, as far as it is typed. */
  readonly value: string
  /** The quote that is open at the place; `$'` for bash's ANSI-C quotes. */
  readonly quote: "" | "'" | '"' | "$'"
  /** True where a part of it is quoted, so that no `~` in it is a home directory. */
  readonly isQuoted: boolean
  /** True where bash expands a part of it, which nothing is found for. */
  readonly expands: boolean
  /** The words of its command before it; none where it names the command itself. */
  readonly before: ReadonlyArray<string>
  /** True where it is the target of a redirection. */
  readonly isTarget: boolean
}

/** Words behind which a command begins. */
const leading = new Set([...beforeCommand, "sudo", "exec", "command"])
const assignment = /^[A-Za-z_]\w*\+?=/

/** Finds the word at the end of a text. */
export const find = (text: string): WordAtPlace => {
  const { tokens } = CommandLine.parse(text)
  const last = tokens.at(-1)
  const word = last?._tag === "Word" ? last : undefined
  const start = word?.start ?? text.length
  const written = text.slice(start)
  const open = openQuote(written)
  const read = open === undefined ? undefined : CommandLine.parse(`${written}${closing(open)}`).tokens
  const [whole] = read ?? []
  const value = whole?._tag === "Word" ? whole.value : written
  const expands = whole?._tag === "Word" && (read?.length !== 1 || !whole.closed || expandsOf(written))
  return {
    start,
    value,
    quote: open ?? "",
    isQuoted: /^["'\\$]/.test(written),
    expands: open === undefined || expands,
    ...commandBefore(word === undefined ? tokens : tokens.slice(0, -1))
  }
}

const closing = (quote: WordAtPlace["quote"]): string => quote.slice(-1)

/** Tests whether a word holds what bash replaces: not a glob, which is a name as long as it is typed. */
const expandsOf = (written: string): boolean => /(?<!\\)(?:\$[^']|`)/.test(written.replace(/'[^']*'?/g, ""))

/** Returns the quote that is open at the end of a word; undefined at the end of a lone backslash. */
const openQuote = (written: string): WordAtPlace["quote"] | undefined => {
  let quote: WordAtPlace["quote"] = ""
  for (let at = 0; at < written.length; at++) {
    const character = written[at] as string
    if (character === "\\" && quote !== "'") {
      if (++at >= written.length) return undefined
    } else if (quote === "") {
      if (character === "'" && written[at - 1] === "$") quote = "$'"
      else if (character === "'" || character === '"') quote = character
    } else if (character === closing(quote)) quote = ""
  }
  return quote
}

/** Returns the words of the last command in these tokens. */
const commandBefore = (tokens: ReadonlyArray<Token>): Pick<WordAtPlace, "before" | "isTarget"> => {
  let before: Array<string> = []
  let isTarget = false
  for (const token of tokens) {
    if (token._tag === "Newline") before = []
    if (token._tag === "Operator") {
      isTarget = isRedirection(token.value)
      if (!isTarget) before = []
    }
    if (token._tag !== "Word") continue
    const isFirst = before.length === 0
    if (isTarget) isTarget = false
    else if (!isFirst || !(leading.has(token.value) || assignment.test(token.value))) before.push(token.value)
  }
  return { before, isTarget }
}
