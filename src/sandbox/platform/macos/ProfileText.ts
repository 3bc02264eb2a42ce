/**
 * Words of the sandbox profile language: strings, and regular expressions for a policy's wildcards.
 *
 * @since 0.1.0
 */

/**
 * A string, as Scheme reads it.
 *
 * @since 0.1.0
 */
export const string = (text: string): string =>
  `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")}"`

/** In `#"…"` nothing is escaped but for the expression's own sake; what can't stand there is any character. */
const unwritable = /["\x00-\x1f\x7f]/
const special = /[\\^$.*+?()[\]{}|]/
/** A character of more than one byte, whether expressions go by bytes or by characters. */
const long = "[^/ -~][^/ -~][^/ -~]?[^/ -~]?"
const any = `([^/]|${long})`

/** One character, in either case: the file systems of macOS do not tell them apart. */
const literal = (char: string): string => {
  if (unwritable.test(char)) return "[^/]"
  if (/[a-z]/i.test(char)) return `[${char.toLowerCase()}${char.toUpperCase()}]`
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()]
  if (lower !== upper)
    return `(${[...new Set([lower, upper, lower.normalize("NFD"), upper.normalize("NFD")])].join("|")})`
  return special.test(char) ? `\\${char}` : char
}

const classes: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: " ",
  cntrl: "",
  digit: "0-9",
  graph: "",
  lower: "A-Za-z",
  print: "",
  punct: "",
  space: " ",
  upper: "A-Za-z",
  xdigit: "0-9A-Fa-f"
}
const bracket = /^\[[!^]?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\/])*\]/su
const item = /\[:([a-z]+):\]|(?:\\(.)|(.))(?:-(?:\\(.)|([^\]])))?/gsu

/**
 * A bracket expression: alternatives, so that no character in it can mean something else there. What can't be said
 * exactly matches any character: a denial too many is no hole.
 */
const toClass = (text: string): string => {
  const negated = /^\[[!^]/.test(text)
  const simple: Array<string> = []
  const others: Array<string> = []
  let exact = true
  for (const [, name, escaped, char, escapedEnd, end] of text.slice(negated ? 2 : 1, -1).matchAll(item)) {
    const [from, to] = [escaped ?? char ?? "", escapedEnd ?? end]
    if (name !== undefined) {
      const known = classes[name] ?? ""
      if (known === "") exact = false
      else simple.push(known)
    } else if (to !== undefined) {
      if (/^[a-z]$/i.test(from) && /^[a-z]$/i.test(to)) {
        simple.push(`${from.toLowerCase()}-${to.toLowerCase()}`, `${from.toUpperCase()}-${to.toUpperCase()}`)
      } else if (/^\d$/.test(from) && /^\d$/.test(to)) simple.push(`${from}-${to}`)
      else exact = false
    } else if (/[a-z]/i.test(from)) simple.push(from.toLowerCase() + from.toUpperCase())
    else if (/[\w ,.:;=@%&!~<>#'`+]/.test(from)) simple.push(from)
    else if (from !== "/") others.push(literal(from))
  }
  if (!exact) return any
  if (negated) return others.length > 0 ? any : `([^/${simple.join("")}]|${long})`
  const parts = [...(simple.length > 0 ? [`[${simple.join("")}]`] : []), ...others]
  return parts.length === 0 ? any : `(${parts.join("|")})`
}

const toName = (name: string): string => {
  let source = ""
  for (let rest = name; rest !== ""; ) {
    const [stars = ""] = /^\*+/.exec(rest) ?? []
    const [brackets = ""] = bracket.exec(rest) ?? []
    const [char = ""] = /^(?:\\.|.)/su.exec(rest) ?? []
    if (stars !== "") source += "[^/]*"
    else if (brackets !== "") source += toClass(brackets)
    else if (char === "?") source += any
    else source += literal(char.length > 1 && char.startsWith("\\") ? char.slice(1) : char)
    rest = rest.slice((stars || brackets || char).length)
  }
  return source
}

/**
 * The expression for what a pattern of a policy matches, and all that lies below it: absolute, without alternatives.
 * Anchored on both sides, and without anything that only some languages of expressions have.
 *
 * @since 0.1.0
 */
export const regex = (pattern: string): string => {
  const names = pattern.slice(1).split("/")
  const source = names.map((name) => (name === "**" ? "(/[^/]+)*" : `/${toName(name)}`)).join("")
  return `#"^${source}($|/)"`
}
