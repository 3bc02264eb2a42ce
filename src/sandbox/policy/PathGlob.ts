/**
 * The wildcards of a rule: `*` and `?` stay within a name, `**` as a whole name stands for any number of directories,
 * `[a-z]` and `[!a-z]` for one character, `{a,b}` for alternatives, and a backslash takes its meaning from what follows
 * it. Names that begin with a dot are like any other. Nothing else means anything, parentheses least of all.
 *
 * @since 0.1.0
 */

/** What a backslash is for. */
const special = /[\\*?[\]{}(,$]|^[~!\s]|\s$/g

/**
 * The text whose only meaning is itself: neither wildcards nor `~` nor variables are seen in it.
 *
 * @since 0.1.0
 */
export const escape = (text: string): string => text.replace(special, "\\$&")

/**
 * The opposite of `escape`: what a text without wildcards stands for.
 *
 * @since 0.1.0
 */
export const unescape = (text: string): string => text.replace(/\\(.)/gsu, "$1")

/** What comes first, after the negation, does not close them. */
const bracket = /^\[(?:[!^]|(?![!^]))(?:\]|(?!\]))(?:\\.|\[:[a-z]+:\]|[^\]\\/])*\]/su

/**
 * Whether it has a wildcard that is not escaped. Alternatives are none: `expandBraces` comes first.
 *
 * @since 0.1.0
 */
export const hasWildcard = (pattern: string): boolean => {
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === "\\") at++
    else if (char === "*" || char === "?") return true
    else if (char === "[" && bracket.test(pattern.slice(at))) return true
  }
  return false
}

/** Where the braces that open at `start` begin, are cut by commas, and end; undefined where bash sees no alternatives. */
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
 * The patterns that the alternatives stand for, in order; undefined where there are more than `limit`.
 *
 * @since 0.1.0
 */
export const expandBraces = (pattern: string, limit: number): ReadonlyArray<string> | undefined => {
  const done: Array<string> = []
  // Before `from` there is nothing left to expand.
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

/** The properties that bash's classes have in a UTF-8 locale. */
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

/** A bracket expression as a regular expression's class, which never matches a slash. */
const toClass = (text: string): string => {
  const negated = /^\[[!^]/.test(text)
  const parts = Array.from(
    text.slice(negated ? 2 : 1, -1).matchAll(/\[:([a-z]+):\]|\\(.)|(.)/gsu),
    ([part, name, escaped, char]) => {
      if (name !== undefined) return classes[name] ?? ""
      return char === "-" ? "-" : (escaped ?? char ?? part).replace(/[\\^\]\-[]/u, "\\$&")
    }
  )
  // A dash at the beginning or at the end is one of the characters.
  const set = parts.map((part, at) => (part === "-" && (at === 0 || at === parts.length - 1) ? "\\-" : part)).join("")
  return negated ? `[^/${set}]` : `(?!\\/)[${set}]`
}

/**
 * Takes the first fit of `source` and never goes back on it, which is all that a search for wildcards needs: without this,
 * a pattern with many stars would take a name, which a model may choose, for ever.
 */
type Once = (source: string) => string

const makeOnce = (): Once => {
  let groups = 0
  return (source) => `(?=(?<g${++groups}>${source}))\\k<g${groups}>`
}

/** One name of a path, to its end. */
const nameSource = (name: string, once: Once): string => {
  // What stands between the stars.
  const chunks = [""]
  for (let rest = name; rest !== ""; ) {
    const [stars = ""] = /^\*+/.exec(rest) ?? []
    const [brackets = ""] = bracket.exec(rest) ?? []
    const [char = ""] = /^(?:\\.|.)/su.exec(rest) ?? []
    if (stars !== "") chunks.push("")
    else if (brackets !== "") chunks.push(`${chunks.pop()}${toClass(brackets)}`)
    else if (char === "?") chunks.push(`${chunks.pop()}[^/]`)
    else chunks.push(`${chunks.pop()}${unescape(char).replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&")}`)
    rest = rest.slice((stars || brackets || char).length)
  }
  const [first = "", ...others] = chunks
  const last = others.pop()
  const middle = others.map((chunk) => once(`[^/]*?${chunk}`)).join("")
  return `${first}${middle}${last === undefined ? "" : `[^/]*${last}`}(?=\\/|$)`
}

const pathSource = (pattern: string, once: Once): string => {
  // What stands between the `**`, each name with the slash before it.
  const parts = [""]
  for (const name of pattern.slice(1).split("/")) {
    if (name === "**") parts.push("")
    else parts.push(`${parts.pop()}\\/${nameSource(name, once)}`)
  }
  return parts.map((part, at) => (at === 0 ? part : once(`(?:\\/[^/]+)*?${part}`))).join("")
}

const flags = (ignoreCase: boolean) => (ignoreCase ? "isu" : "su")

/**
 * Matches the absolute paths that one of the patterns matches, and all that lies below them. The patterns are absolute,
 * without alternatives; throws SyntaxError where the ends of a range are the wrong way round.
 *
 * @since 0.1.0
 */
export const compile = (patterns: ReadonlyArray<string>, ignoreCase: boolean): RegExp => {
  const once = makeOnce()
  return new RegExp(
    `^(?:${patterns.map((pattern) => pathSource(pattern, once)).join("|")})(?:\\/|$)`,
    flags(ignoreCase)
  )
}

/**
 * Matches the names, without slashes, that one of the patterns matches.
 *
 * @since 0.1.0
 */
export const compileNames = (patterns: ReadonlyArray<string>, ignoreCase: boolean): RegExp => {
  const once = makeOnce()
  return new RegExp(`^(?:${patterns.map((pattern) => nameSource(pattern, once)).join("|")})$`, flags(ignoreCase))
}
