/**
 * Tells commands from what a model may write in place of one: Markdown, a prompt, JSON, the call itself, a patch, prose, or
 * a program that would not end. Bash would run parts of it. Each form has a call in `test/fixtures/corpus/text.json`.
 */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../bash/CommandLine.js"
import { isComplete } from "../../bash/CommandTree.js"
import * as Quote from "../../bash/Quote.js"
import type { Token } from "../../bash/Token.js"
import * as Correction from "./Correction.js"
import * as Endless from "./Endless.js"
import { Given, parseJson } from "./Given.js"
import * as PatchText from "./PatchText.js"

/**
 * Tests whether a token is the first of its line, and the line continues no other. Newlines within a quoted word begin
 * no line.
 */
export const isFirst = (tokens: ReadonlyArray<Token>, at: number, text: string): boolean => {
  const before = tokens[at - 1]
  if (before?._tag === "Blank") {
    return !text.slice(before.start, before.end).includes("\n") && isFirst(tokens, at - 1, text)
  }
  return before === undefined || before._tag === "Newline" || before._tag === "HereDocument"
}

/** Returns a text without the here-documents that are closed in it. */
export const outsideHereDocuments = (text: string): string => {
  const pieces: Array<string> = []
  let from = 0
  for (const token of CommandLine.parse(text).tokens) {
    if (token._tag !== "HereDocument" || !token.closed) continue
    pieces.push(text.slice(from, token.start))
    from = token.end
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from)
}

/** The text of a command, as it was read. */
export type CommandText = Data.TaggedEnum<{
  /** It goes to bash as it is. */
  Command: { readonly command: string }
  /** It is a command with something around it that surely is no part of it; the notice says what that was. */
  Wrapped: { readonly command: string; readonly notice: string }
  /** It is no command. `meant` holds the arguments that a right call probably has. */
  NoCommand: { readonly reason: string; readonly meant: Readonly<Record<string, unknown>> }
}>

export const CommandText = Data.taggedEnum<CommandText>()

const { Command, NoCommand, Wrapped } = CommandText

/** Matches texts that can be something else than a command: all others go to bash without a further look. */
const suspicious = new RegExp(
  String.raw`^\s*(?:[[{$>*|+•#-]|\d{1,3}[.)]|[A-Z]|bash\b|apply_?patch|diff |[\w.-]{1,50}@)|${"```"}|~~~|${Endless.names.source}`
)

/**
 * Reads the text of a command. Whatever bash could run for a good reason is a `Command`.
 *
 * @param isOurs tests whether a command of ours has this name: what begins with it is neither prose nor a program that
 *   takes the whole screen
 */
export const read = (text: string, isOurs: (name: string) => boolean = () => false): CommandText =>
  suspicious.test(text) && (!isOurs(/\S+/.exec(text)?.[0] ?? "") || PatchText.find(text) !== undefined)
    ? readAt(text, 0)
    : Command({ command: text })

/** The number of things around a command that are looked into, to show what was meant. */
const deepest = 3

const readAt = (text: string, depth: number): CommandText =>
  depth > deepest
    ? NoCommand({ reason: "there is too much around it", meant: {} })
    : (ofJson(text, depth) ??
      ofCall(text, depth) ??
      ofPrompt(text, depth) ??
      ofMarkdown(text, depth) ??
      ofPatch(text) ??
      ofProse(text) ??
      ofEndless(text) ??
      Command({ command: text }))

/** Takes the command out of something else, which must be the only thing around it. */
const unwrap = (command: string, around: string, reason: string, depth: number): CommandText =>
  CommandText.$match(readAt(command, depth + 1), {
    Command: () =>
      command.trim() === "" || !command.isWellFormed()
        ? NoCommand({ reason, meant: {} })
        : Wrapped({ command, notice: `It was run without ${around}.` }),
    Wrapped: (inner) => NoCommand({ reason, meant: { command: inner.command } }),
    NoCommand: ({ meant }) => NoCommand({ reason, meant })
  })

/** The most characters of a text that is taken apart to show what was meant. */
const longestShown = 10_000
const tooLong = { command: "<command>" }

/** Matches the beginning of a JSON object; `{ "a" :` can be a group of bash. */
const jsonObject = /^\s*\{\s*"[\w .-]+":/
const jsonWords = /^\s*\["/

const ofJson = (text: string, depth: number): CommandText | undefined => {
  if (jsonWords.test(text)) {
    const words = parseJson(text)
    return Array.isArray(words)
      ? NoCommand({ reason: "it is a JSON array, not a command line", meant: { command: words } })
      : undefined
  }
  if (!/^\s*\{/.test(text)) return undefined
  const value = parseJson(text)
  const reason = "it is JSON, not a command line"
  if (!Predicate.isReadonlyRecord(value)) return jsonObject.test(text) ? NoCommand({ reason, meant: {} }) : undefined
  const { command, description: _, ...others } = value
  return typeof command === "string" && Object.values(others).every((other) => other === null)
    ? unwrap(command, "the JSON around it", reason, depth)
    : NoCommand({ reason, meant: ofObject(value) })
}

/** Returns the arguments that an object holds: of a call, or of `TodoWrite`. */
const ofObject = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const found = [value, value["arguments"], value["input"]].filter(Predicate.isReadonlyRecord)
  const todos = found.find((each) => Array.isArray(each["todos"]))
  if (todos !== undefined) return { command: Correction.todoWrite(new Given(todos)) }
  return found.find((each) => "command" in each || "cmd" in each) ?? {}
}

/** Matches the call of the tool, but not the function `bash()`; `bash ls` is a command of ours. */
const callForm = /^\s*(?:bash[ \t]*\((?![ \t]*\))|Bash(?:[ \t]+(?=[^\s(])|\s*$))/i
const named = /^\s*(?:[Bb]ash[ \t]*\(|Bash\b)/
const quotedCommand = /^(?:command\s*[=:]\s*)?("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')\s*/

const ofCall = (text: string, depth: number): CommandText | undefined => {
  if (!callForm.test(text) || !named.test(text)) return undefined
  const reason = "it is what bash runs, without the name of the tool around it"
  if (text.length > longestShown) return NoCommand({ reason, meant: tooLong })
  const inner = text.trim().replace(/^Bash\s*\(?\s*/i, "")
  const object = parseJson(inner.replace(/\)$/, "").replace(/^'([^']*)'$/, "$1"))
  if (Predicate.isReadonlyRecord(object)) return NoCommand({ reason, meant: ofObject(object) })
  const [all = "", quoted = ""] = quotedCommand.exec(inner) ?? []
  if (all === "") {
    const command = inner
      .replace(/\)$/, "")
      .replace(/^command\s*[=:]\s*/, "")
      .trim()
    return NoCommand({ reason, meant: { command: command.startsWith("-") ? `bash ${command}` : command } })
  }
  const command = parseJson(quoted)
  const rest = inner.slice(all.length)
  return typeof command === "string" && rest === ")"
    ? unwrap(command, "the name of the tool around it", reason, depth)
    : NoCommand({ reason, meant: { command: typeof command === "string" ? command : quoted.slice(1, -1) } })
}

/** Matches `$ `, and longer prompts such as `ada@host:~/src$ `. */
const promptForm = String.raw`[ \t]*(?:\$|[\w.-]{1,50}@[\w.-]{1,50}:[^\s$#'"();&|<>]{0,200}[$#])(?=[ \t])`
const firstPrompt = new RegExp(String.raw`^\s*?(${promptForm})[ \t]+\S`)
const linePrompt = new RegExp(String.raw`^${promptForm}[ \t]+`, "gm")

const ofPrompt = (text: string, depth: number): CommandText | undefined => {
  const prompt = firstPrompt.exec(text)?.[1]?.trim()
  if (prompt === undefined) return undefined
  const reason = `it begins with the prompt "${prompt} ", and not all of its lines are commands`
  const given = text.replaceAll("\r\n", "\n")
  // A here-document may show a terminal: there, a longer prompt is not told from what is meant.
  const command =
    prompt !== "$" && text.includes("<<")
      ? undefined
      : withoutPrompts(prompt === "$" ? given : given.replace(linePrompt, "$ "))
  if (command !== undefined) return unwrap(command, `the prompt "${prompt} "`, reason, depth)
  const lines = given
    .slice(0, longestShown)
    .split("\n")
    .filter((line) => line.search(linePrompt) === 0)
  const meant = lines.join("\n").replace(linePrompt, "")
  return NoCommand({ reason, meant: isComplete(CommandLine.parse(meant).tree) ? meantBy(meant, depth) : {} })
}

/** Returns the commands of a text without their prompts; undefined if a line has none, for it may be output. */
const withoutPrompts = (given: string): string | undefined => {
  const { tokens } = CommandLine.parse(given)
  let command = ""
  let from = 0
  for (const [at, token] of tokens.entries()) {
    if ((token._tag === "Word" || token._tag === "HereDocument") && !token.closed) return undefined
    if (token._tag === "Blank" || token._tag === "Newline" || token._tag === "Comment") continue
    if (token._tag === "HereDocument" || !isFirst(tokens, at, given)) continue
    const next = tokens[at + 1]
    if (given.slice(token.start, token.end) !== "$" || next?._tag !== "Blank") return undefined
    command += given.slice(from, token.start)
    from = next.end
  }
  command += given.slice(from)
  // A prompt that is left stands in quotes that an apostrophe of a line before has opened.
  return outsideHereDocuments(command).search(linePrompt) < 0 ? command : undefined
}

/** Returns what a part of a text probably means; nothing where it may be output, prose or another thing. */
const meantBy = (command: string, depth: number): Readonly<Record<string, unknown>> => {
  if (command.trim() === "") return {}
  const inner = readAt(command, depth + 1)
  return inner._tag === "NoCommand" ? inner.meant : { command: inner.command }
}

const markdown = "it is Markdown, of which bash would run parts; give the command alone"
/** The languages of fences that hold commands. */
const shells = /^(?:bash|sh|shell|zsh)$/i
const openingFence = /^([ \t]*)(`{3,}(?=[^`\n]*$)|~{3,})[ \t]*([^\n]*?)[ \t]*$/m
const anyFence = /^[ \t]*(?:`{3,}|~{3,})/m

const ofMarkdown = (text: string, depth: number): CommandText | undefined => {
  if (!isMarkdown(text)) return undefined
  if (text.length > longestShown * 10) return NoCommand({ reason: markdown, meant: tooLong })
  const given = text.replaceAll("\r\n", "\n")
  const opening = openingFence.exec(given)
  if (opening === null) return NoCommand({ reason: markdown, meant: {} })
  const [all, indentation = "", fence = "", language = ""] = opening
  const lines = given.slice(opening.index + all.length + 1).split("\n")
  const isEnd = (line: string) =>
    line.trim() !== "" && line.trim().replaceAll(fence.charAt(0), "") === "" && line.trim().length >= fence.length
  const unindented = (some: ReadonlyArray<string>) =>
    some.map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line)).join("\n")
  const last = lines.findLastIndex((line) => line.trim() !== "")
  const whole = unindented(lines.slice(0, last))
  // Fences between the first and the last one are text where they stand in a here-document.
  const isWhole =
    given.slice(0, opening.index).trim() === "" &&
    isEnd(lines[last] ?? "") &&
    (lines.findIndex(isEnd) === last || !anyFence.test(outsideHereDocuments(whole)))
  if (isWhole && shells.test(language)) return unwrap(whole, "the Markdown fence around it", markdown, depth)
  const end = lines.findIndex(isEnd)
  const first = unindented(isWhole ? lines.slice(0, last) : lines.slice(0, end < 0 ? lines.length : end))
  const reason =
    isWhole && language === "" ? "no language is given for its Markdown fence; give the command alone" : markdown
  const mayBeCommand = /^(?:console)?$/.test(language) && (firstPrompt.test(first) || !/[<>`]|\n\S/.test(first))
  return NoCommand({
    reason,
    meant: /^python3?$/i.test(language)
      ? { command: `python3 - ${Quote.hereDocument(`${first}\n`)}` }
      : shells.test(language) || mayBeCommand
        ? meantBy(first, depth)
        : {}
  })
}

/**
 * Tests whether a text has a fence where no command has one: bash runs what it finds between the backquotes. Fences in
 * here-documents, in quotes and in comments are none.
 */
const isMarkdown = (text: string): boolean => {
  if (!text.includes("```") && !(text.includes("~~~") && /^[ \t]*~{3}/m.test(text))) return false
  if (/^\s*(?:`{3}|~{3})/.test(text)) return true
  const { tokens } = CommandLine.parse(text)
  return tokens.some(
    (token, at) =>
      token._tag === "Word" &&
      token.closed &&
      (text.startsWith("```", token.start) || (text.startsWith("~~~", token.start) && isFirst(tokens, at, text)))
  )
}

const ofPatch = (text: string): CommandText | undefined => {
  const found = PatchText.find(text)
  if (found === undefined) return undefined
  const isShown = found.isWhole && text.length <= longestShown
  return NoCommand({ reason: PatchText.reason, meant: isShown ? { command: PatchText.toCommand(found.patch) } : {} })
}

/** Matches words that begin sentences, and name no commands; lists, rows of tables, and quotes of more than one line. */
const prose = [
  /^\s*(?:I|I'(?:ll|m|ve|d)|Let|Let's|Here|Here's|The|This|That|That's|These|Those|There|Now|First|Then|Next|Finally|Please|We|We'll|You|It|It's|To|In|On|My|Sure|Okay|After|Before|Because|Since|Based|Looking|Although|However|So|And|But)[,:]?[ \t]+\S/,
  /^(?:\s|#.*\n)*(?:-|[+•*]|\d{1,3}[.)])[ \t]+\S/,
  /^\s*\|[ \t]*\S.*\|\s*$/m,
  /^[ \t]*>[ \t]+(?:[^\s]+[ \t].*\n)[ \t]*>[ \t]/
]

const ofProse = (text: string): CommandText | undefined =>
  prose.some((form) => form.test(text))
    ? NoCommand({ reason: "it is prose or a quote, of which bash would run parts; give the command alone", meant: {} })
    : undefined

const ofEndless = (text: string): CommandText | undefined => {
  const found = Endless.find(text)
  return found === undefined || found.followsFile
    ? undefined
    : NoCommand({ reason: found.reason, meant: found.instead === undefined ? {} : { command: found.instead } })
}
