/** The commands that were entered before. */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Directories from "../files/Directories.js"
import * as RegularFile from "../files/RegularFile.js"

const longest = 64 * 1024

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }
const characters: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t" }

/** Writes a command as a line; undefined if it is too long or holds control characters. */
export const toLine = (command: string): string | undefined => {
  if (command.length > longest) return undefined
  const line = command.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character)
  return isForeign(line) ? undefined : `${line}\n`
}

const isForeign = (line: string): boolean => /[\p{Cc}\p{Cs}\ufffd]/u.test(line)

/** Reads commands from a file's text, skipping lines that Synapse did not write. */
export const fromText = (text: string): ReadonlyArray<string> => {
  const commands: Array<string> = []
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.length > 2 * longest || isForeign(line)) continue
    const command = line.replace(/\\[\\nrt]/g, (escape) => characters[escape] ?? escape)
    if (commands.at(-1) !== command) commands.push(command)
  }
  return commands
}

/** The most commands that a shell is given. */
export const mostEntries = 500
/** A larger file is shortened when a shell starts. */
const mostBytes = 1024 * 1024

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = Fs.constants
const safe = O_NOCTTY | O_NOFOLLOW | O_NONBLOCK

const reasonOf = (error: unknown): string => {
  const { code } = error as NodeJS.ErrnoException
  if (code === "ENOSPC" || code === "EDQUOT") return "the disk is full"
  if (code === "EACCES" || code === "EPERM") return "permission denied"
  if (code === "EROFS") return "the file system is read-only"
  if (code === "ELOOP") return "it is a symbolic link, which is not followed here"
  if (code === "ENXIO" || code === "EISDIR") return "it is no file"
  return error instanceof Error ? error.message : String(error)
}

const problem = (path: string, error: unknown): string => `history not kept: ${path}: ${reasonOf(error)}`

const withFile = <A>(path: string, flags: number, use: (fd: number, stats: Fs.Stats) => A): A => {
  const fd = Fs.openSync(path, flags | safe, 0o600)
  try {
    const stats = Fs.fstatSync(fd)
    if (!stats.isFile()) throw new Error("it is no file")
    if ((stats.mode & 0o077) !== 0) Fs.fchmodSync(fd, 0o600)
    return use(fd, stats)
  } finally {
    Fs.closeSync(fd)
  }
}

/** Opens or makes the file, reads its commands, and shortens it if it has grown too long. */
const open = (path: string): { readonly entries: ReadonlyArray<string>; readonly flaw?: string } => {
  try {
    Directories.make(Path.dirname(path))
    // For writing too, so that a problem is reported at once.
    withFile(path, O_WRONLY | O_APPEND | O_CREAT, () => {})
    const { isWhole, text } = withFile(path, O_RDONLY, (fd, { size }) => {
      const from = Math.max(size - mostBytes, 0)
      return { isWhole: from === 0, text: RegularFile.readAt(fd, from, size - from).toString() }
    })
    // The first line may be incomplete.
    const known = isWhole ? text : text.slice(text.indexOf("\n") + 1)
    if (!isWhole) replace(path, known.slice(known.indexOf("\n", known.length / 2) + 1))
    // End a line that a crash cut off.
    if (text !== "" && !text.endsWith("\n")) withFile(path, O_WRONLY | O_APPEND, (out) => Fs.writeSync(out, "\n"))
    return { entries: fromText(known).slice(-mostEntries) }
  } catch (error) {
    return { entries: [], flaw: problem(path, error) }
  }
}

/** Puts another text in the place of the file. */
const replace = (path: string, text: string): void => {
  const fresh = `${path}.${Crypto.randomUUID()}`
  try {
    withFile(fresh, O_WRONLY | O_CREAT | O_EXCL, (out) => Fs.writeFileSync(out, text))
    Fs.renameSync(fresh, path)
  } finally {
    Fs.rmSync(fresh, { force: true })
  }
}

/** Appends a command in one write, so that several shells can share the file. Returns the problem, if any. */
const appendHistoryFile = (path: string, command: string): string | undefined => {
  const line = toLine(command)
  if (line === undefined) return undefined
  try {
    const write = () =>
      withFile(path, O_WRONLY | O_APPEND | O_CREAT, (fd) => {
        Fs.writeSync(fd, line)
        return Fs.fstatSync(fd).nlink > 0
      })
    // Once more if the file was replaced meanwhile.
    if (!write()) write()
    return undefined
  } catch (error) {
    return problem(path, error)
  }
}

/** The commands that a person entered. Without a usable file they last until the program ends. */
export class History extends Context.Tag("synapse/History")<
  History,
  {
    /** Returns the commands, the oldest first. */
    readonly entries: () => ReadonlyArray<string>
    /** Adds a command, unless it begins with a space or repeats the last one. */
    readonly add: (text: string) => Effect.Effect<void>
    /** Takes the reason why the file is not used, once. */
    readonly takeProblem: Effect.Effect<string | undefined>
  }
>() {}

const make = (kept: ReadonlyArray<string>, append: (text: string) => string | undefined, flaw?: string) => {
  const entries = [...kept]
  let problem = flaw
  let isTold = flaw !== undefined
  return {
    entries: () => entries,
    add: (text: string) =>
      Effect.sync(() => {
        if (text.trim() === "" || text.startsWith(" ") || entries.at(-1) === text) return
        entries.push(text)
        if (entries.length > 2 * mostEntries) entries.splice(0, entries.length - mostEntries)
        const failed = append(text)
        if (failed !== undefined && !isTold) {
          isTold = true
          problem = failed
        }
      }),
    takeProblem: Effect.sync(() => {
      const told = problem
      problem = undefined
      return told
    })
  }
}

/** A history in a file that several shells may share. A problem with the file is reported and does not fail. */
export const layer = (path: string): Layer.Layer<History> =>
  Layer.sync(History, () => {
    const { entries, flaw } = open(path)
    return make(entries, (text) => (flaw === undefined ? appendHistoryFile(path, text) : undefined), flaw)
  })
