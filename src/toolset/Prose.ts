/**
 * Tells prose and quotes from commands by their words.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import { isRedirection } from "../bash/Token.js"
import * as Hint from "../command/Hint.js"

/** Words that begin sentences, and name no commands. */
const opening =
  /^\s*(?:I|I'(?:ll|m|ve|d)|Let|Let's|Here|Here's|The|This|That|That's|These|Those|There|Now|First|Then|Next|Finally|Please|We|We'll|You|It|It's|To|In|On|My|Sure|Okay|After|Before|Because|Since|Based|Looking|Although|However|So|And|But)[,:]?[ \t]+\S/

/** Match lists and the begin of a table's row, whose signs are no commands: `- a`, `1. b`, `| c |`. */
const listed = /^(?:-|[+•]|\d{1,3}[.)])[ \t]+\S/
const row = /^\|[ \t]*\S/

/** Matches the quote of a mail or of Markdown. */
const quoted = /^[ \t]*>[ \t]/

/**
 * Tests whether a text is prose, of which bash would run what stands between backquotes and write over what stands
 * behind a `>`.
 *
 * @since 0.1.0
 */
export const isProse = (text: string): boolean => opening.test(text) || beginsWithList(text) || isQuote(text)

/** The most lines of comments before a list. */
const mostComments = 1000

const beginsWithList = (text: string): boolean => {
  let passed = 0
  for (const line of linesOf(text)) {
    if (passed++ === mostComments) return false
    const said = line.trim()
    if (said === "" || said.startsWith("#")) continue
    const cell = row.exec(said)?.[0]
    return listed.test(said) || (cell !== undefined && said.length > cell.length && said.endsWith("|"))
  }
  return false
}

/** Yields the lines of a text one by one: mostly the first tells enough. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; ; ) {
    const end = text.indexOf("\n", start)
    yield end < 0 ? text.slice(start) : text.slice(start, end)
    if (end < 0) return
    start = end + 1
  }
}

/**
 * Tests whether all lines of a text are quotes. `> file` alone empties a file, and `> out.txt sort in.txt` is a command.
 */
const isQuote = (text: string): boolean => {
  const lines: Array<string> = []
  for (const line of linesOf(text)) {
    if (line.trim() === "") continue
    if (!quoted.test(line)) return false
    lines.push(line)
  }
  const words = lines.map((line) => line.trim().split(/[ \t]+/))
  return words.some(
    ([, target = "", ...more]) =>
      more.length > 0 && (lines.length > 1 || Hint.builtins.has(target) || common.has(target))
  )
}

const common = new Set(
  "apt awk bash bun cargo cat chmod cmake column comm cp curl cut date deno df diff docker du env file find gcc gh git go grep head java jq kill ln ls make mkdir mv node npm npx perl php pip pip3 pnpm ps psql pytest python python3 readlink realpath rg rm rmdir ruby rustc sed seq sh sleep sort sqlite3 stat sudo tail tar tee timeout touch tr tree tsc uname uniq unzip wc wget which whoami xargs yarn zip read write edit TodoWrite".split(
    " "
  )
)
const reserved = new Set("if then else elif fi for while until do done case esac { } ( ) [[ !".split(" "))

/**
 * Tests whether each line of a text, of which nobody said that it is one, begins as a command does, and writes over no
 * file. Such a text may be shown as what was probably meant.
 *
 * @since 0.1.0
 */
export const looksLikeCommands = (text: string): boolean =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*#/.test(line))
    .every((line) => {
      const [word = ""] = line.trim().split(/[\s;|&(]/)
      const isKnown = Hint.builtins.has(word) || common.has(word) || reserved.has(word)
      return isKnown || /^(?:\.{0,2}\/[\w./-]+|\w+=\S*)$/.test(word)
    }) && !writes(text)

/** Tests whether a command puts the output of anything into a file. */
const writes = (text: string): boolean =>
  CommandLine.parse(text).tokens.some(
    (token) => token._tag === "Operator" && isRedirection(token.value) && /^(?:\d*|&)>(?!&)/.test(token.value)
  )
