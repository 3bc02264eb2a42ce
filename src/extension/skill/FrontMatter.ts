/**
 * Reads the front matter of a `SKILL.md`: the lines between two `---` at its beginning. Much published front matter is
 * not valid YAML (`description: Use when: …`), so a YAML parser would reject it.
 */

/** The fields of a front matter, and the text below it. */
export interface FrontMatter {
  /** The values by key. List items are joined by commas. */
  readonly fields: ReadonlyMap<string, string>
  readonly text: string
  readonly problem?: string
}

const longest = 8 * 1024

const fence = /^---[ \t]*$/
const end = /^(?:---|\.\.\.)[ \t]*$/

export const read = (markdown: string): FrontMatter => {
  const { matter, problem, text } = split(markdown.replace(/^\ufeff/, ""))
  const none = new Map<string, string>()
  if (matter === undefined)
    return { fields: none, text, problem: "it has no front matter, so that it has no description" }
  if (matter.length > longest) {
    return { fields: none, text, problem: `its front matter is longer than ${longest} characters, and was not read` }
  }
  return { fields: fieldsOf(matter), text, ...(problem === undefined ? undefined : { problem }) }
}

interface Parts {
  readonly matter: string | undefined
  readonly text: string
  readonly problem?: string
}

const split = (markdown: string): Parts => {
  let at = 0
  const next = (): string | undefined => {
    if (at >= markdown.length) return undefined
    const newline = markdown.indexOf("\n", at)
    const line = markdown.slice(at, newline < 0 ? undefined : newline).replace(/\r$/, "")
    at = newline < 0 ? markdown.length : newline + 1
    return line
  }
  let line = next()
  while (line !== undefined && line.trim() === "") line = next()
  if (line === undefined || !fence.test(line)) return { matter: undefined, text: markdown }
  const lines: Array<string> = []
  // An unclosed front matter ends before the first line that can't belong to it.
  let open: { readonly at: number; readonly count: number } | undefined
  for (let begin = at; ; begin = at) {
    line = next()
    if (line === undefined) break
    if (end.test(line)) return { matter: lines.join("\n"), text: markdown.slice(at).replace(/^(?:[ \t]*\r?\n)+/, "") }
    const isComment = line.startsWith("#") && lines.at(-1)?.trim() !== ""
    if (open === undefined && !isComment && !/^(?:[ \t]|[\w.-]+[ \t]*:|- |$)/.test(line))
      open = { at: begin, count: lines.length }
    lines.push(line)
  }
  return {
    matter: lines.slice(0, open?.count).join("\n"),
    text: open === undefined ? "" : markdown.slice(open.at),
    problem: "its front matter does not end with a line ---"
  }
}

const field = /^["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?:[ \t]+([\s\S]*))?$/
const block = /^([|>])[-+\d]*[ \t]*(?:#.*)?$/

/** Everything after a line's first colon belongs to its key, and so do the indented lines below. */
const fieldsOf = (matter: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  const lines = matter.split("\n")
  for (let at = 0; at < lines.length; ) {
    const [, key, first = ""] = field.exec(lines[at++] ?? "") ?? []
    if (key === undefined) continue
    const more: Array<string> = []
    while (at < lines.length && /^(?:[ \t]|- |$)/.test(lines[at] ?? "")) more.push(lines[at++] ?? "")
    while (more.at(-1)?.trim() === "") more.pop()
    fields.set(key, valueOf(first.trim(), more))
  }
  return fields
}

const valueOf = (first: string, more: ReadonlyArray<string>): string => {
  const style = block.exec(first)?.[1]
  const rest = more.map((line) => line.trim())
  if (style === "|") {
    const filled = more.filter((line) => line.trim() !== "")
    const indent = Math.min(...filled.map((line) => line.length - line.trimStart().length))
    return more.map((line) => line.slice(indent)).join("\n")
  }
  const items = rest.filter((line) => line !== "" && !line.startsWith("#"))
  if (plain(first) === "" && items.length > 0 && items.every((line) => line.startsWith("- ")))
    return items.map((line) => plain(line.slice(2).trim())).join(", ")
  const folded = (style === ">" ? rest : [first, ...rest])
    .map((line) => (line === "" ? "\n" : line))
    .join(" ")
    .replace(/ ?\n ?/g, "\n")
    .trim()
  if (style === ">") return folded
  const list = /^\[([^[\]]*)\][ \t]*(?:#.*)?$/.exec(folded)?.[1]
  return list === undefined
    ? plain(folded)
    : list
        .split(",")
        .map((item) => plain(item.trim()))
        .join(", ")
}

const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", e: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** Removes a value's quotes, or the comment behind it. */
const plain = (value: string): string => {
  const [, quote, quoted] = /^(["'])([\s\S]*)\1[ \t]*(?:#.*)?$/.exec(value) ?? []
  if (quoted === undefined) return value.startsWith("#") ? "" : value.replace(/[ \t]#.*$/s, "").trim()
  if (quote === "'") return quoted.replaceAll("''", "'")
  return quoted.replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|([\s\S]))/g, (_, long, short, letter) =>
    letter === undefined ? String.fromCharCode(Number.parseInt(long ?? short, 16)) : (escapes[letter] ?? letter)
  )
}
