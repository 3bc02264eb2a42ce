/**
 * The commands that a search looks through, in a form that is compared fast.
 *
 * @since 0.1.0
 */
import type { Described } from "../../command/CommandHandler.js"

/**
 * The kind of a command. `agent`: one of Synapse's own; `extension`: one under a prefix of a user's.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind = "agent" | "mcp" | "skill" | "extension" | "native"

/**
 * A command that can be found.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly name: string
  readonly kind: Kind
  readonly summary: string
  /** The name in small letters. */
  readonly full: string
  /** The part of it that sets it apart: of `skill:load pdf`, which is a call with an argument, `pdf`; else all of it. */
  readonly key: string
  /**
   * The words of the name, in small letters: of `mcp:gh:createIssue` these are `mcp`, `gh`, `create` and `issue`; of
   * `skill:load pdf`, `skill` and `pdf`.
   */
  readonly words: ReadonlyArray<string>
  /** The words of the summary, in small letters, after a space each. */
  readonly text: string
}

/** The most characters of a summary that are looked through. */
const longest = 1000

/**
 * Makes an entry.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (name: string, kind: Kind, summary: string): Entry => {
  const space = name.indexOf(" ")
  const own = space < 0 ? name : `${name.split(":", 1)[0]} ${name.slice(space + 1)}`
  const words = own.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase()
  const full = name.toLowerCase()
  return {
    name,
    kind,
    summary,
    full,
    key: full.slice(space + 1),
    words: words.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [],
    text: ` ${(
      summary
        .slice(0, longest)
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    ).join(" ")} `
  }
}

/**
 * Makes the function that makes the entries of commands, once for each array.
 *
 * @since 0.1.0
 * @category constructors
 */
export const maker = (): ((commands: ReadonlyArray<Described>) => ReadonlyArray<Entry>) => {
  const made = new WeakMap<ReadonlyArray<Described>, ReadonlyArray<Entry>>()
  return (commands) => {
    const known = made.get(commands)
    if (known !== undefined) return known
    const entries = commands.map(({ name, summary }) => make(name, kindOf(name), summary))
    made.set(commands, entries)
    return entries
  }
}

/**
 * Tests whether the summary of a command is the text of a server or a skill.
 *
 * @since 0.1.0
 */
export const isForeign = ({ kind, name }: Pick<Entry, "kind" | "name">): boolean =>
  kind === "skill" ? name.includes(" ") : kind !== "agent" && kind !== "native" && !name.endsWith("*")

/**
 * Returns the kind of a command that is not the shell's own.
 *
 * @since 0.1.0
 */
export const kindOf = (name: string): Kind =>
  name.startsWith("mcp:") ? "mcp" : name.startsWith("skill:") ? "skill" : isOwn(name) ? "agent" : "extension"

const isOwn = (name: string): boolean => !name.includes(":") || /^(?:command|task):/.test(name)
