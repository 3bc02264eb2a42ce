/**
 * Matches rules' wildcards in JavaScript: those that `GlobPattern` parses, and `{a,b}` for alternatives. Parentheses
 * have no special meaning.
 *
 * @since 0.1.0
 */
import { type Member, type Part, type Piece, parseName, parsePath } from "./GlobPattern.js"

/** Matches the characters that `escape` escapes. */
const special = /[\\*?[\]{}(,$]|^[~!\s]|\s$/g

/**
 * Escapes a text, so that no character is read as a wildcard, a `~` or a variable.
 *
 * @since 0.1.0
 * @category escaping
 */
export const escape = (text: string): string => text.replace(special, "\\$&")

/**
 * Removes the escapes from a text without wildcards.
 *
 * @since 0.1.0
 * @category escaping
 */
export const unescape = (text: string): string => text.replace(/\\(.)/gsu, "$1")

/**
 * Tests whether a pattern has an unescaped wildcard. Alternatives do not count: expand them first with `expandBraces`.
 *
 * @since 0.1.0
 * @category parsing
 */
export const hasWildcard = (pattern: string): boolean =>
  /[*?[]/.test(pattern) && parseName(pattern).some(({ _tag }) => _tag !== "Literal")

/**
 * Returns the positions of the brace at `start`, its commas and its closing brace; undefined if bash sees no
 * alternatives.
 */
const bracesAt = (pattern: string, start: number): ReadonlyArray<number> | undefined => {
  if (pattern[start] !== "{") return undefined
  const cuts = [start]
  let depth = 0
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === "\\") at++
    else if (char === "{") depth++
    else if (char === "," && depth === 1) cuts.push(at)
    else if (char === "}" && --depth === 0) return cuts.length > 1 ? [...cuts, at] : undefined
  }
  return undefined
}

/**
 * Expands alternatives into all patterns, in order; undefined if there are more than `limit`.
 *
 * @since 0.1.0
 * @category parsing
 */
export const expandBraces = (pattern: string, limit: number): ReadonlyArray<string> | undefined => {
  const done: Array<string> = []
  // Everything before `from` is already expanded.
  const open = [{ text: pattern, from: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (done.length + open.length >= limit) return undefined
    const { from, text } = next
    let at = from
    let cuts = bracesAt(text, at)
    while (cuts === undefined && at < text.length) {
      at += text[at] === "\\" ? 2 : 1
      cuts = bracesAt(text, at)
    }
    if (cuts === undefined) {
      done.push(text)
      continue
    }
    const rest = text.slice((cuts.at(-1) ?? at) + 1)
    const alternatives = cuts.slice(0, -1).map((cut, index) => text.slice(cut + 1, cuts[index + 1]))
    for (const alternative of alternatives.reverse())
      open.push({ text: text.slice(0, at) + alternative + rest, from: at })
  }
  return done
}

/** The Unicode properties of bash's character classes in a UTF-8 locale. */
const classes: Readonly<Record<string, string>> = {
  alnum: "\\p{Alphabetic}\\p{Nd}",
  alpha: "\\p{Alphabetic}",
  blank: " \\t",
  cntrl: "\\p{Cc}",
  digit: "0-9",
  graph: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}",
  lower: "\\p{Lowercase}",
  print: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}",
  punct: "\\p{P}\\p{S}",
  space: " \\t-\\r",
  upper: "\\p{Uppercase}",
  xdigit: "0-9A-Fa-f"
}

const classChar = (char: string): string => char.replace(/[\\^\]\-[]/u, "\\$&")

const printMember = (member: Member): string => {
  switch (member._tag) {
    case "Single":
      return classChar(member.char)
    case "Range":
      return `${classChar(member.from)}-${classChar(member.to)}`
    case "Named":
      return classes[member.name] ?? ""
  }
}

const printPiece = (piece: Exclude<Piece, { _tag: "AnyText" }>): string => {
  switch (piece._tag) {
    case "Literal":
      return piece.text.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&")
    case "AnyCharacter":
      return "[^/]"
    case "Brackets": {
      const set = piece.members.map(printMember).join("")
      return piece.negated ? `[^/${set}]` : `(?!\\/)[${set}]`
    }
  }
}

/**
 * Makes an expression that takes the first match of `source` and never backtracks into it. Without this, a pattern with
 * many stars could take forever on a name that a model has chosen.
 */
type Once = (source: string) => string

const makeOnce = (): Once => {
  let groups = 0
  return (source) => `(?=(?<g${++groups}>${source}))\\k<g${groups}>`
}

/** Prints the expression for one name of a path, up to its end. */
const printName = (pieces: ReadonlyArray<Piece>, once: Once): string => {
  // The expressions between stars.
  const chunks = [""]
  for (const piece of pieces) {
    if (piece._tag === "AnyText") chunks.push("")
    else chunks.push(`${chunks.pop()}${printPiece(piece)}`)
  }
  const [first = "", ...others] = chunks
  const last = others.pop()
  const middle = others.map((chunk) => once(`[^/]*?${chunk}`)).join("")
  return `${first}${middle}${last === undefined ? "" : `[^/]*${last}`}(?=\\/|$)`
}

const printPath = (parts: ReadonlyArray<Part>, once: Once): string => {
  // The expressions between `**`; each name includes its leading slash.
  const runs = [""]
  for (const part of parts) {
    if (part._tag === "AnyDirectories") runs.push("")
    else runs.push(`${runs.pop()}\\/${printName(part.pieces, once)}`)
  }
  return runs.map((run, at) => (at === 0 ? run : once(`(?:\\/[^/]+)*?${run}`))).join("")
}

const flags = (ignoreCase: boolean) => (ignoreCase ? "isu" : "su")

/**
 * Compiles absolute patterns without alternatives into an expression for the absolute paths that they match. The
 * expression also matches everything below those paths, unless it is for files only. Matching takes time proportional
 * to the path's length. Throws SyntaxError for a reversed range.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compile = (patterns: ReadonlyArray<string>, ignoreCase: boolean, isForFiles = false): RegExp => {
  const once = makeOnce()
  const end = isForFiles ? "$" : "(?:\\/|$)"
  return new RegExp(
    `^(?:${patterns.map((pattern) => printPath(parsePath(pattern), once)).join("|")})${end}`,
    flags(ignoreCase)
  )
}

/**
 * Compiles patterns into an expression for names without slashes.
 *
 * @since 0.1.0
 * @category compiling
 */
export const compileNames = (patterns: ReadonlyArray<string>, ignoreCase: boolean): RegExp => {
  const once = makeOnce()
  return new RegExp(
    `^(?:${patterns.map((pattern) => printName(parseName(pattern), once)).join("|")})$`,
    flags(ignoreCase)
  )
}
