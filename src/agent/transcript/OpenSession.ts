/** Begins and resumes sessions. Only one process at a time runs a session. */
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Version from "../../domain/Version.js"
import * as Directories from "../../files/Directories.js"
import * as AtomicFile from "../../sandbox/config/AtomicFile.js"
import * as TranscriptFile from "./internal/TranscriptFile.js"
import * as Sessions from "./Sessions.js"
import * as Transcript from "./Transcript.js"

/** A session that this process runs. */
export interface OpenSession {
  readonly id: string
  /** The file's content when the session was opened. */
  readonly transcript: Transcript.Transcript
  /** Writes what follows, or says why that is impossible. */
  readonly writer: Either.Either<TranscriptFile.Writer, TranscriptFile.NotKept>
}

/** How long to wait for a process that is about to end, in ms. */
const patience = 1000

/**
 * How long, in ms, a transcript must be untouched before a run on another machine or in a container counts as ended.
 */
const silence = 180_000

const lockOf = (directory: string, id: string): string => Path.join(directory, `.${id}.lock`)

const waitingFor = (path: string): AtomicFile.Waiting => ({
  patience,
  isForeignStale: Effect.map(Clock.currentTimeMillis, (now) => now - Sessions.timeOf(path) > silence)
})

/** Returns the id of the process that runs a session, if any. */
export const runner = (
  directory: string,
  id: string
): Effect.Effect<number | undefined, never, FileSystem.FileSystem> =>
  AtomicFile.holder(lockOf(directory, id), waitingFor(Sessions.pathOf(directory, id)))

/** Runs an effect while no other process runs the session. */
const exclusively = <A, E, R>(
  directory: string,
  id: string,
  use: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Sessions.NoSession, R | FileSystem.FileSystem> =>
  Effect.either(use).pipe(
    AtomicFile.withLock(lockOf(directory, id), waitingFor(Sessions.pathOf(directory, id))),
    Effect.mapError((error) =>
      refused(
        error._tag === "Locked" && error.pid !== undefined
          ? `The session ${id} is run by process ${error.pid}: wait for it, or end it.`
          : `The session ${id} can't be locked: ${error.message}`
      )
    ),
    Effect.flatten
  )

const refused = (message: string) => new Sessions.NoSession({ message })

/** Touches the transcript regularly until the scope closes. */
const touching = (writer: OpenSession["writer"]): Effect.Effect<void, never, Scope.Scope> =>
  Either.isLeft(writer)
    ? Effect.void
    : Effect.asVoid(Effect.forkScoped(Effect.repeat(writer.right.touch, Schedule.spaced(silence / 6))))

/**
 * Begins a session. If it can't be kept, it runs without a transcript.
 *
 * @param cwd the real path of the directory that its shell starts in
 * @param prompt the beginning of its prompt, for lists
 */
export const begin = <A, E, R>(
  directory: string,
  { cwd, prompt }: { readonly cwd: string; readonly prompt: string },
  use: (session: OpenSession) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const id = Sessions.make()
    const time = new Date(yield* Clock.currentTimeMillis).toISOString()
    const transcript = Transcript.begin({
      type: "session",
      version: 1,
      id,
      time,
      cwd,
      prompt,
      synapse: Version.current
    })
    const path = Sessions.pathOf(directory, id)
    const without = (reason: string) =>
      use({ id, transcript, writer: Either.left(new TranscriptFile.NotKept({ path, reason })) })
    const flaw = prepare(directory)
    if (flaw !== undefined) return yield* without(flaw)
    const kept = Effect.scoped(
      Effect.flatMap(Effect.either(TranscriptFile.create(path, transcript.session)), (writer) =>
        Effect.zipRight(touching(writer), use({ id, transcript, writer }))
      )
    )
    const ran = yield* Effect.either(exclusively(directory, id, Effect.either(kept)))
    return yield* Either.isLeft(ran) ? without(ran.left.message) : ran.right
  })

/** Creates the sessions' directory, or returns why it can't be used. */
const prepare = (directory: string): string | undefined => {
  try {
    const flaw = Sessions.findFlaw(directory)
    if (flaw === undefined) Directories.make(directory)
    return flaw
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Resumes a session. Removes an incomplete last line from its transcript. */
export const resume = <A, E, R>(
  directory: string,
  id: string,
  use: (session: OpenSession) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Sessions.NoSession, R | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const transcript = yield* Sessions.read(directory, id)
    const writer = yield* Effect.either(TranscriptFile.open(Sessions.pathOf(directory, id), transcript.length))
    yield* touching(writer)
    return yield* use({ id, transcript, writer })
  }).pipe(Effect.scoped, (running) => exclusively(directory, id, running))
