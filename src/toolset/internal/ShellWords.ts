/** Writes what other tools take apart, as a command line: words, a directory, a group. */
import * as CommandLine from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import * as PatchText from "./PatchText.js"

/** Matches what no command line can hold. */
const unwritable = /[\0\p{Cs}]/u

/**
 * Returns the command line of a text, or of a program and its arguments; for `["bash", "-lc", "ls"]`, it is `ls`.
 * Undefined where it is neither.
 */
export const toCommand = (given: unknown): string | undefined => {
  if (typeof given === "string")
    return given.trim() === "" || unwritable.test(given) ? undefined : PatchText.renamed(given)
  if (!Array.isArray(given) || given.length === 0 || !given.every((word) => typeof word === "string")) return undefined
  const words: ReadonlyArray<string> = given
  if (/^apply_?patch$/.test(words[0] ?? "") && words.length === 2) {
    const found = PatchText.find(words[1] ?? "")
    if (found?.isWhole === true && !unwritable.test(found.patch)) return PatchText.toCommand(found.patch)
  }
  const [program = "", option = "", script] = words
  const isScript = /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh)$/.test(program) && /^-l?c$/.test(option)
  if (isScript && words.length === 3) return toCommand(script)
  return words.some((word) => unwritable.test(word)) ? undefined : words.map(Quote.word).join(" ")
}

/** Writes a command that runs in a directory, and leaves the shell where it is. */
export const inDirectory = (directory: string, command: string): string => {
  const cd = `cd ${directory.startsWith("-") ? "-- " : ""}${Quote.word(directory)} &&`
  return isOneLine(command) ? `(${cd} ${command})` : `(${cd} {\n${command}\n})`
}

/** Writes a command as a group, which can be redirected as a whole. */
export const group = (command: string): string => `{\n${command}\n}`

/** Tests whether `cd x && command` runs all of a command, or nothing. */
const isOneLine = (command: string): boolean =>
  CommandLine.parse(command).tokens.every(
    (token) =>
      token._tag === "Word" ||
      token._tag === "Blank" ||
      (token._tag === "Operator" && (/^(?:\|&?|&&)$/.test(token.value) || /^\d*(?:>>?|<|>&|<&)$/.test(token.value)))
  )
