/**
 * The file of a history, which several shells append to at a time.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Directories from "../files/Directories.js"
import * as RegularFile from "../files/RegularFile.js"
import * as HistoryText from "./HistoryText.js"

/**
 * The most commands of a history that are kept.
 *
 * @since 0.1.0
 * @category constants
 */
export const mostEntries = 10_000
/** The most bytes of the file, when a shell starts. */
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

/** Reads the last commands of an open file, and the size up to which it was read. */
const readEnd = (fd: number, { size }: Fs.Stats) => {
  const from = Math.max(size - mostBytes, 0)
  const text = RegularFile.readAt(fd, from, size - from).toString()
  // The first line is a part of one.
  return HistoryText.fromText(from === 0 ? text : text.slice(text.indexOf("\n") + 1))
}

/**
 * Reads the commands of a file, which is made shorter where it has grown too long, and made where there is none.
 *
 * @since 0.1.0
 * @category reading
 */
export const open = (path: string): { readonly entries: ReadonlyArray<string>; readonly flaw?: string } => {
  try {
    Directories.make(Path.dirname(path))
    // For writing too, so that a file that can't be kept is told of at once.
    withFile(path, O_WRONLY | O_APPEND | O_CREAT, () => {})
    return withFile(path, O_RDONLY, (fd, stats) => {
      const all = readEnd(fd, stats)
      const entries = all.slice(-mostEntries)
      const hasTorn = stats.size > 0 && RegularFile.readAt(fd, stats.size - 1, 1)[0] !== 10
      // A line that a crash has left half would become the beginning of the next one.
      if (hasTorn) withFile(path, O_WRONLY | O_APPEND, (out) => Fs.writeSync(out, "\n"))
      if (stats.size > mostBytes || all.length > mostEntries) shorten(path, fd, stats)
      return { entries }
    })
  } catch (error) {
    return { entries: [], flaw: problem(path, error) }
  }
}

/**
 * Appends a command in one write, so that several shells don't mix theirs. Returns the problem where it fails.
 *
 * @since 0.1.0
 * @category writing
 */
export const append = (path: string, command: string): string | undefined => {
  const line = HistoryText.toLine(command)
  if (line === undefined) return undefined
  try {
    const write = () =>
      withFile(path, O_WRONLY | O_APPEND | O_CREAT, (fd) => {
        Fs.writeSync(fd, line)
        return Fs.fstatSync(fd).nlink > 0
      })
    // Once more where the file was being replaced: rather twice than not at all.
    if (!write()) write()
    return undefined
  } catch (error) {
    return problem(path, error)
  }
}

/** Replaces the file by its last half in one step. What others append to it meanwhile is carried over. */
const shorten = (path: string, fd: number, stats: Fs.Stats): void => {
  const lock = `${path}.lock`
  if (!take(lock)) return
  try {
    // Another shell may have done it before the lock was free.
    if (Fs.lstatSync(path).ino !== stats.ino) return
    const { size } = Fs.fstatSync(fd)
    const from = Math.max(size - mostBytes, 0)
    const commands = HistoryText.fromText(RegularFile.readAt(fd, from, size - from).toString()).slice(-mostEntries / 2)
    const lines = commands.map((command) => HistoryText.toLine(command) ?? "")
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
    for (let left = bytes; left > mostBytes / 2; ) left -= Buffer.byteLength(lines.shift() ?? "")
    const fresh = `${path}.${Crypto.randomUUID()}`
    try {
      withFile(fresh, O_WRONLY | O_CREAT | O_EXCL, (out) => Fs.writeFileSync(out, lines.join("")))
      Fs.renameSync(fresh, path)
    } finally {
      Fs.rmSync(fresh, { force: true })
    }
    carryOver(path, fd, size)
  } catch {
    // It is shortened another time.
  } finally {
    Fs.rmSync(lock, { force: true })
  }
}

/** Appends what others have written to the old file since it was read. */
const carryOver = (path: string, fd: number, size: number): void => {
  const late = RegularFile.readAt(fd, size, mostBytes)
  if (late.length > 0) withFile(path, O_WRONLY | O_APPEND, (out) => Fs.writeSync(out, late))
}

/** Makes the lock file; takes over one that was left behind. */
const take = (lock: string): boolean => {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      Fs.closeSync(Fs.openSync(lock, O_WRONLY | O_CREAT | O_EXCL | safe, 0o600))
      return true
    } catch {
      const age = Date.now() - (Fs.lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      if (age < 60_000) return false
      Fs.rmSync(lock, { force: true })
    }
  }
  return false
}
