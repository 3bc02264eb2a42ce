/**
 * Reads the wildcards of a pattern into pieces, which each language of expressions prints in its own way.
 *
 * `*` and `?` stay within a name, `**` as a whole name stands for any number of directories, `[a-z]` and `[!a-z]` for one
 * character, and a backslash takes its meaning from what follows it. Names that begin with a dot are like any other. Nothing
 * else means anything; alternatives (`{a,b}`) are expanded before.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * What may stand between brackets.
 *
 * @since 0.1.0
 * @category models
 */
export type Member = Data.TaggedEnum<{
  Single: { readonly char: string }
  Range: { readonly from: string; readonly to: string }
  /** `[:alpha:]`, without the brackets and colons; bash defines which names there are. */
  Named: { readonly name: string }
}>

const Member = Data.taggedEnum<Member>()

/**
 * A part of a name's pattern. Each stands for characters other than a slash.
 *
 * @since 0.1.0
 * @category models
 */
export type Piece = Data.TaggedEnum<{
  /** One character that means itself. */
  Literal: { readonly char: string }
  /** `?` */
  AnyCharacter: object
  /** `*`, and several in a row. */
  AnyText: object
  /** `[…]` */
  Brackets: { readonly negated: boolean; readonly members: ReadonlyArray<Member> }
}>

const Piece = Data.taggedEnum<Piece>()

/**
 * A part of a path's pattern, with the slash before it.
 *
 * @since 0.1.0
 * @category models
 */
export type Part = Data.TaggedEnum<{
  Name: { readonly pieces: ReadonlyArray<Piece> }
  /** `**` */
  AnyDirectories: object
}>

const Part = Data.taggedEnum<Part>()

/** Stars, brackets or one character. What comes first in brackets, after the negation, does not close them. */
const token = /(\*+)|\[([!^]|(?![!^]))((?:\]|(?!\]))(?:\\.|\[:[a-z]+:\]|[^\]\\/])*)\]|\\(.)|(.)/gsu
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

/**
 * Reads the pattern of one name.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parseName = (pattern: string): ReadonlyArray<Piece> =>
  Array.from(pattern.matchAll(token), ([, stars, negation, members, escaped, char]) => {
    if (stars !== undefined) return Piece.AnyText()
    if (members !== undefined) return Piece.Brackets({ negated: negation !== "", members: membersOf(members) })
    return char === "?" ? Piece.AnyCharacter() : Piece.Literal({ char: escaped ?? char ?? "" })
  })

/**
 * Reads an absolute pattern, without alternatives.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parsePath = (pattern: string): ReadonlyArray<Part> =>
  pattern
    .slice(1)
    .split("/")
    .map((name) => (name === "**" ? Part.AnyDirectories() : Part.Name({ pieces: parseName(name) })))
