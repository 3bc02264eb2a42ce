/** The corpus in `test/fixtures/corpus`: calls, with what a model gets to read, and a judgement of each line of it. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"

/** `right`, or `needless: why`, or `wrong: why`. */
export type Judgement = string

/** One call. Its output is an array of lines, so that it can be read. */
export interface Entry {
  /** A call of Bash with this command; otherwise `tool` and `arguments` make the call. */
  readonly command?: string
  /** Milliseconds, for `command`. */
  readonly timeout?: number
  readonly tool?: string
  readonly arguments?: unknown
  /** The transcript or report that the call comes from. Absent where it is not known. */
  readonly source?: string
  /** The call is cancelled once this file of the project is there. */
  readonly cancelOnceThere?: string
  /** It is about the sandbox, and is left out without one. */
  readonly sandbox?: true
  /** It is left out for an ordinary user, whom the file's own permissions deny it as well. */
  readonly asRoot?: true
  /** Programs write to both streams at once: which line comes first is not known. */
  readonly anyOrder?: true
  readonly output?: ReadonlyArray<string>
  readonly message?: string
  readonly exitCode?: number | undefined
  readonly failureCategory?: string | undefined
  /** The judgement of each line that Synapse has added, and of the message unless it is the one of every success. */
  readonly judged?: Readonly<Record<string, Judgement>>
}

const directory = Path.resolve("test/fixtures/corpus")

/** The kinds: the files of the corpus, each of which is a session. */
export const kinds: ReadonlyArray<string> = Fs.readdirSync(directory)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length))
  .sort()

export const load = (kind: string): ReadonlyArray<Entry> =>
  JSON.parse(Fs.readFileSync(`${directory}/${kind}.json`, "utf8"))

export const save = (kind: string, entries: ReadonlyArray<Entry>): void =>
  Fs.writeFileSync(`${directory}/${kind}.json`, `${JSON.stringify(entries, null, 2)}\n`)

/** The arguments of the call, as JSON. */
export const argumentsOf = ({ arguments: given, command, timeout }: Entry): string =>
  typeof given === "string"
    ? given
    : JSON.stringify(given ?? { command, ...(timeout === undefined ? {} : { timeout }) })

/** Synapse commands, whose own words are Synapse's. */
const ours = /(?:^|do |\| |[;&] )(?:(?:read|edit|write|TodoWrite)\b(?! -r| \w+;)|x=\$\(mcp|mcp:)/

const success = "Command executed successfully."

const linesOf = (text: string | undefined): ReadonlyArray<string> => (text ?? "").split("\n")

/** The lines and the sentences of a text that are long enough to be known again. */
export const sentencesIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/\n|(?<=[.:;]) /)
    .map((sentence) => sentence.trim())
    .filter(({ length }) => length > 25)

/** The lines of a result that are Synapse's and not the command's own. A file's content is the command's. */
export const added = (entry: Entry, { extras, message, output }: ToolReturn): ReadonlyArray<string> => {
  const own = new Set(
    [...linesOf(extras.stdout), ...linesOf(extras.stderr)].filter(
      (line) => !ours.test(entry.command ?? "") || /^ *\d+\t/.test(line)
    )
  )
  const lines = linesOf(output).filter((line) => line !== "" && !own.has(line))
  return [...new Set(message === success ? lines : [...lines, ...linesOf(message)])]
}

/** The call alone, without its answer. */
export const inputOf = (entry: Entry): Entry => {
  const { exitCode, failureCategory, judged, message, output, ...input } = entry
  return input
}

/** What the entry says of the answer, as `actual` has it. */
export const expected = ({ exitCode, failureCategory, message, output }: Entry) => ({
  output,
  message,
  exitCode,
  failureCategory
})

/** The lines as they are compared. */
export const compared = (
  { anyOrder }: Entry,
  lines: ReadonlyArray<string> | undefined
): ReadonlyArray<string> | undefined => (anyOrder === true ? lines?.toSorted() : lines)

/** What a model and a program see of an answer, without what differs from machine to machine. */
export const actual = ({ extras, message, output }: ToolReturn, plain: (text: string) => string) => ({
  output: plain(output).split("\n"),
  message: plain(message),
  exitCode: extras.exitCode,
  failureCategory: extras.failureCategory
})
