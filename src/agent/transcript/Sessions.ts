/** Finds and reads the sessions of agents in the directory that keeps them, a transcript each. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as ForeignText from "../../domain/ForeignText.js"
import * as SessionId from "./internal/SessionId.js"
import * as TranscriptFile from "./internal/TranscriptFile.js"
import * as Transcript from "./Transcript.js"

/** The error for a session that can't be found, read or gone on with. */
export class NoSession extends Schema.TaggedError<NoSession>("synapse/NoSession")("NoSession", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** A session in a list. */
export interface Listed {
  readonly id: string
  /** When its transcript was written last, in milliseconds since 1970. */
  readonly time: number
  /** The facts of the session's file, without its messages; on the left, the reason for which it can't be read. */
  readonly summary: Either.Either<Transcript.Transcript, string>
}

/** Returns the directory of the sessions in Synapse's own directory. */
export const directoryIn = (home: string): string => Path.join(home, "sessions")

const extension = ".jsonl"

/** Returns the path of a session's transcript. */
export const pathOf = (directory: string, id: string): string => Path.join(directory, `${id}${extension}`)

/** The most names of a directory that are looked at. */
const most = 10_000

/** The bytes of the beginning and of the end of a transcript that a list reads. */
const ends = 64 * 1024

/** Returns why a directory is not used for sessions; undefined where it is, or is missing. */
export const strange = (directory: string): string | undefined => {
  const stats = Fs.statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) return `${directory} is no directory.`
  if (stats.uid !== process.getuid?.() && stats.uid !== 0) return `${directory} belongs to another user (${stats.uid}).`
  return (stats.mode & 0o022) === 0
    ? undefined
    : `Others may write in ${directory}: chmod 700 it, and look at what it has.`
}

/** Returns when a file was written last, in milliseconds since 1970; 0 where it is missing. */
export const timeOf = (path: string): number => Fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Returns the ids of all sessions, those that were written last first. */
export const ids = (directory: string): Effect.Effect<ReadonlyArray<string>, NoSession> =>
  Effect.suspend(() => {
    try {
      const reason = strange(directory)
      if (reason !== undefined) return new NoSession({ reason })
      const names = Fs.readdirSync(directory).filter((name) => name.endsWith(extension))
      const all = names
        .slice(0, most)
        .map((name) => name.slice(0, -extension.length))
        .filter(SessionId.is)
      const timed = all.map((id) => [id, timeOf(pathOf(directory, id))] as const)
      return Effect.succeed(timed.sort((a, b) => b[1] - a[1]).map(([id]) => id))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return code === "ENOENT"
        ? Effect.succeed([])
        : new NoSession({ reason: `${directory} can't be read: ${message}` })
    }
  })

const listed = (directory: string, id: string): Listed =>
  Either.match(TranscriptFile.readEnds(pathOf(directory, id), ends), {
    onLeft: (reason) => ({ id, time: timeOf(pathOf(directory, id)), summary: Either.left(reason) }),
    onRight: ({ end, start, time }) => ({ id, time, summary: Transcript.summary(start, end, id) })
  })

/**
 * Reads what the transcripts of sessions tell, without the messages.
 *
 * @param limit the most sessions that are read, from the first on
 */
export const list = (
  directory: string,
  ids: ReadonlyArray<string>,
  limit: number
): Effect.Effect<ReadonlyArray<Listed>> =>
  // With rests, for there may be thousands.
  Effect.forEach(ids.slice(0, limit), (id) =>
    Effect.zipLeft(
      Effect.sync(() => listed(directory, id)),
      Effect.yieldNow()
    )
  )

/** Finds the id of a session by its beginning. */
export const find = (directory: string, written: string): Effect.Effect<string, NoSession> =>
  Effect.flatMap(ids(directory), (all) =>
    Effect.mapError(SessionId.find(written, all), (reason) => new NoSession({ reason }))
  )

/**
 * Finds the session of a directory that was written last.
 *
 * @param cwd the directory's real path
 */
export const newest = (directory: string, cwd: string): Effect.Effect<string, NoSession> =>
  Effect.gen(function* () {
    for (const id of yield* ids(directory)) {
      const { summary } = listed(directory, id)
      if (Either.isRight(summary) && summary.right.session.cwd === cwd) return id
      yield* Effect.yieldNow()
    }
    const reason = `There is no session of ${ForeignText.line(cwd, 300)} to continue; synapse agent list shows those of all directories.`
    return yield* new NoSession({ reason })
  })

/** Reads the transcript of a session. */
export const read = (directory: string, id: string): Effect.Effect<Transcript.Transcript, NoSession> =>
  Effect.suspend(() => {
    const path = pathOf(directory, id)
    return Effect.mapError(
      Either.flatMap(TranscriptFile.read(path), (bytes) => Transcript.read(bytes, id)),
      (reason) => new NoSession({ reason: `The session ${id} can't be read: ${path}: ${reason}.` })
    )
  })
