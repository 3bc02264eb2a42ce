/** Writes the calls of other agents' tools for files and for todos as command lines of ours. */
import * as Quote from "../../bash/Quote.js"
import { Given, isShown } from "./ForeignTool.given.js"

const fileOf = (given: Given): string =>
  given.path("<file>", "filepath", "absolutepath", "targetfile", "path", "file", "filename")

/** Writes `Read`, which counts lines from 1. */
export const read = (given: Given): string => {
  const file = fileOf(given)
  const range = rangeOf(given)
  if (range !== undefined) return `read ${file}:${range}`
  const skipped = (given.number("offset") ?? 1) - 1
  const limit = given.number("limit") ?? 0
  return [
    // A name that a variable could have is bash's own `read`.
    `read ${/^[A-Za-z_]\w*$/.test(file) ? `./${file}` : file}`,
    ...(skipped > 0 ? [`--offset ${skipped}`] : []),
    ...(limit > 0 ? [`--limit ${limit}`] : [])
  ].join(" ")
}

/** Writes `read_many_files`, for paths without patterns. */
export const readMany = (given: Given): string => {
  const paths = given.any("paths", "files", "include")
  const files = Array.isArray(paths) ? paths.filter((path) => typeof path === "string" && isShown(path)) : []
  return files.length === 0 || files.some((path) => /[*?[]/.test(path))
    ? "read <file>"
    : `read ${files.map(wordOf).join(" ")}`
}

/** Writes `delete_file`. */
export const remove = (given: Given): string => `rm ${fileOf(given)}`

/** Writes `view`, which lists a directory as well. */
export const view = (given: Given): string => {
  const file = fileOf(given)
  const mayBeDirectory = rangeOf(given) === undefined && !/^<|\.\w+'?$/.test(file)
  return mayBeDirectory ? `[ -d ${file} ] && ls -la ${file} || ${read(given)}` : read(given)
}

/** Returns the lines from a first to a last one, which others name in many ways; `[5, -1]` goes to the end. */
const rangeOf = (given: Given): string | undefined => {
  const range = given.any("viewrange", "linerange", "range")
  const pair: ReadonlyArray<unknown> = Array.isArray(range) ? range : []
  const [first, last] = pair.map((line) => (Number.isSafeInteger(line) ? (line as number) : undefined))
  const from = first ?? given.number("startline", "startlineoneindexed", "linestart", "startlinenumber")
  const to = last ?? given.number("endline", "endlineoneindexedinclusive", "lineend", "endlinenumber")
  if (from === undefined && to === undefined) return undefined
  const start = Math.max(from ?? 1, 1)
  return `${start}-${to === undefined || to < start ? "" : to}`
}

/**
 * Writes the calls of the editor whose `command` says what to do: view, create, str_replace or insert; undefined for any
 * other.
 */
export const editor = (given: Given): string | undefined => {
  switch (given.text("command")) {
    case "view":
      return view(given)
    case "create":
      return write(given)
    case "str_replace":
      return edit(given)
    case "insert":
      return insert(given)
    default:
      return undefined
  }
}

/** Writes lines behind a line of a file; before the first one, `r` of sed can't. */
const insert = (given: Given): string => {
  const file = fileOf(given)
  const line = given.number("insertline", "line") ?? 0
  const text = given.text("inserttext", "newstr", "text")
  if (text === undefined || !isShown(text)) return `sed -i '${line}r <file with the text>' ${file}`
  const lines = Quote.hereDocument(text.endsWith("\n") ? text : `${text}\n`)
  return line === 0
    ? lines.replace("\n", () => ` cat - ${file} | write ${file}\n`)
    : `sed -i '${line}r /dev/stdin' ${file} ${lines}`
}

/** Writes `Write`, byte for byte. */
export const write = (given: Given): string => {
  const file = fileOf(given)
  const content = given.text("content", "filetext", "contents")
  return content?.endsWith("\n") === true && isShown(content)
    ? `write ${file} ${Quote.hereDocument(content)}`
    : writing(file, content)
}

const writing = (file: string, content: string | undefined): string =>
  `write ${content?.startsWith("-") === true ? "-- " : ""}${file} ${shown(content, "<content>")}`

/** Writes `Edit`. One without an old text makes a file that is not there yet. */
export const edit = (given: Given): string => editOf(fileOf(given), given)

const editOf = (file: string, given: Given): string => {
  const old = given.text("oldstring", "oldstr", "oldtext")
  const replacement = given.text("newstring", "newstr", "newtext")
  if (old === "") return `[ ! -s ${file} ] && ${writing(file, replacement)}`
  const texts = [shown(old, "<old>"), shown(replacement, "<new>")]
  const isDashed = [old, replacement].some((text) => text?.startsWith("-") === true)
  return ["edit", ...(given.flag("replaceall") ? ["--all"] : []), ...(isDashed ? ["--"] : []), file, ...texts].join(" ")
}

const shown = (text: string | undefined, placeholder: string): string =>
  text === undefined || !isShown(text) ? placeholder : Quote.quote(text)

/** Writes `MultiEdit`: one `edit` after the other, each only where the one before it has succeeded. */
export const multiEdit = (given: Given): string => {
  const file = fileOf(given)
  const edits = given.objects("edits").map((each) => editOf(file, each))
  return edits.length === 0 ? `edit ${file} <old> <new>` : edits.join(" &&\n")
}

const block =
  /^(?:<{5,9}|-{5,9}) ?SEARCH.*\n(?:(?::start_line:.*\n)?-{7}\n)?([\s\S]*?)^={5,9}\n([\s\S]*?)^(?:>{5,9}|\+{5,9}) ?REPLACE/gm

/** Writes `replace_in_file`, whose text holds blocks of what is searched and what takes its place. */
export const searchAndReplace = (given: Given): string => {
  const file = fileOf(given)
  const blocks = [...(given.text("diff", "content") ?? "").matchAll(block)]
  if (blocks.some(([, old]) => old === "")) return `edit ${file} <old> <new>`
  const edits = blocks.map(([, old, replacement]) => editOf(file, new Given({ old_str: old, new_str: replacement })))
  return edits.length === 0 ? `edit ${file} <old> <new>` : edits.join(" &&\n")
}

/** Writes the list of `TodoWrite`, or of a plan, with the keys that ours has and no others. */
export const todoWrite = (given: Given): string => {
  const items = [...given.objects("todos"), ...given.objects("plan")].flatMap((item) => {
    const content = item.text("content", "step") ?? ""
    const status = item.text("status") ?? "pending"
    return status === "cancelled" ? [] : [{ content, activeForm: item.text("activeform") ?? content, status }]
  })
  const json = JSON.stringify({ todos: items })
  return isShown(json) ? `TodoWrite ${Quote.quote(json)}` : "TodoWrite <json>"
}

/**
 * Writes `apply_patch` as one command for each change, in the order of the patch; undefined where the text is none, or
 * has changes that need more than its text.
 *
 * @param takesPatches true where our `edit` takes the patch as it is
 */
export const patch = (given: Given, takesPatches: boolean): string | undefined => {
  const text = typeof given.params === "string" ? given.params : given.text("input", "patch", "patchtext")
  const [, body] = /\*\*\* Begin Patch\n([\s\S]*?)\n\*\*\* End Patch/.exec(text ?? "") ?? []
  if (body === undefined || !isShown(body)) return undefined
  if (takesPatches) return `edit --patch ${Quote.hereDocument(`*** Begin Patch\n${body}\n*** End Patch\n`)}`
  const commands = body.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m).map(sectionOf)
  return commands.includes(undefined) ? undefined : commands.join(" &&\n")
}

const sectionOf = (section: string): string | undefined => {
  const [, kind, name = ""] = /^\*\*\* (Add|Update|Delete) File: (.+)/.exec(section) ?? []
  const file = wordOf(name)
  const [, ...lines] = section.replace(/\n$/, "").split("\n")
  if (kind === "Delete") return `rm ${file}`
  if (kind === "Add") return writing(file, textOf(lines))
  const target = /^\*\*\* Move to: (.+)/.exec(lines[0] ?? "")?.[1]
  const edits = editsOf(file, target === undefined ? lines : lines.slice(1))
  if (kind === undefined || edits === undefined) return undefined
  return [...edits, ...(target === undefined ? [] : [`mv ${file} ${wordOf(target)}`])].join(" &&\n")
}

const wordOf = (path: string): string => Quote.word(path.startsWith("-") ? `./${path}` : path)

const textOf = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line.slice(1)}\n`).join("")

/** Writes the hunks of a file; undefined where one has no old lines to find its place by. */
const editsOf = (file: string, lines: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const hunks: Array<Array<string>> = []
  for (const line of lines) {
    if (line.startsWith("@@") || hunks.length === 0) hunks.push([])
    if (/^[ +-]|^$/.test(line)) hunks.at(-1)?.push(line)
  }
  const edits = hunks.map((hunk) => [
    textOf(hunk.filter((line) => !line.startsWith("+"))),
    textOf(hunk.filter((line) => !line.startsWith("-")))
  ])
  if (edits.some(([old]) => old === "")) return undefined
  return edits.map(
    (texts) =>
      `edit ${texts.some((text) => text.startsWith("-")) ? "-- " : ""}${file} ${texts.map(Quote.quote).join(" ")}`
  )
}
