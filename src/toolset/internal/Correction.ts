/**
 * Maps the tools of other agents to commands that do the same here, made from the call's arguments. Each row has a call
 * in `test/fixtures/corpus/calls.json`.
 */
import * as Predicate from "effect/Predicate"
import * as Quote from "../../bash/Quote.js"
import * as Advice from "../../domain/Advice.js"
import * as BashArguments from "../BashArguments.js"
import { Given, isShown } from "./Given.js"
import * as PatchText from "./PatchText.js"

export interface Here {
  /** Tests whether a Synapse command with this name is available. */
  readonly offers: (command: string) => boolean
  readonly isOffline: boolean
}

/** Makes a command or a sentence from the arguments. Returns undefined if they hold too little. */
type Template = (given: Given, here: Here) => string | Advice.Advice | undefined

interface Row {
  /** The names of the tools in lower case, letters only. */
  readonly names: string
  readonly command: Template
}

const fileOf = (given: Given): string => given.path("<file>", "filepath", "absolutepath", "targetfile", "path", "file")

const directoryOf = (given: Given): string =>
  given.path(".", "path", "dirpath", "directory", "relativeworkspacepath", "dir")

/** Writes a `read` command; other agents count lines from 1. */
const read = (given: Given): string => {
  const file = fileOf(given)
  const range = rangeOf(given)
  if (range !== undefined) return `read ${file}:${range}`
  const skipped = (given.number("offset") ?? 1) - 1
  const limit = given.number("limit") ?? 0
  return [
    // Without `./`, a file whose name could be a variable's would select bash's own `read`.
    `read ${/^[A-Za-z_]\w*$/.test(file) ? `./${file}` : file}`,
    ...(skipped > 0 ? [`--offset ${skipped}`] : []),
    ...(limit > 0 ? [`--limit ${limit}`] : [])
  ].join(" ")
}

/** Writes a range of lines; `[5, -1]` goes to the end. */
const rangeOf = (given: Given): string | undefined => {
  const range = given.any("viewrange")
  const [first, last] = Array.isArray(range)
    ? range.map((line) => (Number.isSafeInteger(line) ? Number(line) : undefined))
    : []
  const from = first ?? given.number("startline")
  const to = last ?? given.number("endline")
  if (from === undefined && to === undefined) return undefined
  const start = Math.max(from ?? 1, 1)
  return `${start}-${to === undefined || to < start ? "" : to}`
}

/** Writes a command that lists a directory or shows a file. */
const view = (given: Given): string => {
  const file = fileOf(given)
  const mayBeDirectory = rangeOf(given) === undefined && !/^<|\.\w+'?$/.test(file)
  return mayBeDirectory ? `[ -d ${file} ] && ls -la ${file} || ${read(given)}` : read(given)
}

const write = (given: Given): string => {
  const content = given.text("content", "filetext", "contents")
  return content?.endsWith("\n") === true && isShown(content)
    ? `write ${fileOf(given)} ${Quote.hereDocument(content)}`
    : writing(fileOf(given), content)
}

const writing = (file: string, content: string | undefined): string =>
  `write ${content?.startsWith("-") === true ? "-- " : ""}${file} ${quoted(content, "<content>")}`

const quoted = (text: string | undefined, placeholder: string): string =>
  text === undefined || !isShown(text) ? placeholder : Quote.quote(text)

/** Writes an `edit` command; an empty old text makes a new file. */
const edit = (given: Given, file = fileOf(given)): string => {
  const old = given.text("oldstring", "oldstr")
  const replacement = given.text("newstring", "newstr")
  if (old === "") return `[ ! -s ${file} ] && ${writing(file, replacement)}`
  const isDashed = [old, replacement].some((text) => text?.startsWith("-") === true)
  const options = [...(given.flag("replaceall") ? ["--all"] : []), ...(isDashed ? ["--"] : [])]
  return ["edit", ...options, file, quoted(old, "<old>"), quoted(replacement, "<new>")].join(" ")
}

const multiEdit = (given: Given): string => {
  const file = fileOf(given)
  const edits = given.objects("edits").map((each) => edit(each, file))
  return edits.length === 0 ? `edit ${file} <old> <new>` : edits.join(" &&\n")
}

/** Inserts text after a line of a file. sed's `r` can't insert before the first line. */
const insert = (given: Given): string => {
  const file = fileOf(given)
  const line = given.number("insertline") ?? 0
  const text = given.text("inserttext", "newstr")
  if (text === undefined || !isShown(text)) return `sed -i '${line}r <file with the text>' ${file}`
  const lines = Quote.hereDocument(text.endsWith("\n") ? text : `${text}\n`)
  return line === 0
    ? lines.replace("\n", () => ` cat - ${file} | write ${file}\n`)
    : `sed -i '${line}r /dev/stdin' ${file} ${lines}`
}

const editing: Readonly<Record<string, Template>> = {
  create: write,
  insert,
  str_replace: (given) => edit(given),
  view
}

const editor: Template = (given, here) => {
  const command = given.text("command") ?? ""
  return Object.hasOwn(editing, command) ? editing[command]?.(given, here) : undefined
}

const patch: Template = (given) => {
  const found = PatchText.find(typeof given.params === "string" ? given.params : (given.text("input", "patch") ?? ""))
  return found?.isWhole === true && isShown(found.patch)
    ? PatchText.toCommand(found.patch)
    : Advice.line`${Advice.run("edit <file> <old> <new>")} for each change; ${Advice.run("edit --help")} says more`
}

/** Matches regular expressions that `grep -E` reads differently from ripgrep. */
const beyondExtended = /\\[A-Za-z]|\(\?|[*+?}][?+]/

const grep = (given: Given): string => {
  const pattern = given.text("pattern", "query", "regex")
  const mode = given.text("outputmode") ?? "files_with_matches"
  const shows = mode === "content" ? "n" : mode === "count" ? "c" : "l"
  const context = given.number("c", "context")
  const limit = given.number("headlimit") ?? 0
  const names = namesOf(given)
  return [
    `grep -rI${shows}${given.flag("i") ? "i" : ""}${beyondExtended.test(pattern ?? "") ? "P" : "E"}`,
    ...(shows === "n" && context !== undefined ? [`-C ${context}`] : []),
    "--exclude-dir={.git,node_modules}",
    // The sandbox denies reading `.env` files, so the search leaves them out.
    ...(names.length === 0 ? ["--exclude='.env*'"] : names.map((name) => `--include=${Quote.quote(name)}`)),
    ...(pattern?.startsWith("-") === true ? ["-e"] : []),
    quoted(pattern, "<pattern>"),
    directoryOf(given),
    ...(limit > 0 ? [`| head -n ${limit}`] : [])
  ].join(" ")
}

/** Returns patterns for `--include`, which supports neither braces nor directories. */
const namesOf = (given: Given): ReadonlyArray<string> => {
  const type = given.text("type")
  const glob = given.text("glob", "include") ?? ""
  const [, before = "", alternatives = "", after = ""] = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(glob) ?? []
  const globs = alternatives === "" ? [glob] : alternatives.split(",").map((each) => before + each + after)
  return [
    ...(type === undefined ? [] : [`*.${type}`]),
    ...globs.map((each) => each.slice(each.lastIndexOf("/") + 1))
  ].filter((name) => name !== "" && isShown(name))
}

/** Writes a command that prints the files that match a glob, one per line. */
const glob = (given: Given): string => {
  const pattern = given.text("pattern")
  // Escapes every other character that bash would interpret.
  const names =
    pattern === undefined || pattern === "" || !isShown(pattern)
      ? "<pattern>"
      : pattern.replace(/[^\w./*?{},[\]!:@%+-]/gu, (found) => (found === "\n" ? "$'\\n'" : `\\${found}`))
  const directory = directoryOf(given)
  const cd = directory === "." ? "" : `cd ${directory} && `
  return `(${cd}shopt -s globstar nullglob && for f in ${names}; do printf '%s\\n' "$f"; done)`
}

/** Writes a `TodoWrite` command from a todo list or a plan, with only the keys that it accepts. */
export const todoWrite = (given: Given): string => {
  const items = [...given.objects("todos"), ...given.objects("plan")].flatMap((item) => {
    const content = item.text("content", "step") ?? ""
    const status = item.text("status") ?? "pending"
    return status === "cancelled" ? [] : [{ content, activeForm: item.text("activeform") ?? content, status }]
  })
  const json = JSON.stringify({ todos: items })
  return isShown(json) ? `TodoWrite ${Quote.quote(json)}` : "TodoWrite <json>"
}

const shell: Template = (given) => {
  const line = BashArguments.toCommand(given.any("command", "cmd"))
  const directory = given.text("workdir", "cwd", "directory") ?? ""
  if (line === undefined) return undefined
  const there = directory === "" ? line : BashArguments.inDirectory(directory, line)
  const run = Advice.run(given.flag("isbackground", "runinbackground") ? BashArguments.inBackground(there) : there)
  const timeout = given.number("timeoutms", "timeout")
  return timeout === undefined ? [run] : Advice.line`${run}, with timeout=${`${timeout}`}`
}

const python: Template = (given) => {
  const code = typeof given.params === "string" ? given.params : given.text("code", "script", "input")
  return code === undefined || code.trim() === "" || !isShown(code)
    ? "python3 - <<'EOF'\n<code>\nEOF"
    : `python3 - ${Quote.hereDocument(`${code.replace(/\n$/, "")}\n`)}`
}

/** Writes the command of a sub-agent. */
const task = (given: Given, { offers }: Here): string | Advice.Advice => {
  const asked = (given.text("subagenttype", "type", "agent") ?? "general").trim().toLowerCase()
  const type = asked === "explore" || asked === "plan" ? "explore" : /^[\w.+]+$/.test(asked) ? asked : "general"
  const line = `task:${type} --prompt ${given.word("<prompt>", "prompt", "message", "task")} --description ${given.word("<words>", "description", "title")}`
  return offers(`task:${type}`) ? line : Advice.line`there are no sub-agents: do the task yourself, with Bash`
}

const skill: Template = (given, { offers }) => {
  if (!offers("skill:load")) return undefined
  const name = given.text("skill", "name", "command")
  return name === undefined ? "skill:list" : `skill:load ${isShown(name) ? Quote.word(name) : "<name>"}`
}

const job =
  (verb: string, does: string): Template =>
  (given) => {
    const number = given.number("operand")
    return number === undefined
      ? Advice.line`${Advice.run("job:list")} lists the jobs, and job:${verb} N ${does}`
      : `job:${verb} ${number}`
  }

const onThisMachine = /^(?:https?:\/\/)?(?:localhost|127\.[\d.]+|\[::1\])(?:[:/?#]|$)/i
const offline = () => Advice.line`the sandbox has no network`

const lack =
  (sentence: string): Template =>
  () => [sentence]

export const rows: ReadonlyArray<Row> = [
  { names: "read readfile viewfile", command: read },
  { names: "view", command: view },
  { names: "write writefile createfile", command: write },
  {
    names: "edit editfile replace strreplace",
    command: (given) => edit(given)
  },
  { names: "multiedit", command: multiEdit },
  { names: "strreplacebasededittool strreplaceeditor", command: editor },
  { names: "applypatch patch", command: patch },
  { names: "grep rg grepsearch searchfilecontent", command: grep },
  { names: "glob", command: glob },
  {
    names: "ls list listdir listdirectory listfiles",
    command: (given) => `ls -la ${directoryOf(given)}`
  },
  { names: "todowrite updateplan", command: todoWrite },
  { names: "todoread", command: (_, { offers }) => (offers("TodoWrite") ? "TodoWrite --show" : undefined) },
  {
    names: "webfetch",
    command: (given, { isOffline }) =>
      isOffline && !onThisMachine.test(given.text("url") ?? "") ? offline() : `curl -sSL ${given.word("<url>", "url")}`
  },
  { names: "websearch", command: lack("there is no tool that searches the web") },
  { names: "task agent", command: task },
  { names: "skill", command: skill },
  { names: "bashoutput taskoutput", command: job("output", "prints what is new of one") },
  { names: "killshell killbash", command: job("stop", "ends one") },
  {
    names: "shell containerexec execcommand executecommand runshellcommand runterminalcmd",
    command: shell
  },
  { names: "python ipython", command: python },
  { names: "askuserquestion", command: lack("there is no tool that asks the user; ask in your answer") },
  { names: "enterplanmode exitplanmode", command: lack("there is no tool for plans; give the plan as your answer") },
  {
    names: "notebookedit notebookread",
    command: lack("there is no tool for notebooks; a notebook is a JSON file, which any program can change")
  }
]

const byName: ReadonlyMap<string, Row> = new Map(
  rows.flatMap((row) => row.names.split(" ").map((name): [string, Row] => [name, row]))
)

const rowOf = (name: string): Row | undefined => {
  const plain = name
    .replace(/^functions\./, "")
    .toLowerCase()
    .replace(/[^a-z]/g, "")
  return byName.get(plain)
}

/** Matches `mcp__<server>__<tool>`; a server name has no `__`. */
const mcpName = /^mcp__((?:(?!__)[\w.-])+)__([\w.-]+)$/

/** Converts `mcp__<server>__<tool>` to the Synapse name of the MCP tool. */
export const mcpNameOf = (name: string): string | undefined => {
  const [, server, tool] = mcpName.exec(name) ?? []
  return server === undefined ? undefined : `mcp:${server}:${tool}`
}

const mcp = (command: string, { params }: Given): string => {
  if (!Predicate.isReadonlyRecord(params)) return `${command} --json '{…}'`
  const json = JSON.stringify(params)
  return json === "{}" ? command : `${command} --json ${isShown(json) ? Quote.word(json) : "'{…}'"}`
}

/** Matches likely names of tools that run a command line. */
const shellLike = /shell|bash|terminal|command|(?:^|_)(?:run|exec|execute)(?:_|$)/i

/**
 * Advises what to do instead of calling another agent's tool. Returns undefined for an unknown tool.
 *
 * @param params the arguments, or their text if it is not JSON
 */
export const advise = (name: string, params: unknown, here: Here): Advice.Advice | undefined => {
  const given = new Given(params)
  const tool = here.offers("mcp:") ? mcpNameOf(name) : undefined
  const template = rowOf(name)?.command ?? (shellLike.test(name) ? shell : undefined)
  const found = tool === undefined ? template?.(given, here) : mcp(tool, given)
  return typeof found === "string" ? [Advice.run(found)] : found
}

/** Lower-case tool names that are not program names. */
const lowerCase = new Set(["applypatch", "glob", "list", "multiedit", "shell", "todoread", "todowrite", "webfetch"])

/** Tests whether a command that bash did not find is the name of another agent's tool. */
export const isTool = (name: string): boolean =>
  (/[A-Z_]/.test(name) || lowerCase.has(name)) && (rowOf(name) !== undefined || mcpName.test(name))
