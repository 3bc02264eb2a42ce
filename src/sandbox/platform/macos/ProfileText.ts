/**
 * Prints words of the sandbox profile language: strings, and regular expressions for a policy's wildcards.
 *
 * @since 0.1.0
 */
import { type Member, type Piece, parsePath } from "../../policy/GlobPattern.js"

/**
 * Prints a string, as Scheme reads it.
 *
 * @since 0.1.0
 * @category printing
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

/** A character that is no printable one of ASCII, or a part of it. */
const other = "[^/ -~]"

/** What a named class holds; undefined where that can't be said. */
const classes: Readonly<Record<string, { readonly simple: string; readonly others: ReadonlyArray<string> }>> = {
  alnum: { simple: "0-9A-Za-z", others: [long, other] },
  alpha: { simple: "A-Za-z", others: [long, other] },
  blank: { simple: " ", others: [other] },
  cntrl: { simple: "", others: [long, other] },
  digit: { simple: "0-9", others: [] },
  lower: { simple: "A-Za-z", others: [long, other] },
  space: { simple: " ", others: [other] },
  upper: { simple: "A-Za-z", others: [long, other] },
  xdigit: { simple: "0-9A-Fa-f", others: [] }
}

interface Set {
  /** What stands in brackets as it is. */
  readonly simple: string
  /** Alternatives to it. */
  readonly others: ReadonlyArray<string>
}

/** undefined where it can't be said exactly. */
const toSet = (member: Member): Set | undefined => {
  switch (member._tag) {
    case "Named":
      return classes[member.name]
    case "Range": {
      const { from, to } = member
      const both = from + to
      if (/^\d\d$/.test(both)) return { simple: `${from}-${to}`, others: [] }
      if (!/^(?:[a-z]{2}|[A-Z]{2})$/.test(both)) return undefined
      const [lower, upper] = [both.toLowerCase(), both.toUpperCase()]
      return { simple: `${lower[0]}-${lower[1]}${upper[0]}-${upper[1]}`, others: [] }
    }
    case "Single": {
      const { char } = member
      if (char === "/") return { simple: "", others: [] }
      if (/[a-z]/i.test(char)) return { simple: char.toLowerCase() + char.toUpperCase(), others: [] }
      if (/[\w ,.:;=@%&!~<>#'`+]/.test(char)) return { simple: char, others: [] }
      return { simple: "", others: [literal(char)] }
    }
  }
}

/**
 * A bracket expression: alternatives, so that no character in it can mean something else there. What can't be said
 * exactly matches any character: a denial too many is no hole.
 */
const printBrackets = (negated: boolean, members: ReadonlyArray<Member>): string => {
  const sets = members.map(toSet)
  const known = sets.filter((set) => set !== undefined)
  if (known.length < sets.length) return any
  const simple = known.map((set) => set.simple).join("")
  const others = known.flatMap((set) => set.others)
  if (negated) return others.length > 0 ? any : `([^/${simple}]|${long})`
  const parts = [...(simple === "" ? [] : [`[${simple}]`]), ...others]
  return parts.length === 0 ? any : `(${parts.join("|")})`
}

const printPiece = (piece: Piece): string => {
  switch (piece._tag) {
    case "Literal":
      return literal(piece.char)
    case "AnyCharacter":
      return any
    case "AnyText":
      return "[^/]*"
    case "Brackets":
      return printBrackets(piece.negated, piece.members)
  }
}

/**
 * Prints the expression for what a pattern of a policy matches, and all that lies below it: absolute, without alternatives.
 * It is anchored on both sides, and has nothing that only some languages of expressions have.
 *
 * @since 0.1.0
 * @category printing
 */
export const regex = (pattern: string): string => {
  const source = parsePath(pattern).map((part) =>
    part._tag === "AnyDirectories" ? "(/[^/]+)*" : `/${part.pieces.map(printPiece).join("")}`
  )
  return `#"^${source.join("")}($|/)"`
}
