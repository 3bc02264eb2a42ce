/** Tells commands from what a model may write in place of one: Markdown, a prompt, JSON, the call itself. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../bash/CommandLine.js"
import * as LineStart from "../../bash/LineStart.js"
import * as Quote from "../../bash/Quote.js"
import { isRedirection } from "../../bash/Token.js"
import * as Hint from "../../command/Hint.js"
import * as FileTool from "./ForeignTool.files.js"
import { Given } from "./ForeignTool.given.js"
import * as FullScreen from "./FullScreen.js"
import * as Markdown from "./Markdown.js"
import * as PatchText from "./PatchText.js"

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
 */
const isProse = (text: string): boolean => opening.test(text) || beginsWithList(text) || isQuote(text)

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
 */
const looksLikeCommands = (text: string): boolean =>
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

const prompt = /^[ \t]*\$[ \t]+/
const anyPrompt = /^[ \t]*\$[ \t]/m

const environment = String.raw`\([\w.-]{1,50}\) ?`
const place = String.raw`(?:[\w.-]{1,50}@[\w.-]{1,50}:[^\s$#'"();&|<>]{0,200}|bash-\d[\d.]{0,10})[$#]`
const longer = String.raw`^[ \t]*(?:(?:${environment})?${place}|${environment}\$)(?=[ \t])`
const anyLonger = new RegExp(longer, "gm")
const firstPrompt = new RegExp(String.raw`(?:${longer}|^\$)(?=[ \t]+\S)`)

/**
 * Returns the prompt that a text begins with, as it is written; undefined where it begins with none. Bash has no command
 * `$`.
 */
const of = (text: string): string | undefined => {
  const start = text.search(/\S/)
  const found = firstPrompt.exec(text.slice(Math.max(0, start), Math.max(0, start) + 500))
  return found?.[0]
}

/** Replaces longer prompts by `$`, where the text begins with one. */
const shortened = (text: string): string => ((of(text) ?? "$") === "$" ? text : text.replace(anyLonger, "$"))

/**
 * Returns the commands of a text without their prompts; undefined where a line has none, for it may be output. The text
 * of here-documents stays as it is.
 */
const strip = (text: string): string | undefined => {
  const first = of(text)
  // The text of a here-document may show a terminal: there, a longer prompt is not told from what is meant.
  if (first === undefined || (first !== "$" && text.includes("<<"))) return undefined
  const given = unixLines(shortened(text))
  const { tokens } = CommandLine.parse(given)
  const isOpen = tokens.some((token) => (token._tag === "Word" || token._tag === "HereDocument") && !token.closed)
  if (isOpen) return undefined
  let command = ""
  let from = 0
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "Blank" || token._tag === "Newline" || token._tag === "Comment") continue
    if (token._tag === "HereDocument" || !LineStart.isFirst(tokens, at, given)) continue
    const next = tokens[at + 1]
    if (given.slice(token.start, token.end) !== "$" || next?._tag !== "Blank") return undefined
    command += given.slice(from, token.start)
    from = next.end
  }
  command += given.slice(from)
  // A prompt that is left stands in a here-document, or in quotes that an apostrophe of a line before has opened.
  return anyPrompt.test(LineStart.outsideHereDocuments(command)) ? undefined : command
}

/**
 * Returns the commands that a text with prompts and output probably has: the lines with a prompt; all of it, where the
 * first command goes on in the next line.
 */
const commandsOf = (text: string): string => {
  const lines = unixLines(shortened(text)).trim().split("\n")
  const goesOn = /(?:[\\|&({'"]|\b(?:do|then|else))\s*$|<</.test(lines[0] as string)
  const kept = goesOn ? lines : lines.filter((line) => prompt.test(line))
  return kept.map((line) => line.replace(prompt, "")).join("\n")
}

/** Returns the number of lines that begin with a prompt. */
const countOf = (text: string): number =>
  shortened(text)
    .split("\n")
    .filter((line) => prompt.test(line)).length

/** Replaces CRLF by LF where the first line ends with it. */
const unixLines = (text: string): string => (/^\s*[^\n]*\r\n/.test(text) ? text.replaceAll("\r\n", "\n") : text)

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&apos;": "'",
  "&#39;": "'",
  "&#x27;": "'",
  "&gt;": ">",
  "&#62;": ">",
  "&lt;": "<",
  "&#60;": "<",
  "&quot;": '"',
  "&#34;": '"'
}

const entity = /&(?:amp|apos|gt|lt|quot|#(?:34|39|60|62|x27));/g
const first = new RegExp(entity.source, "y")

/**
 * Returns the first entity that bash would take apart, and the text with the characters that all of them stand for, unless
 * that is not certain; undefined where there is none. In quotes, in comments and in here-documents, they are text.
 */
export const find = (text: string): { readonly entity: string; readonly decoded: string | undefined } | undefined => {
  if (text.search(entity) < 0) return undefined
  const { tokens } = CommandLine.parse(text)
  for (const [at, token] of tokens.entries()) {
    if (token._tag !== "Operator" || !token.value.endsWith("&")) continue
    first.lastIndex = token.end - 1
    const [found] = first.exec(text) ?? []
    if (found === undefined) continue
    const before = tokens[at - 1]
    // The `&` of an address is one of it: quotes are missing besides.
    const isAddress = before?._tag === "Word" && before.end === token.start && before.value.includes("://")
    const decoded = text.replace(entity, (each) => characters[each] ?? each)
    return { entity: found, decoded: isAddress || decoded.length > longest ? undefined : decoded }
  }
  return undefined
}

/** The most characters of a text that is written again. */
const longest = 10_000

/** The text of a command, as it was read. */
export type CommandText = Data.TaggedEnum<{
  /** It goes to bash as it is. */
  Command: { readonly command: string }
  /** It is a command with something around it that surely is no part of it; the notice says what that was. */
  Wrapped: { readonly command: string; readonly notice: string }
  /** It is no command. `meant` holds the arguments that a right call probably has. */
  NoCommand: { readonly reason: string; readonly meant: Readonly<Record<string, unknown>> }
}>

/** Makes a CommandText, and takes one apart with `$match`. */
export const CommandText = Data.taggedEnum<CommandText>()

const { Command, NoCommand, Wrapped } = CommandText

/**
 * Reads the text of a command. Whatever bash could run for a good reason is a `Command`.
 *
 * @param isOurs tests whether a command of ours has this name: what begins with it is neither prose (`10. a`) nor a
 *   program that takes the whole screen (`top`)
 */
export const read = (text: string, isOurs: (name: string) => boolean = () => false): CommandText => {
  const found = readAt(text.length > longestIndented ? text.trimStart() : text, 0)
  if (found._tag === "Command") return Command({ command: text })
  return found._tag === "NoCommand" &&
    isOurs(/\S+/.exec(text)?.[0] ?? "") &&
    (isProse(text) || FullScreen.find(text) !== undefined)
    ? Command({ command: text })
    : found
}

/** The most characters of a text before which white space is passed by each look at it, rather than once. */
const longestIndented = 256 * 1024

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
      ofEntities(text) ??
      ofProse(text) ??
      ofFullScreen(text) ??
      Command({ command: text }))

/** Matches half a character, which JSON can hold and bash can't. */
const half = /\p{Cs}/u

/** Takes the command out of something else, which must be the only thing around it. */
const unwrap = (command: string, around: string, reason: string, depth: number): CommandText =>
  CommandText.$match(readAt(command, depth + 1), {
    Command: () =>
      command.trim() === "" || half.test(command)
        ? NoCommand({ reason, meant: {} })
        : Wrapped({ command, notice: `It was run without ${around}.` }),
    Wrapped: (inner) => NoCommand({ reason, meant: { command: inner.command } }),
    NoCommand: ({ meant }) => NoCommand({ reason, meant })
  })

const markdown = "it is Markdown, of which bash would run parts; give the command alone"
/** The languages of fences that hold commands, and of those that hold what a terminal showed: commands have prompts there. */
const shells = /^(?:bash|sh|shell|zsh|ksh)$/i
const sessions = /^(?:|console|terminal|(?:shell|sh|bash)-?session)$/i
/** The programs that run what a fence of another language holds. */
const interpreters: ReadonlyArray<readonly [RegExp, string]> = [
  [/^py(?:thon)?3?$/i, "python3 -"],
  [/^(?:js|javascript|node)$/i, "node -"],
  [/^(?:rb|ruby)$/i, "ruby -"],
  [/^perl$/i, "perl -"]
]

const ofMarkdown = (text: string, depth: number): CommandText | undefined => {
  const above = Markdown.beforeLoneFence(text)
  if (above !== undefined) {
    const isShown = text.length <= longestShown
    const reason = "its last line is the end of a Markdown fence; give the command alone"
    return NoCommand({ reason, meant: isShown ? meantBy({ info: "bash", text: above }, depth) : tooLong })
  }
  if (!Markdown.isMarkdown(text)) return undefined
  const whole = Markdown.whole(text)
  if (whole !== undefined && whole.text.trim() !== "" && (shells.test(whole.info) || sessions.test(whole.info))) {
    const prompted = strip(whole.text)
    if (prompted !== undefined) {
      return unwrap(prompted, `the Markdown fence around it and the prompt "${of(whole.text)} "`, markdown, depth)
    }
    if (shells.test(whole.info)) return unwrap(whole.text, "the Markdown fence around it", markdown, depth)
  }
  const isPlain = whole !== undefined && sessions.test(whole.info)
  const reason = isPlain ? "no language is given for its Markdown fence; give the command alone" : markdown
  if (text.length > longestShown) return NoCommand({ reason, meant: tooLong })
  const blocks = Markdown.blocks(text)
  if (blocks.length > 1 && whole === undefined) return NoCommand({ reason, meant: meantByAll(blocks, depth) })
  const found = [whole, blocks[0], Markdown.inline(text)].filter((each) => each !== undefined)
  const block = found.find((each) => each.text.trim() !== "") ?? found[0]
  return NoCommand({ reason, meant: block === undefined ? {} : meantBy(block, depth) })
}

/** Returns what several blocks mean one after the other, without those that may be output; where one is not closed, the first. */
const meantByAll = (blocks: ReadonlyArray<Markdown.Block>, depth: number): Readonly<Record<string, unknown>> => {
  const all = blocks.map((block) => meantBy(block, depth)).filter(({ command }) => typeof command === "string")
  const [first = {}] = all
  const commands = all.map(({ command }) => String(command).trim())
  return all.length < 2 || !commands.every(isClosed) ? first : { command: commands.join("\n") }
}

/** Tests whether nothing that follows a command can be taken for a part of it. */
const isClosed = (command: string): boolean => {
  const { tokens } = CommandLine.parse(command)
  const announced = tokens.filter((token) => token._tag === "Operator" && /^\d*<<-?$/.test(token.value))
  const documents = tokens.filter(({ _tag }) => _tag === "HereDocument")
  return (
    announced.length === documents.length &&
    tokens.every((token) => !("closed" in token) || token.closed) &&
    !/[\\|&]$/.test(command)
  )
}

/** The most characters of a text that is taken apart to show what was meant. */
const longestShown = 10_000
const tooLong = { command: "<command>" }

/** Returns what a block probably means; nothing where it may be output, or prose. */
const meantBy = ({ info, text }: Markdown.Block, depth: number): Readonly<Record<string, unknown>> => {
  const [language = ""] = info.split(/\s/)
  const command = text.trim() === "" && !shells.test(language) ? info : text
  if (command.trim() === "") return {}
  const program = interpreters.find(([name]) => name.test(language))?.[1]
  if (program !== undefined) return { command: `${program} ${Quote.hereDocument(`${text}\n`)}` }
  const inner = readAt(command, depth + 1)
  if (inner._tag === "NoCommand") return inner.meant
  return inner._tag === "Wrapped" || shells.test(language) || looksLikeCommands(inner.command)
    ? { command: inner.command }
    : {}
}

const ofPatch = (text: string): CommandText | undefined => {
  const found = PatchText.find(text)
  if (found === undefined) return undefined
  const isShown = found.isWhole && text.length <= longestShown
  return NoCommand({ reason: PatchText.reason, meant: isShown ? { command: PatchText.toCommand(found.patch) } : {} })
}

const ofEntities = (text: string): CommandText | undefined => {
  const found = find(text)
  return found === undefined
    ? undefined
    : NoCommand({
        reason: `${found.entity} is HTML, of which bash would run parts; write the character itself`,
        meant: found.decoded === undefined ? {} : { command: found.decoded }
      })
}

const ofProse = (text: string): CommandText | undefined =>
  isProse(text)
    ? NoCommand({ reason: "it is prose or a quote, of which bash would run parts; give the command alone", meant: {} })
    : undefined

const ofPrompt = (text: string, depth: number): CommandText | undefined => {
  const prompt = of(text)
  if (prompt === undefined) return undefined
  const command = strip(text)
  const reason = `it begins with the prompt "${prompt} ", and not all of its lines are commands`
  return command === undefined
    ? NoCommand({ reason, meant: meantByPrompt(text, depth) })
    : unwrap(command, `the prompt "${prompt} "`, reason, depth)
}

const ofFullScreen = (text: string): CommandText | undefined => {
  const found = FullScreen.find(text)
  return found === undefined
    ? undefined
    : NoCommand({ reason: found.reason, meant: found.instead === undefined ? {} : { command: found.instead } })
}

/** Shows the lines with a prompt; those without one only where they look like commands. */
const meantByPrompt = (text: string, depth: number): Readonly<Record<string, unknown>> => {
  const command = commandsOf(text)
  const isPrompted = command.split("\n").length <= countOf(text)
  return meantBy({ info: isPrompted ? "bash" : "", text: command }, depth)
}

/** Matches the beginning of a JSON object; `{ "a" :` can be a group of bash. */
const jsonObject = /^\s*\{\s*"[\w .-]+":/
const jsonWords = /^\s*\["/

const ofJson = (text: string, depth: number): CommandText | undefined => {
  const first = /\S/.exec(text)?.[0]
  if (first !== "{" && first !== "[") return undefined
  const value = parsed(text)
  if (first === "[") {
    return jsonWords.test(text) && Array.isArray(value)
      ? NoCommand({ reason: "it is a JSON array, not a command line", meant: { command: value } })
      : undefined
  }
  const reason = "it is JSON, not a command line"
  if (!Predicate.isReadonlyRecord(value)) return jsonObject.test(text) ? NoCommand({ reason, meant: {} }) : undefined
  const { command, description: _, ...others } = value
  const isAll = typeof command === "string" && Object.values(others).every((other) => other === null)
  return isAll
    ? unwrap(command, "the JSON around it", reason, depth)
    : NoCommand({ reason, meant: meantByObject(value) })
}

const meantByObject = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const nested = ["arguments", "input", "parameters", "params", "args"].map((name) => value[name])
  const found = [value, ...nested].filter(Predicate.isReadonlyRecord)
  const todos = found.find((each) => Array.isArray(each["todos"]))
  if (todos !== undefined) return { command: FileTool.todoWrite(new Given(todos)) }
  return found.find((each) => "command" in each || "cmd" in each) ?? {}
}

/** Matches the call of the tool, but not the function `bash()`. */
const callForm = /^\s*bash[ \t]*\((?![ \t]*\))/i
/** Matches the tool's name as that of a command; `bash ls` is a command of ours. */
const nameForm = /^\s*Bash(?:\s+(?![\s(])|\s*$)/
const quotedCommand = /^(?:command\s*[=:]\s*)?("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')\s*/

const ofCall = (text: string, depth: number): CommandText | undefined => {
  if (!callForm.test(text) && !nameForm.test(text)) return undefined
  const reason = "it is what bash runs, without the name of the tool around it"
  if (text.length > longestShown) return NoCommand({ reason, meant: tooLong })
  const inner = text.trim().replace(/^Bash\s*\(?\s*/i, "")
  const isClosed = inner.endsWith(")")
  const given = inner.replace(/\)$/, "")
  const object = [given, given.replace(/^'([^']*)'$/, "$1")].map(parsed).find(Predicate.isReadonlyRecord)
  if (object !== undefined) return NoCommand({ reason, meant: meantByObject(object) })
  const [all, quoted] = quotedCommand.exec(inner) ?? []
  if (all === undefined || quoted === undefined) {
    const command = inner
      .replace(/\)$/, "")
      .replace(/^command\s*[=:]\s*/, "")
      .trim()
    return NoCommand({ reason, meant: { command: command.startsWith("-") ? `bash ${command}` : command } })
  }
  const command = parsed(quoted)
  const rest = inner.slice(all.length)
  if (typeof command === "string" && isClosed && rest === ")") {
    return unwrap(command, "the name of the tool around it", reason, depth)
  }
  const [, timeout] = /\btimeout\s*[=:]\s*(\d+)/.exec(rest) ?? []
  return NoCommand({
    reason,
    meant: {
      command: typeof command === "string" ? command : quoted.slice(1, -1).replace(/\\(["'\\])/g, "$1"),
      ...(/\brestart\s*[=:]\s*true/i.test(rest) ? { restart: true } : undefined),
      ...(timeout === undefined ? undefined : { timeout })
    }
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
