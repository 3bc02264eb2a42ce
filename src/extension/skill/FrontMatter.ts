/** Reads the front matter of a `SKILL.md`: the YAML between two lines `---` at its beginning, as people write it. */
import type * as Yaml from "yaml"

/** The fields of a front matter, and the text below it. */
export interface FrontMatter {
  /** The values that are texts, or lists of texts, by their keys. */
  readonly fields: ReadonlyMap<string, string>
  /** The text below the front matter, as it is. */
  readonly text: string
  /** What is wrong with it. */
  readonly problem?: string
}

/** The part of the package `yaml` that is used; it is loaded where it is first needed. */
export type Parser = Pick<typeof Yaml, "parseDocument">

/** The most characters of a front matter: parsing takes longer than its length tells. */
const longest = 8 * 1024
/** The most values that an alias may stand for, as `yaml` counts them. */
const mostAliases = 20
/** The most lists and objects in brackets: the parser takes long to give up on what is nested too deeply. */
const mostBrackets = 200

const fence = /^---[ \t]*$/
const end = /^(?:---|\.\.\.)[ \t]*$/

/** Reads a `SKILL.md`. What is not valid YAML is read line by line, and so is all of it where there is no parser. */
export const read = (markdown: string, parser: Parser | undefined): FrontMatter => {
  const { matter, problem, text } = split(markdown.replace(/^\ufeff/, ""))
  const none = new Map<string, string>()
  if (matter === undefined)
    return { fields: none, text, problem: "it has no front matter, so that it has no description" }
  if (matter.length > longest) {
    return { fields: none, text, problem: `its front matter is longer than ${longest} characters, and was not read` }
  }
  const given = (fields: ReadonlyMap<string, string>, problem?: string) => ({
    fields,
    text,
    ...(problem === undefined ? undefined : { problem })
  })
  if (parser === undefined || problem !== undefined || matter.split(/[[{]/).length > mostBrackets)
    return given(byLines(matter), problem)
  try {
    const document = parser.parseDocument(matter, {
      // Every value is the text that its author wrote: a version `1.0`, a description `yes`.
      schema: "failsafe",
      uniqueKeys: false,
      logLevel: "silent",
      prettyErrors: false
    })
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: mostAliases })
    if (document.errors.length === 0 && value instanceof Map) return given(textsOf(value))
  } catch {
    // It refers to itself too often, or is nested too deeply.
  }
  return given(byLines(matter), "its front matter is not valid YAML, and was read line by line")
}

interface Parts {
  /** Undefined where there is none. */
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
  // Where it does not end, it ends before what can't be a part of it.
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

const textsOf = (value: ReadonlyMap<unknown, unknown>): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  for (const [key, one] of value) {
    const text = Array.isArray(one) && one.every((each) => typeof each === "string") ? one.join(", ") : one
    if (typeof key === "string" && typeof text === "string") fields.set(key, text.trim())
  }
  return fields
}

const field = /^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$/
const block = /^([|>])[-+\d]*[ \t]*(?:#.*)?$/

/**
 * Reads the fields of a front matter line by line: whatever stands behind the first colon of a line belongs to its key,
 * and so do the indented lines below it.
 */
export const byLines = (matter: string): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  const lines = matter.split("\n")
  for (let at = 0; at < lines.length; ) {
    const [, key, first = ""] = field.exec(lines[at++] ?? "") ?? []
    if (key === undefined) continue
    const more: Array<string> = []
    while (at < lines.length && /^(?:[ \t]|$)/.test(lines[at] ?? "")) more.push(lines[at++] ?? "")
    while (more.at(-1)?.trim() === "") more.pop()
    fields.set(key, valueOf(first.trim(), more))
  }
  return fields
}

const valueOf = (first: string, more: ReadonlyArray<string>): string => {
  const style = block.exec(first)?.[1]
  const indent = Math.min(
    ...more.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  )
  if (style === "|") return more.map((line) => line.slice(indent)).join("\n")
  const rest = more.map((line) => line.trim())
  const lines = style === ">" ? rest : [first, ...rest]
  const folded = lines
    .map((line) => (line === "" ? "\n" : line))
    .join(" ")
    .replace(/ ?\n ?/g, "\n")
    .trim()
  if (style === ">") return folded
  const [, quote, quoted] = /^(["'])([\s\S]*)\1[ \t]*(?:#.*)?$/.exec(folded) ?? []
  if (quoted === undefined) return folded.startsWith("#") ? "" : folded.replace(/[ \t]#.*$/s, "").trim()
  return quote === "'" ? quoted.replaceAll("''", "'") : quoted.replace(/\\(["\\/ ])/g, "$1").replaceAll("\\n", "\n")
}
