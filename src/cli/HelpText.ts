/**
 * Lays out the help that `@effect/cli` writes for a page of 80 columns: one line for each command, and for each option
 * what it does, without the sentences that say the same of all of them.
 */
import * as WordWrap from "../terminal/Columns.js"

const columns = 80

/** Sentences of the library about kinds of values and repetitions, which the usage shows already. */
const needless =
  /^(A user-defined piece of text|A true or false value|An integer|A floating point number|An existing (file|directory)|A (file|directory)|This (setting is optional|(option|argument) may be repeated .*)|One of the following: .*)\.?$/

/** Options of the library that are of no use to who asks for help. */
const hidden = /^--(wizard|log-level)\b/

/** Options that belong to the program itself. */
const ofProgram = /^--(completions|version)\b/

interface Entry {
  readonly name: string
  readonly text: string
}

const indent = (text: string, by: number): string => WordWrap.wrap(text, columns - by).replaceAll(/^/gm, " ".repeat(by))

/** Returns the lines of the list of commands, with their descriptions below one another. */
const listOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const width = Math.max(...entries.map(({ name }) => name.length)) + 2
  return entries.map(({ name, text }) => {
    const [first = "", ...further] = indent(text, width + 2).split("\n")
    return [`  ${name.padEnd(width)}${first.trimStart()}`, ...further].join("\n")
  })
}

/** Reads an entry such as `- mcp add [--url address] <name>    Add a server.`; undefined for one without a description. */
const entryOf = (line: string): Entry | undefined => {
  const [, usage = "", text = ""] = /^- (.*?) {2,}(.*)$/.exec(line) ?? []
  const [name = ""] = /^[a-z]+( [a-z]+)*/.exec(usage) ?? []
  return text === "" ? undefined : { name, text }
}

/** Lays out a text of help; `isRoot` is true for that of the program itself. */
export const layOut = (text: string, isRoot: boolean): string => {
  const blocks = text.replaceAll(/\x1b\[[0-9;]*m/g, "").split(/\n{2,}/)
  const lines: Array<string> = []
  const entries: Array<Entry> = []
  let section = ""
  let isHidden = false
  for (const block of blocks) {
    const trimmed = block.trim()
    if (/^[A-Z]+$/.test(trimmed)) {
      section = trimmed
      lines.push("", section)
    } else if (section === "COMMANDS") {
      entries.push(...[entryOf(trimmed) ?? []].flat())
    } else if (section === "OPTIONS" || section === "ARGUMENTS") {
      if (block.startsWith(" ")) {
        if (!isHidden && !needless.test(trimmed)) lines.push(indent(trimmed, 6))
      } else {
        isHidden = hidden.test(trimmed) || (!isRoot && ofProgram.test(trimmed))
        if (!isHidden) lines.push(`  ${trimmed.replace(/^\((.*)\)$/, "$1")}`)
      }
    } else if (section === "") {
      // The name stands alone, and then with the version.
      if (trimmed.includes(" ")) lines.push(trimmed)
    } else {
      lines.push(
        section === "USAGE" && isRoot ? "  synapse <command> [<words>...]" : indent(trimmed.replace(/^\$ /, ""), 2)
      )
    }
  }
  if (entries.length > 0) {
    lines.push(...listOf(entries), "", "synapse <command> --help tells what a command takes.")
  }
  return lines.join("\n").trim()
}
