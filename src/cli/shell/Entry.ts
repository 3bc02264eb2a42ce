/**
 * Tells what an entry at the prompt is: a command line, a word to the shell itself, or a question for the agent.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Data from "effect/Data"
import * as Similar from "../../domain/Similar.js"
import * as OwnCommand from "./OwnCommand.js"

/**
 * An entry of a person.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = Data.TaggedEnum<{
  Blank: Record<never, never>
  /** The wish for an empty screen. */
  Clear: Record<never, never>
  /** A command line for the session's shell. */
  Command: { readonly text: string }
  /** One of the shell's own commands, with the text after its name. */
  Own: { readonly name: OwnCommand.Name; readonly rest: string }
  /** A word like `/halp`, which is neither a command of the shell's own nor a file. */
  Unknown: { readonly name: string; readonly meant: string | undefined }
}>

/**
 * Constructors and matchers of entries.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Entry = Data.taggedEnum<Entry>()

/**
 * Reads an entry. A question may begin with `?`; a path that begins with `/` is a command line; `exit` alone
 * leaves, and `clear` alone clears the screen.
 *
 * @since 0.1.0
 */
export const read = (text: string): Entry => {
  const trimmed = text.trim()
  if (trimmed === "") return Entry.Blank()
  // A pattern of one character (`?`) is hardly ever a command.
  if (trimmed.startsWith("?")) return Entry.Own({ name: "ask", rest: trimmed.slice(1).trim() })
  // Output of commands has no say over the screen, and in a terminal of its own it would take what is typed behind it.
  if (trimmed === "clear") return Entry.Clear()
  // In the session, it would begin a new shell; a person means to leave.
  const [left, code = ""] = /^(?:exit|logout)(?:\s+(\d+))?$/.exec(trimmed) ?? []
  if (left !== undefined) return Entry.Own({ name: "exit", rest: code })
  const [, name, rest = ""] = /^\/([A-Za-z][\w-]*)(?=\s|$)([\s\S]*)$/.exec(trimmed) ?? []
  if (name === undefined) return Entry.Command({ text })
  if (OwnCommand.isName(name)) return Entry.Own({ name, rest: rest.trim() })
  if (Fs.existsSync(`/${name}`)) return Entry.Command({ text })
  return Entry.Unknown({ name: `/${name}`, meant: meantBy(name) })
}

/** Returns the nearest name; their being so few, a letter or two may be other ones. */
const meantBy = (name: string): string | undefined => {
  const [near] = Similar.likely(name, OwnCommand.names)
  const most = name.length > 4 ? 2 : 1
  return near ?? OwnCommand.names.find((one) => Similar.distance(name.toLowerCase(), one) <= most)
}
