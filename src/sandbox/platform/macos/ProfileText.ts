/**
 * Prints strings, and regular expressions for a policy's wildcards, in the sandbox profile language.
 *
 * @since 0.1.0
 */
import { type Member, type Piece, parsePath } from "../../policy/GlobPattern.js"

/**
 * Prints a string literal, as Scheme reads it.
 *
 * @since 0.1.0
 * @category printing
 */
export const string = (text: string): string =>
  `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")}"`

/**
 * Matches the characters that can't be written in `#"…"`, which has no escapes of its own; they are printed as any
 * character.
 */
const unwritable = /["\x00-\x1f\x7f]/
const special = /[\\^$.*+?()[\]{}|]/
/** Matches a character of more than one byte, whether the expressions go by bytes or by characters. */
const long = "[^/ -~][^/ -~][^/ -~]?[^/ -~]?"
const any = `([^/]|${long})`

/** Prints one character so that both cases match, for the file systems of macOS ignore case. */
const literal = (char: string): string => {
  if (unwritable.test(char)) return "[^/]"
  if (/[a-z]/i.test(char)) return `[${char.toLowerCase()}${char.toUpperCase()}]`
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()]
  if (lower !== upper)
    return `(${[...new Set([lower, upper, lower.normalize("NFD"), upper.normalize("NFD")])].join("|")})`
  return special.test(char) ? `\\${char}` : char
}

/** Matches a character that is not printable ASCII, or one byte of it. */
const other = "[^/ -~]"

/** The characters of a named class; a class that can't be written is missing. */
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
  /** The members that are written in brackets as they are. */
  readonly simple: string
  /** Alternatives to the brackets. */
  readonly others: ReadonlyArray<string>
}

/** Writes a member of a bracket expression; undefined where it can't be written exactly. */
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
 * Prints a bracket expression as alternatives, so that no character in it gets another meaning. What can't be written
 * exactly matches any character: then too much is denied, never too little.
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
 * Prints the expression for all paths that an absolute pattern without alternatives matches, and all that lies below
 * them. It is anchored on both sides, and uses only what all dialects of regular expressions have.
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
