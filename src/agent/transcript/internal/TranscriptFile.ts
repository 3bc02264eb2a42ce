/**
 * The file of a transcript. Entries are appended so that a crash leaves complete lines and at most one partial line.
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as OwnFile from "../../../extension/mcp/OwnFile.js"
import * as RegularFile from "../../../files/RegularFile.js"
import * as Transcript from "../Transcript.js"

/** The largest transcript, in bytes; a writer stops there. */
export const largest = 64 * 1024 * 1024

/** The conditions for reading and writing a transcript. */
const own = { most: largest, isAlone: true }

/** Says why a transcript can't be written. The run continues without it. */
export class NotKept extends Schema.TaggedError<NotKept>("synapse/NotKept")("NotKept", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = Fs.constants

/** Describes a file system error without the path, which the message already names. */
const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return /^E[A-Z]+: ([^,]+), /.exec(message)?.[1] ?? message
}

const reading = <A>(path: string, read: (fd: number, stats: Fs.Stats) => A): Either.Either<A, string> => {
  try {
    return RegularFile.use(path, false, (stats) => OwnFile.flawOf(stats, own), read)
  } catch (error) {
    return Either.left(reasonOf(error))
  }
}

export const read = (path: string): Either.Either<Buffer, string> =>
  reading(path, (fd, { size }) => RegularFile.readAt(fd, 0, size))

const newline = 0x0a

/** Reads the complete lines in the first and last `length` bytes of a transcript. */
export const readEnds = (path: string, length: number): Either.Either<Buffer, string> =>
  reading(path, (fd, { size }) => {
    const start = RegularFile.readAt(fd, 0, length)
    if (size <= length) return start
    const end = RegularFile.readAt(fd, Math.max(length, size - length), length)
    return Buffer.concat([start.subarray(0, start.lastIndexOf(newline) + 1), end.subarray(end.indexOf(newline) + 1)])
  })

export interface Writer {
  /** Appends entries and syncs them to disk. If they can't all be written, none stays. */
  readonly append: (...entries: ReadonlyArray<Transcript.Entry>) => Effect.Effect<void, NotKept>
  /** Updates the file's time, so that processes on other machines see that the run goes on. */
  readonly touch: Effect.Effect<void>
}

const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let done = 0; done < bytes.length; ) done += Fs.writeSync(fd, bytes, done)
}

const openFile = (path: string, flags: number): number => {
  const fd = Fs.openSync(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | flags, 0o600)
  const flaw = OwnFile.flawOf(Fs.fstatSync(fd), own)
  if (flaw === undefined) return fd
  Fs.closeSync(fd)
  throw new Error(flaw)
}

const writer = (path: string, flags: number, length: number): Effect.Effect<Writer, NotKept, Scope.Scope> => {
  const toNotKept = (error: unknown) => new NotKept({ path, reason: reasonOf(error) })
  const attempt = <A>(run: () => A): Effect.Effect<A, NotKept> => Effect.try({ try: run, catch: toNotKept })

  const open = Effect.acquireRelease(
    attempt(() => openFile(path, flags)),
    (fd) => Effect.sync(() => Fs.closeSync(fd))
  )
  return Effect.map(
    Effect.tap(open, (fd) =>
      attempt(() => {
        // Otherwise, a line that a crash cut off would become the beginning of the next line.
        if (Fs.fstatSync(fd).size !== length) Fs.ftruncateSync(fd, length)
      })
    ),
    (fd) => {
      let size = length
      const cutBack = (to: number) => {
        Fs.ftruncateSync(fd, to)
        size = to
      }
      const append = (bytes: Uint8Array) => {
        if (size + bytes.length > largest) throw new Error(`it would become larger than ${largest} bytes`)
        if (Fs.fstatSync(fd).nlink === 0) throw new Error("it was removed")
        try {
          writeAll(fd, bytes)
          size += bytes.length
        } catch (error) {
          cutBack(size)
          throw error
        }
      }
      const sync = (from: number) =>
        Effect.async<void, NotKept>((resume) =>
          Fs.fdatasync(fd, (error) => resume(error === null ? Effect.void : toNotKept(error)))
        ).pipe(Effect.tapError(() => Effect.ignore(attempt(() => cutBack(from)))))
      return {
        append: (...entries) =>
          Effect.suspend(() => {
            const from = size
            return Either.match(Either.all(entries.map(Transcript.encode)), {
              onLeft: (reason) => new NotKept({ path, reason }),
              onRight: (lines) =>
                Effect.zipRight(
                  attempt(() => append(Buffer.concat(lines))),
                  sync(from)
                )
            })
          }).pipe(Effect.uninterruptible),
        touch: Effect.ignore(
          attempt(() => {
            const now = new Date()
            Fs.futimesSync(fd, now, now)
          })
        )
      }
    }
  )
}

/** Creates a transcript with its first line, readable only by its owner. */
export const create = (path: string, session: Transcript.Session): Effect.Effect<Writer, NotKept, Scope.Scope> =>
  Effect.tap(writer(path, O_CREAT | O_EXCL, 0), ({ append }) => append(session))

/**
 * Opens an existing transcript, and removes a partial last line.
 *
 * @param length the bytes of the complete lines
 */
export const open = (path: string, length: number): Effect.Effect<Writer, NotKept, Scope.Scope> =>
  writer(path, 0, length)
