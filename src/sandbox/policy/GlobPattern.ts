/**
 * Parses wildcards into pieces that can be printed as regular expressions of any syntax.
 *
 * `*` and `?` match within a name, `**` as a whole name matches any number of directories, `[a-z]` and `[!a-z]` match
 * one character, and a backslash escapes the next character. Names that begin with a dot are not special. Nothing else
 * has a special meaning; alternatives (`{a,b}`) are expanded before.
 */
import * as Data from "effect/Data"

/** A member of a bracket expression. */
export type Member = Data.TaggedEnum<{
  Single: { readonly char: string }
  Range: { readonly from: string; readonly to: string }
  /** A character class such as `[:alpha:]`, by its name in bash. */
  Named: { readonly name: string }
}>

const Member = Data.taggedEnum<Member>()

/** A piece of a name's pattern. It never matches a slash. */
export type Piece = Data.TaggedEnum<{
  Literal: { readonly text: string }
  /** `?` */
  AnyCharacter: object
  /** One or more `*`. */
  AnyText: object
  /** `[…]` */
  Brackets: { readonly negated: boolean; readonly members: ReadonlyArray<Member> }
}>

const Piece = Data.taggedEnum<Piece>()

/** A part of a path's pattern, including the slash before it. */
export type Part = Data.TaggedEnum<{
  Name: { readonly pieces: ReadonlyArray<Piece> }
  /** `**` */
  AnyDirectories: object
}>

const Part = Data.taggedEnum<Part>()

/**
 * Matches stars, a bracket expression, literal characters, or one other. A `]` that comes first in brackets, or right
 * after the negation, does not close them.
 */
const token = /(\*+)|\[([!^]|(?![!^]))((?:\]|(?!\]))(?:\\.|\[:[a-z]+:\]|[^\]\\/])*)\]|\\(.)|([^*?[\\]+|.)/gsu
const item = /\[:([a-z]+):\]|\\(.)|(.)/gsu

const membersOf = (text: string): ReadonlyArray<Member> => {
  const items = Array.from(text.matchAll(item), ([written, name, escaped, char]) => ({
    name,
    char: escaped ?? char ?? "",
    isDash: written === "-"
  }))
  const members: Array<Member> = []
  for (let at = 0; at < items.length; at++) {
    const [first, dash, last] = items.slice(at, at + 3)
    if (first?.name !== undefined) members.push(Member.Named({ name: first.name }))
    else if (first !== undefined && dash?.isDash === true && last !== undefined && last.name === undefined) {
      members.push(Member.Range({ from: first.char, to: last.char }))
      at += 2
    } else members.push(Member.Single({ char: first?.char ?? "" }))
  }
  return members
}

export const parseName = (pattern: string): ReadonlyArray<Piece> =>
  Array.from(pattern.matchAll(token), ([, stars, negation, members, escaped, text]) => {
    if (stars !== undefined) return Piece.AnyText()
    if (members !== undefined) return Piece.Brackets({ negated: negation !== "", members: membersOf(members) })
    return text === "?" ? Piece.AnyCharacter() : Piece.Literal({ text: escaped ?? text ?? "" })
  })

/** Parses an absolute pattern without alternatives. */
export const parsePath = (pattern: string): ReadonlyArray<Part> =>
  pattern
    .slice(1)
    .split("/")
    .map((name) => (name === "**" ? Part.AnyDirectories() : Part.Name({ pieces: parseName(name) })))
