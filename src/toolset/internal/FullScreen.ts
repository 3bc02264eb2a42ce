/**
 * Finds calls of programs that take the whole screen of a terminal, and would wait for its keys until their timeout.
 */
import * as Quote from "../../bash/Quote.js"
import type { Word } from "../../bash/Token.js"
import * as LastCommand from "./LastCommand.js"

/** A call that can't work without a terminal. */
export interface FullScreen {
  readonly reason: string
  /** The command that does nearly the same; undefined where there is none. */
  readonly instead: string | undefined
}

const editors = new Set("vim vi nvim view vimdiff nano pico emacs micro joe mcedit".split(" "))
const monitors = new Set("htop btop atop mc ranger nnn tig lazygit".split(" "))

/** Match the options of editors that only say how a file is shown, and where: with most others, they do without a terminal. */
const ofVi = /^(?:-[MRZbdn]|-[Oop]\d*|--noplugin|\+(?:\d*|\/.*))$/
const viewing: Readonly<Record<string, RegExp>> = {
  emacs: /^(?:-nw|-q|-Q|--no-window-system|--quick|\+\d+(?::\d+)?)$/,
  nano: /^(?:-[BELRSTilvw]|\+\d+(?:,\d+)?)$/,
  nvim: ofVi,
  vi: ofVi,
  view: ofVi,
  vim: ofVi,
  vimdiff: ofVi
}

/** Matches the options with which a monitor says what it is, and ends. */
const asking = /^(?:-h|-v|-V|--help|--version)$/

/**
 * Returns what is wrong with a call of such a program as the last command of a text; undefined where it has options by
 * which it can be used without a terminal (`vim -es`), or where anything of the text is redirected or piped.
 */
export const find = (text: string): FullScreen | undefined => {
  if (
    text.length > LastCommand.longestRead ||
    !/\b(?:vim?|nvim|view|vimdiff|nano|pico|emacs|micro|joe|mcedit|htop|btop|atop|mc|ranger|nnn|tig|lazygit|watch)\b/.test(
      text
    )
  ) {
    return undefined
  }
  const [program, ...operands] = LastCommand.words(text)
  if (program === undefined || program.quoted) return undefined
  const found = ofCall(program.value, operands, text)
  // What stands before it may lead to another directory.
  const before = text.slice(0, program.start).trimStart()
  return found?.instead === undefined ? found : { ...found, instead: `${before}${found.instead}` }
}

const ofCall = (name: string, operands: ReadonlyArray<Word>, text: string): FullScreen | undefined => {
  if (name === "watch") return ofWatch(operands, text)
  const reason = `${name} needs a terminal, and there is none`
  const options = operands.filter(({ value }) => /^[-+]/.test(value))
  if (/^[hb]top$/.test(name)) {
    const isAsking = operands.some(({ value }) => asking.test(value))
    return isAsking || operands.length > options.length * 2 ? undefined : { reason, instead: "top -bn1" }
  }
  if (monitors.has(name) && operands.length === 0)
    return { reason, instead: name.endsWith("top") ? "top -bn1" : undefined }
  if (!editors.has(name) || !options.every(({ value }) => viewing[name]?.test(value))) return undefined
  const files = operands.filter((operand) => !options.includes(operand))
  const [file] = files
  const isPlain = file !== undefined && files.length === 1 && file.closed && !file.expands
  return {
    reason: `${reason}: read shows a file; edit <file> <old> <new>, or write <file> <content>, changes it`,
    instead: isPlain ? `read ${shownFrom(file.value, options)}` : undefined
  }
}

/** Writes the file as `read` takes it, from the line on that an option names. */
const shownFrom = (file: string, options: ReadonlyArray<Word>): string => {
  const line = options.map(({ value }) => /^\+0*([1-9]\d*)/.exec(value)?.[1]).find((found) => found !== undefined)
  return line === undefined || line === "1"
    ? `${/^\w+$/.test(file) ? "./" : ""}${Quote.word(file)}`
    : Quote.word(`${file}:${line}-`)
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
