/** The history of commands that a person entered. */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attempt from "../domain/Attempt.js"
import * as Directories from "../files/Directories.js"
import * as RegularFile from "../files/RegularFile.js"

const longest = 64 * 1024

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }
const characters: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t" }

/** Encodes a command as a line. Returns undefined if it is too long or contains control characters. */
export const toLine = (command: string): string | undefined => {
  if (command.length > longest) return undefined
  const line = command.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character)
  return hasUnsafeCharacters(line) ? undefined : `${line}\n`
}

const hasUnsafeCharacters = (line: string): boolean => /[\p{Cc}\p{Cs}\ufffd]/u.test(line)

/** Reads commands from a file's text. Skips lines that Synapse did not write. */
export const fromText = (text: string): ReadonlyArray<string> => {
  const commands: Array<string> = []
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.length > 2 * longest || hasUnsafeCharacters(line)) continue
    const command = line.replace(/\\[\\nrt]/g, (escape) => characters[escape] ?? escape)
    if (commands.at(-1) !== command) commands.push(command)
  }
  return commands
}

/** The most commands that a shell gets. */
export const mostEntries = 500
/** The size in bytes above which the file is shortened at a shell's start. */
const mostBytes = 1024 * 1024

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = Fs.constants
const safe = O_NOCTTY | O_NOFOLLOW | O_NONBLOCK

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

/** Opens or creates the file, reads its commands, and shortens it if it is too long. */
const open = (path: string): ReadonlyArray<string> => {
  Directories.make(Path.dirname(path))
  const { isWhole, text } = withFile(path, O_RDONLY | O_CREAT, (fd, { size }) => {
    const from = Math.max(size - mostBytes, 0)
    return { isWhole: from === 0, text: RegularFile.readAt(fd, from, size - from).toString() }
  })
  // The first line may be incomplete.
  const known = isWhole ? text : text.slice(text.indexOf("\n") + 1)
  if (!isWhole) replace(path, known.slice(known.indexOf("\n", known.length / 2) + 1))
  // End a line that a crash cut off.
  if (text !== "" && !text.endsWith("\n")) withFile(path, O_WRONLY | O_APPEND, (out) => Fs.writeSync(out, "\n"))
  return fromText(known).slice(-mostEntries)
}

/** Replaces the file atomically. */
const replace = (path: string, text: string): void => {
  const fresh = `${path}.${Crypto.randomUUID()}`
  try {
    withFile(fresh, O_WRONLY | O_CREAT | O_EXCL, (out) => Fs.writeFileSync(out, text))
    Fs.renameSync(fresh, path)
  } finally {
    Fs.rmSync(fresh, { force: true })
  }
}

/** Appends a command in one write, so that several shells can share the file. */
const append = (path: string, command: string): void => {
  const line = toLine(command)
  if (line === undefined) return
  const write = () =>
    withFile(path, O_WRONLY | O_APPEND | O_CREAT, (fd) => {
      Fs.writeSync(fd, line)
      return Fs.fstatSync(fd).nlink > 0
    })
  // Again if the file was replaced in the meantime.
  if (!write()) write()
}

/** The history of commands. Without a usable file, it lasts until the program ends. */
export class History extends Context.Tag("synapse/History")<
  History,
  {
    /** Returns the commands, oldest first. */
    readonly entries: () => ReadonlyArray<string>
    /** Adds a command, unless it begins with a space or repeats the last one. */
    readonly add: (text: string) => Effect.Effect<void>
  }
>() {}

/** A history in a file that several shells may share. An unusable file is ignored. */
export const layer = (path: string): Layer.Layer<History> =>
  Layer.sync(History, () => {
    const entries = [...Attempt.orElse(() => open(path), [])]
    return {
      entries: () => entries,
      add: (text) =>
        Effect.sync(() => {
          if (text.trim() === "" || text.startsWith(" ") || entries.at(-1) === text) return
          entries.push(text)
          if (entries.length > 2 * mostEntries) entries.splice(0, entries.length - mostEntries)
          Attempt.ignore(() => append(path, text))
        })
    }
  })
