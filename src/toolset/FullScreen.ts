/**
 * Finds calls of programs that take the whole screen of a terminal, and would wait for its keys until their timeout.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as Quote from "../bash/Quote.js"
import type { Word } from "../bash/Token.js"

/**
 * A call that can't work without a terminal.
 *
 * @since 0.1.0
 * @category models
 */
export interface FullScreen {
  readonly reason: string
  /** The command that does nearly the same; undefined where there is none. */
  readonly instead: string | undefined
}

const editors = new Set("vim vi nvim view vimdiff nano pico emacs micro joe mcedit".split(" "))
const monitors = new Set("htop btop atop mc ranger nnn tig lazygit".split(" "))

/** The most characters of a text whose last command is looked at; of longer ones, the parser leaves the end to bash. */
const longestRead = 100_000

/**
 * Returns what is wrong with a call of such a program as the last command of a text; undefined where it has options, by
 * which most can be used without a terminal (`vim -es`), or where anything of the text is redirected or piped.
 *
 * @since 0.1.0
 */
export const find = (text: string): FullScreen | undefined => {
  if (
    text.length > longestRead ||
    !/\b(?:vim?|nvim|view|vimdiff|nano|pico|emacs|micro|joe|mcedit|htop|btop|atop|mc|ranger|nnn|tig|lazygit|watch)\b/.test(
      text
    )
  ) {
    return undefined
  }
  const words = lastCommand(text)
  const [program, ...operands] = words
  if (program === undefined || program.quoted) return undefined
  const { value: name } = program
  if (name === "watch") return ofWatch(operands, text)
  if (operands.some(({ value }) => /^[-+]/.test(value))) return undefined
  const reason = `${name} needs a terminal, and there is none`
  if (monitors.has(name) && operands.length === 0)
    return { reason, instead: name.endsWith("top") ? "top -bn1" : undefined }
  if (!editors.has(name)) return undefined
  const [file] = operands
  const isPlain = file !== undefined && operands.length === 1 && file.closed && !file.expands
  return {
    reason: `${reason}: read shows a file; edit <file> <old> <new>, or write <file> <content>, changes it`,
    instead: isPlain ? `read ${/^\w+$/.test(file.value) ? "./" : ""}${Quote.word(file.value)}` : undefined
  }
}

/** `watch` goes on for ever, unless an option ends it. */
const ofWatch = (words: ReadonlyArray<Word>, text: string): FullScreen | undefined => {
  if (words.length === 0 || words.some(({ value }) => /^(?:-\w*[ghveq]\w*|--(?!interval).*)$/.test(value)))
    return undefined
  let at = 0
  while (/^-/.test(words[at]?.value ?? "")) at += /^(?:-\w*n|--interval)$/.test(words[at]?.value ?? "") ? 2 : 1
  const [first, ...more] = words.slice(at)
  const isScript = first?.quoted === true && first.closed && !first.expands && more.length === 0
  return {
    reason: "watch does not end, and needs a terminal",
    instead: first === undefined ? undefined : isScript ? first.value : text.slice(first.start, words.at(-1)?.end)
  }
}

/** Returns the words of the last command of a text; none where it is not plainly called. */
const lastCommand = (text: string): ReadonlyArray<Word> => {
  const tokens = CommandLine.parse(text).tokens.filter(({ _tag }) => _tag !== "Blank" && _tag !== "Comment")
  const last = tokens.findLastIndex(({ _tag }) => _tag !== "Newline")
  let words: Array<Word> = []
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "HereDocument") return []
    if (token._tag === "Word") words.push(token)
    if (token._tag !== "Operator" && token._tag !== "Newline") continue
    const isEnd = token._tag === "Newline" || token.value === ";"
    if (!isEnd && token._tag === "Operator" && token.value !== "&&") return []
    if (at < last) words = []
  }
  return words
}
