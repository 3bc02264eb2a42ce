/** Finds calls of programs that do not end by themselves: they take the whole screen, or follow a file. */
import * as CommandLine from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import type { Word } from "../../bash/Token.js"

/** A call that does not end by itself. */
export interface Endless {
  readonly program: string
  readonly reason: string
  /** The command that does nearly the same, and ends; undefined where there is none. */
  readonly instead: string | undefined
  /** True where it shows what is written to a file: a time limit ends it, and a person can watch it. */
  readonly followsFile: boolean
}

/** A program, with the words that make it one that does not end, and the command in its place. */
interface Row {
  readonly names: string
  readonly reason: string
  readonly isEndless: (words: ReadonlyArray<string>) => boolean
  readonly instead?: (words: ReadonlyArray<Word>, written: (word: Word) => string) => string | undefined
  readonly followsFile?: true
}

const isOption = (word: string): boolean => /^[-+]/.test(word)
const terminal = "needs a terminal, and there is none"
const limit = "does not end by itself; to see what comes in some time, give timeout=<ms>"

/** Matches the option that follows, with its letters: `-f`, `-fn5`, `-20f`. */
const following = /^-(?:\d*[qvz]*[fF][qvz]*(?:n\d*)?|\d+[fF])$|^--follow(?:=(?:name|descriptor))?$|^--retry$/

/** Returns the index of the program that `watch` runs. */
const watched = (words: ReadonlyArray<string>): number =>
  words.findIndex((word, at) => !isOption(word) && !/^(?:-n|--interval)$/.test(words[at - 1] ?? ""))

const rows: ReadonlyArray<Row> = [
  {
    names: "vim vi nvim nano pico emacs",
    reason: `${terminal}: read shows a file; edit <file> <old> <new>, or write <file> <content>, changes it`,
    // With most options, an editor does without a terminal.
    isEndless: (words) => words.filter(isOption).every((word) => /^(?:\+\d*(?:[,:]\d+)?|-(?:nw|[Rw]))$/.test(word)),
    instead: (words) => {
      const [file, more] = words.filter(({ value }) => !isOption(value))
      const line = words.map(({ value }) => /^\+([1-9]\d*)/.exec(value)?.[1]).find((found) => found !== undefined)
      if (file === undefined || more !== undefined || !file.closed || file.expands) return undefined
      return line === undefined
        ? `read ${/^\w+$/.test(file.value) ? "./" : ""}${Quote.word(file.value)}`
        : `read ${Quote.word(`${file.value}:${line}-`)}`
    }
  },
  { names: "htop btop", reason: terminal, isEndless: (words) => words.length === 0, instead: () => "top -bn1" },
  {
    names: "watch",
    reason: "does not end, and needs a terminal",
    isEndless: (words) =>
      words.length > 0 && words.slice(0, watched(words)).every((word) => /^(?:-n.*|--interval.*|[\d.]+)$/.test(word)),
    instead: (words, written) => {
      const [first, ...more] = words.slice(watched(words.map(({ value }) => value)))
      if (first === undefined) return undefined
      return more.length === 0 && first.quoted ? first.value : [first, ...more].map(written).join(" ")
    }
  },
  {
    names: "tail",
    reason: limit,
    followsFile: true,
    isEndless: (words) =>
      words.some((word) => following.test(word)) &&
      words.some((word) => !isOption(word)) &&
      !words.some((word) => /^--(?:pid|help|version)/.test(word)),
    instead: (words, written) =>
      [
        "tail",
        ...words.map((word) => (following.test(word.value) ? word.value.replace(/^--.*|[fF]/g, "") : written(word)))
      ]
        .filter((word) => word !== "" && word !== "-")
        .join(" ")
  },
  {
    names: "journalctl",
    reason: limit,
    followsFile: true,
    isEndless: (words) => words.includes("-f") || words.includes("--follow"),
    instead: (words, written) =>
      ["journalctl -n 10", ...words.filter(({ value }) => !/^(?:-f|--follow)$/.test(value)).map(written)].join(" ")
  }
]

/** Matches the names of all these programs. */
export const names = new RegExp(String.raw`\b(?:${rows.flatMap((row) => row.names.split(" ")).join("|")})\b`)

/** The most characters of a text whose last command is looked at. */
const longestRead = 100_000

/**
 * Finds such a call as the last command of a text; undefined where anything of the text is redirected or piped.
 */
export const find = (text: string): Endless | undefined => {
  if (text.length > longestRead || !names.test(text)) return undefined
  const [program, ...words] = lastCommand(text)
  const row = program?.quoted === false ? rows.find((row) => row.names.split(" ").includes(program.value)) : undefined
  const values = words.map(({ quoted, value }) => (quoted && isOption(value) ? "" : value))
  if (program === undefined || row === undefined || !row.isEndless(values)) return undefined
  const name = row.followsFile === true ? `${program.value} -f` : program.value
  // What stands before it may lead to another directory.
  const instead = words.every(({ closed }) => closed)
    ? row.instead?.(words, ({ end, start }) => text.slice(start, end))
    : undefined
  return {
    program: program.value,
    reason: `${name} ${row.reason}`,
    instead: instead === undefined ? undefined : `${text.slice(0, program.start).trimStart()}${instead}`,
    followsFile: row.followsFile === true
  }
}

/** Returns the words of the last command of a text; none where anything of the text is redirected or piped. */
const lastCommand = (text: string): ReadonlyArray<Word> => {
  const tokens = CommandLine.parse(text).tokens.filter(({ _tag }) => _tag !== "Blank" && _tag !== "Comment")
  const last = tokens.findLastIndex(({ _tag }) => _tag !== "Newline")
  let found: Array<Word> = []
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "HereDocument") return []
    if (token._tag === "Word") found.push(token)
    if (token._tag !== "Operator" && token._tag !== "Newline") continue
    if (token._tag === "Operator" && token.value !== "&&" && token.value !== ";") return []
    if (at < last) found = []
  }
  return found
}
