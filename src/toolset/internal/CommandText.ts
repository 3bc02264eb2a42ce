/**
 * Recognizes what a model may write instead of a command, and bash would run parts of: Markdown, a prompt, JSON, the
 * call itself, a patch, prose. It also finds programs that would not end. Each form has a call in
 * `test/fixtures/corpus/text.json`.
 */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../bash/CommandLine.js"
import * as Correction from "./Correction.js"
import { Given, isShown as isShort, parseJson } from "./Given.js"
import * as PatchText from "./PatchText.js"

/** Tests whether a token begins a line that does not continue another. Newlines in a quoted word do not begin lines. */
export const isFirst = (line: CommandLine.CommandLine, at: number): boolean => {
  const before = line.tokens[at - 1]
  if (before?._tag === "Blank") {
    return !line.text.slice(before.start, before.end).includes("\n") && isFirst(line, at - 1)
  }
  return before === undefined || before._tag === "Newline" || before._tag === "HereDocument"
}

/** Removes the closed here-documents from a text. */
export const outsideHereDocuments = ({ text, tokens }: CommandLine.CommandLine): string => {
  const pieces: Array<string> = []
  let from = 0
  for (const token of tokens) {
    if (token._tag !== "HereDocument" || !token.closed) continue
    pieces.push(text.slice(from, token.start))
    from = token.end
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from)
}

/** The text of a call's command, classified. */
export type CommandText = Data.TaggedEnum<{
  /** Goes to bash unchanged. */
  Command: { readonly line: CommandLine.CommandLine }
  /** A command with something around it that is certainly not part of it; the notice names that. */
  Wrapped: { readonly line: CommandLine.CommandLine; readonly notice: string }
  /** A program that draws on a terminal, such as vim. A call without a terminal is refused, with what to use instead. */
  Screen: { readonly line: CommandLine.CommandLine; readonly name: string; readonly instead: string }
  /** Not a command. `meant` holds the arguments of the call that was probably meant. */
  NoCommand: { readonly reason: string; readonly meant: Readonly<Record<string, unknown>> }
}>

export const CommandText = Data.taggedEnum<CommandText>()

const { Command, NoCommand, Screen, Wrapped } = CommandText

/** Matches the names of programs that do not end by themselves. */
const endless = /\b(?:n?vim?(?:diff)?|r?view|nano|pico|emacs|[hb]top|watch|tail|journalctl)\b/

/** Matches texts that may not be commands. All others go to bash without a further look. */
const suspicious = new RegExp(
  String.raw`^\s*(?:[[{$>*|+•#-]|\d{1,3}[.)]|[A-Z]|bash\b|apply_?patch|diff |[\w.-]{1,50}@)|${"```"}|~~~|${endless.source}`
)

/**
 * Classifies a text. Whatever bash could sensibly run is a `Command`.
 *
 * @param isSynapseCommand tests for a Synapse command's name; a text that begins with one is neither prose nor a screen
 *   program
 */
export const read = (
  line: CommandLine.CommandLine,
  isSynapseCommand: (name: string) => boolean = () => false
): CommandText =>
  suspicious.test(line.text) && (!isSynapseCommand(line.name) || PatchText.find(line.text) !== undefined)
    ? readAt(line, 0)
    : Command({ line })

/** The deepest nesting of wrappers around a command. */
const deepest = 3

const readAt = (line: CommandLine.CommandLine, depth: number): CommandText =>
  ofJson(line.text, depth) ??
  ofCall(line.text, depth) ??
  ofPrompt(line.text, depth) ??
  ofMarkdown(line, depth) ??
  ofPatch(line.text) ??
  ofProse(line.text) ??
  ofTerminal(line) ??
  Command({ line })

/** Takes the command out of a wrapper, which must be the only one. */
const unwrap = (line: CommandLine.CommandLine, where: string, reason: string, depth: number): CommandText => {
  const inner = depth > deepest ? NoCommand({ reason, meant: {} }) : readAt(line, depth + 1)
  if (inner._tag === "NoCommand") return NoCommand({ reason, meant: inner.meant })
  if (inner._tag === "Screen") return inner
  if (inner._tag === "Wrapped") return NoCommand({ reason, meant: { command: inner.line.text } })
  return line.text.trim() === "" || !line.text.isWellFormed()
    ? NoCommand({ reason, meant: {} })
    : Wrapped({ line, notice: `(ran the command ${where})` })
}

/** The longest text, in characters, that is analysed. */
const longest = 100_000

/** Matches the beginning of a JSON object. With a blank before the colon, `{ "a" :` can be a bash group. */
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
    ? unwrap(CommandLine.parse(command), "inside the JSON", reason, depth)
    : NoCommand({ reason, meant: ofObject(value) })
}

/** Returns the arguments in an object: of a call, or of `TodoWrite`. */
const ofObject = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const found = [value, value["arguments"], value["input"]].filter(Predicate.isReadonlyRecord)
  const todos = found.find((each) => Array.isArray(each["todos"]))
  if (todos !== undefined) return { command: Correction.todoWrite(new Given(todos)) }
  return found.find((each) => "command" in each || "cmd" in each) ?? {}
}

/** Matches a call of the tool, but not the function `bash()` or the Synapse command `bash ls`. */
const callForm = /^\s*(?:[Bb]ash[ \t]*\((?![ \t]*\))|Bash(?:[ \t]+(?=[^\s(])|\s*$))/
const quotedCommand = /^(?:command\s*[=:]\s*)?("(?:\\[\s\S]|[^"\\])*"|'[^'\\]*')\s*$/

const ofCall = (text: string, depth: number): CommandText | undefined => {
  if (!callForm.test(text)) return undefined
  const reason = "it is what bash runs, without the name of the tool around it"
  const inner = text
    .slice(0, longest)
    .trim()
    .replace(/^Bash\s*\(?\s*/i, "")
    .replace(/\)$/, "")
  const quoted = quotedCommand.exec(inner)?.[1]
  const command = quoted?.startsWith("'") === true ? quoted.slice(1, -1) : parseJson(quoted ?? "")
  if (typeof command === "string" && text.trimEnd().endsWith(")"))
    return unwrap(CommandLine.parse(command), "inside `Bash(…)`", reason, depth)
  const value = parseJson(inner)
  if (Predicate.isReadonlyRecord(value)) return NoCommand({ reason, meant: ofObject(value) })
  const meant = typeof command === "string" ? command : inner.replace(/^command\s*[=:]\s*/, "")
  return NoCommand({ reason, meant: { command: meant.startsWith("-") ? `bash ${meant}` : meant } })
}

/** Matches `$ ` and longer prompts such as `ada@host:~/src$ `. */
const promptForm = String.raw`[ \t]*(?:\$|[\w.-]{1,50}@[\w.-]{1,50}:[^\s$#'"();&|<>]{0,200}[$#])(?=[ \t])`
const firstPrompt = new RegExp(String.raw`^\s*?(${promptForm})[ \t]+\S`)
const linePrompt = new RegExp(String.raw`^${promptForm}[ \t]+`, "gm")

const ofPrompt = (text: string, depth: number): CommandText | undefined => {
  const prompt = firstPrompt.exec(text)?.[1]?.trim()
  if (prompt === undefined) return undefined
  const reason = `it begins with the prompt "${prompt} ", and not all of its lines are commands`
  const given = text.replaceAll("\r\n", "\n")
  // A here-document may contain a terminal transcript, whose long prompts look like real ones.
  const command =
    prompt !== "$" && text.includes("<<")
      ? undefined
      : withoutPrompts(prompt === "$" ? given : given.replace(linePrompt, "$ "))
  return command === undefined
    ? NoCommand({ reason, meant: {} })
    : unwrap(command, `after the prompt "${prompt} "`, reason, depth)
}

/** Removes the prompts from a text. Returns undefined if a line has none, since it may be output. */
const withoutPrompts = (given: string): CommandLine.CommandLine | undefined => {
  const line = CommandLine.parse(given)
  const { tokens } = line
  let text = ""
  let from = 0
  for (const [at, token] of tokens.entries()) {
    if ((token._tag === "Word" || token._tag === "HereDocument") && !token.closed) return undefined
    if (token._tag === "Blank" || token._tag === "Newline" || token._tag === "Comment") continue
    if (token._tag === "HereDocument" || !isFirst(line, at)) continue
    const next = tokens[at + 1]
    if (given.slice(token.start, token.end) !== "$" || next?._tag !== "Blank") return undefined
    text += given.slice(from, token.start)
    from = next.end
  }
  const command = CommandLine.parse(text + given.slice(from))
  // A remaining prompt is inside quotes that an apostrophe on an earlier line has opened.
  return outsideHereDocuments(command).search(linePrompt) < 0 ? command : undefined
}

const markdown = "it is Markdown, of which bash would run parts; give the command alone"
/** Matches a fence around a whole text. */
const fenced = /^\s*(`{3,}|~{3,})[ \t]*([\w-]*)[ \t]*\n([\s\S]*\n)?[ \t]*\1[`~]*\s*$/
/** The fence languages whose content is commands. */
const shells = /^(?:bash|sh|shell|zsh)$/i

const ofMarkdown = (line: CommandLine.CommandLine, depth: number): CommandText | undefined => {
  if (!isMarkdown(line)) return undefined
  const [, fence = "", language = "", given = ""] =
    fenced.exec(line.text.slice(0, longest).replaceAll("\r\n", "\n")) ?? []
  const command = CommandLine.parse(given.replace(/\n$/, ""))
  // Inside a here-document, more fences are plain text.
  const inner = fence.startsWith("~") ? /^[ \t]*~{3}/m : /^[ \t]*`{3}/m
  if (command.text === "" || inner.test(outsideHereDocuments(command)))
    return NoCommand({ reason: markdown, meant: {} })
  if (shells.test(language)) return unwrap(command, "inside the Markdown fence", markdown, depth)
  if (language !== "") return NoCommand({ reason: markdown, meant: {} })
  const reason = "no language is given for its Markdown fence; give the command alone"
  return NoCommand({ reason, meant: /^[^\n<>`]*$/.test(command.text) ? { command: command.text } : {} })
}

/**
 * Tests whether a text has a Markdown fence, since bash would run what is between its backquotes. Fences in
 * here-documents, quotes and comments do not count.
 */
const isMarkdown = (line: CommandLine.CommandLine): boolean => {
  const { text } = line
  if (!text.includes("```") && !(text.includes("~~~") && /^[ \t]*~{3}/m.test(text))) return false
  if (/^\s*(?:`{3}|~{3})/.test(text)) return true
  return line.tokens.some(
    (token, at) =>
      token._tag === "Word" &&
      token.closed &&
      (text.startsWith("```", token.start) || (text.startsWith("~~~", token.start) && isFirst(line, at)))
  )
}

const ofPatch = (text: string): CommandText | undefined => {
  const found = PatchText.find(text)
  if (found === undefined) return undefined
  const isShown = found.isWhole && isShort(text)
  return NoCommand({ reason: PatchText.reason, meant: isShown ? { command: PatchText.toCommand(found.patch) } : {} })
}

/** Matches sentences by first words that are not command names, and lists, table rows, and quotes of several lines. */
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

/**
 * Programs that need a terminal, and what to use instead. Editors with options other than these can run without one.
 */
const screens: ReadonlyArray<readonly [name: RegExp, options: RegExp, instead: string]> = [
  [
    /^(?:n?vim?(?:diff)?|r?view|nano|pico|emacs)$/,
    /^(?:\+\d*(?:[,:]\d+)?|-(?:nw|[Rw]))$/,
    "read shows a file; edit <file> <old> <new>, or write <file> <content>, changes it"
  ],
  [/^[hb]top$/, /(?!)/, "top -bn1 shows the processes once"],
  [/^watch$/, /^(?:-n.*|--interval.*)$/, "run the command itself"]
]

const ofTerminal = (line: CommandLine.CommandLine): CommandText | undefined => {
  const [name = "", ...words] = lastCommand(line)
  const options = words.filter((word) => /^[-+]/.test(word))
  const [, , instead] =
    screens.find(([names, mayHave]) => names.test(name) && options.every((word) => mayHave.test(word))) ?? []
  return instead === undefined ? undefined : Screen({ line, name, instead })
}

/** Explains that a text does not end by itself if its last command follows a file. */
export const following = (line: CommandLine.CommandLine): string | undefined => {
  const [name, ...words] = lastCommand(line)
  const isFollowing = words.some((word) => /^(?:-[\dnqvz]*[fF][\dnqvz]*|--follow(?:=.*)?)$/.test(word))
  const isFollower = name === "journalctl" || (name === "tail" && words.some((word) => !word.startsWith("-")))
  return isFollowing && isFollower && !words.some((word) => /^--(?:pid|help|version)/.test(word))
    ? `${name} -f does not end by itself; to see what comes in some time, give timeout=<ms>, or yield=<ms>`
    : undefined
}

/**
 * Returns the words of a text's last command, or an empty list if it is piped, redirected, or inside another command.
 */
const lastCommand = (line: CommandLine.CommandLine): ReadonlyArray<string> => {
  if (line.text.length > longest || !endless.test(line.text)) return []
  const { isBackground = false, pipelines = [] } = line.tree.lists.at(-1) ?? {}
  const [only, ...others] = pipelines.at(-1)?.commands ?? []
  if (only?.keyword !== undefined || others.length > 0 || isBackground) return []
  return only === undefined || only.words[0]?.quoted === true || only.redirections.length > 0
    ? []
    : only.words.map(({ value }) => value)
}
