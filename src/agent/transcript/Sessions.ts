/** Finds and reads the sessions of agents. */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Similar from "../../domain/Similar.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as TranscriptFile from "./internal/TranscriptFile.js"
import * as Transcript from "./Transcript.js"

/** Letters and digits that are not easily confused. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
const length = 8

export const make = (): string =>
  Array.from({ length }, () => alphabet[Crypto.randomInt(alphabet.length)] as string).join("")

/** Tests whether a text is a session id. No other text may become part of a path. */
const is = (text: string): boolean => text.length === length && [...text].every((one) => alphabet.includes(one))

/** How many ids a message lists. */
const mostNamed = 5

/**
 * Finds the only id that begins with a text, or explains why there is none.
 *
 * @param ids the newest first
 */
const findSessionId = (written: string, ids: ReadonlyArray<string>): Either.Either<string, string> => {
  if (ids.includes(written)) return Either.right(written)
  const shown = UntrustedText.word(written)
  const found = written === "" ? [] : ids.filter((id) => id.startsWith(written))
  const [first] = found
  if (first !== undefined && found.length === 1) return Either.right(first)
  if (first !== undefined) {
    const more = found.length > mostNamed ? `, and ${found.length - mostNamed} more` : ""
    return Either.left(`${shown} is the beginning of ${found.slice(0, mostNamed).join(", ")}${more}: write more of it.`)
  }
  const [near] = Similar.likely(written, ids)
  const advice =
    near !== undefined
      ? `. Is it ${near}?`
      : ids.length === 0
        ? ". No session is kept yet."
        : `. The newest is ${ids[0]}; synapse agent list shows all.`
  return Either.left(`There is no session ${shown}${advice}`)
}

/** Says why a session can't be found, read or resumed. */
export class NoSession extends Data.TaggedError("NoSession")<{ readonly message: string }> {}

export interface Listed {
  readonly id: string
  /** When its transcript was last written, in ms since 1970. */
  readonly time: number
  /** The transcript without messages, or why it can't be read. */
  readonly summary: Either.Either<Transcript.Transcript, string>
}

export const directoryIn = (home: string): string => Path.join(home, "sessions")

const extension = ".jsonl"

export const pathOf = (directory: string, id: string): string => Path.join(directory, `${id}${extension}`)

/** How many names of a directory are looked at. */
const most = 10_000

/** How many bytes a list reads at each end of a transcript. */
const ends = 64 * 1024

/** Returns why an existing directory can't be used for sessions. */
export const findFlaw = (directory: string): string | undefined => {
  const stats = Fs.statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) return `${directory} is no directory.`
  if (stats.uid !== process.getuid?.() && stats.uid !== 0) return `${directory} belongs to another user (${stats.uid}).`
  return (stats.mode & 0o022) === 0
    ? undefined
    : `Others may write in ${directory}: chmod 700 it, and look at what it has.`
}

/** Returns when a file was last written, in ms since 1970, or 0 if it is missing. */
export const timeOf = (path: string): number => Fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Returns all session ids, the last written first. */
export const ids = (directory: string): Effect.Effect<ReadonlyArray<string>, NoSession> =>
  Effect.suspend(() => {
    try {
      const flaw = findFlaw(directory)
      if (flaw !== undefined) return new NoSession({ message: flaw })
      const names = Fs.readdirSync(directory).filter((name) => name.endsWith(extension))
      const all = names
        .slice(0, most)
        .map((name) => name.slice(0, -extension.length))
        .filter(is)
      const timed = all.map((id) => [id, timeOf(pathOf(directory, id))] as const)
      return Effect.succeed(timed.sort((a, b) => b[1] - a[1]).map(([id]) => id))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return code === "ENOENT"
        ? Effect.succeed([])
        : new NoSession({ message: `${directory} can't be read: ${message}` })
    }
  })

/** Reads the first and last lines, without the messages. `turns` may be too small if the last lines are long. */
const listed = (directory: string, id: string): Listed => {
  const path = pathOf(directory, id)
  const read = Either.flatMap(TranscriptFile.readEnds(path, ends), (bytes) => Transcript.read(bytes, id))
  return { id, time: timeOf(path), summary: Either.map(read, (transcript) => ({ ...transcript, messages: [] })) }
}

/** Reads the first `limit` sessions, without their messages. */
export const list = (
  directory: string,
  ids: ReadonlyArray<string>,
  limit: number
): Effect.Effect<ReadonlyArray<Listed>> =>
  Effect.forEach(ids.slice(0, limit), (id) =>
    Effect.zipLeft(
      Effect.sync(() => listed(directory, id)),
      Effect.yieldNow()
    )
  )

/** Finds a session's id by its beginning. */
export const find = (directory: string, written: string): Effect.Effect<string, NoSession> =>
  Effect.flatMap(ids(directory), (all) =>
    Effect.mapError(findSessionId(written, all), (message) => new NoSession({ message }))
  )

/**
 * Finds the last written session of a directory.
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
    const message = `There is no session of ${UntrustedText.line(cwd, 300)} to continue; synapse agent list shows those of all directories.`
    return yield* new NoSession({ message })
  })

export const read = (directory: string, id: string): Effect.Effect<Transcript.Transcript, NoSession> =>
  Effect.suspend(() => {
    const path = pathOf(directory, id)
    return Effect.mapError(
      Either.flatMap(TranscriptFile.read(path), (bytes) => Transcript.read(bytes, id)),
      (reason) => new NoSession({ message: `The session ${id} can't be read: ${path}: ${reason}.` })
    )
  })
