/** Answers calls of `edit` in the forms of other editors with the right call, made of the values that were given. */
import { quote } from "../../../bash/Quote.js"
import * as FileFailure from "../../../files/FileFailure.js"

/** The most characters of values that are repeated. */
const most = 1000

/** The right call, in lines, and what was wrong with the one that was given. */
export interface Right {
  readonly reason: string
  readonly example: readonly [line: string, ...more: ReadonlyArray<string>]
}

const patchStart = /^\s*(?:\*\*\* Begin Patch[ \t]*\r?\n|(?:diff --git |--- )[^\n]*\n)/

/** Tests whether a word is a patch, and not the name of a file. */
export const isPatch = (word: string): boolean => patchStart.test(word)

const option = /^--(old|new|file|path)(?:[_-](?:str|string|text|path))?(?:=([\s\S]*))?$/

/** Answers `edit --old X --new Y f`; undefined for words without such options. */
export const ofOptions = (args: ReadonlyArray<string>): Right | undefined => {
  const given = new Map<string, string>()
  const others: Array<string> = []
  let isAll = false
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--" || /^(?:-p|--patch)$/.test(word)) return undefined
    const [, name, equals] = option.exec(word) ?? []
    if (name !== undefined) given.set(name === "path" ? "file" : name, equals ?? args[++at] ?? "")
    else if (/^--(?:replace[_-])?all$/.test(word)) isAll = true
    else others.push(word)
  }
  if (!given.has("old") && !given.has("new")) return undefined
  const next = (name: string) => given.get(name) ?? others.shift()
  return {
    reason: "the file, the old and the new text are words, in this order, not options.",
    example: call(next("file"), next("old"), next("new"), isAll)
  }
}

const call = (
  file: string | undefined,
  old: string | undefined,
  replacement: string | undefined,
  isAll: boolean
): Right["example"] => {
  const words = [old ?? "<old>", replacement ?? "<new>"]
  const isShown = words.join("").length <= most && !/[^\P{Cc}\n\t]|\p{Cs}/u.test(words.join(""))
  const [first, second] = isShown ? words.map(quote) : ["'<old>'", "'<new>'"]
  const name = file === undefined ? "<file>" : FileFailure.toWord(file)
  const dashes = isShown && words.some((word) => word.startsWith("-")) ? "-- " : ""
  const text = `edit ${isAll ? "--all " : ""}${dashes}${name} ${first} ${second}`
  return text.split("\n") as [string, ...Array<string>]
}

/** Answers `edit --patch fix.diff`. */
export const ofPatchFile = (file: string): Right => ({
  reason: "--patch takes the patch from standard input, and no file.",
  example: [`edit --patch < ${FileFailure.toWord(file)}`]
})
