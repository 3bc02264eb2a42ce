/**
 * A lock between processes, for the time of a change to a file: `AtomicFile` holds it. The lock is a symbolic link whose target
 * names its owner: made in one step, whole or not at all, on every file system. The lock of a process that died is taken over.
 *
 * @internal
 */
import * as Crypto from "node:crypto"
import * as Os from "node:os"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"

/**
 * Says that a process that lives has held the lock all the time, or that something else is in its place.
 *
 * @since 0.1.0
 * @category errors
 */
export class Locked extends Schema.TaggedError<Locked>("synapse/Locked")("Locked", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** Milliseconds between two tries, at least. */
const pause = 5
/** Milliseconds that a change never takes: for so long we wait, and as long the lock of another machine's process holds. */
const patience = 10_000

/** Who holds a lock. Process ids mean something within a `space` only: a machine, and on Linux a namespace. */
const Owner = Schema.parseJson(
  Schema.Struct({
    pid: Schema.Number,
    /** When the process began, so that another one with its id is not taken for it; empty where that is not known. */
    began: Schema.String,
    space: Schema.String,
    /** Milliseconds since 1970. */
    since: Schema.Number,
    /** Of this one lock and no other. */
    nonce: Schema.String
  })
)
type Owner = typeof Owner.Type

/** Field 22 of `/proc/<pid>/stat`; what stands before may hold anything, but ends with the last parenthesis. */
const beginOf = (files: FileSystem.FileSystem, pid: number): Effect.Effect<string> =>
  files.readFileString(`/proc/${pid}/stat`).pipe(
    Effect.map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""),
    Effect.orElseSucceed(() => "")
  )

const spaceOf = (files: FileSystem.FileSystem): Effect.Effect<string> =>
  files.readLink("/proc/self/ns/pid").pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((namespace) => `${Os.hostname()} ${namespace}`)
  )

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const is = (reason: PlatformError.SystemErrorReason) => (error: PlatformError.PlatformError) =>
  error instanceof PlatformError.SystemError && error.reason === reason

/** Owner of the lock; nothing where it has just been released. */
const ownerOf = (files: FileSystem.FileSystem, path: string) =>
  files.readLink(path).pipe(
    Effect.map(Option.some),
    Effect.catchIf(is("NotFound"), () => Effect.succeedNone),
    Effect.mapError(
      (error) => new Locked({ path, reason: `${path} is in the way, which is no lock: ${error.message}` })
    )
  )

const make = Effect.fnUntraced(function* (files: FileSystem.FileSystem) {
  const space = yield* spaceOf(files)
  const began = yield* beginOf(files, process.pid)

  const isStale = Effect.fnUntraced(function* (owner: Owner) {
    if (owner.space !== space) return (yield* Clock.currentTimeMillis) - owner.since > patience
    if (!isRunning(owner.pid)) return true
    return owner.began !== "" && (yield* beginOf(files, owner.pid)) !== owner.began
  })

  /** Answers with the lock's content, or who has it. */
  const attempt = Effect.fnUntraced(function* (path: string) {
    const since = yield* Clock.currentTimeMillis
    const content = JSON.stringify({ pid: process.pid, began, space, since, nonce: Crypto.randomUUID() })
    const made = yield* files.symlink(content, path).pipe(
      Effect.as(true),
      Effect.catchIf(is("AlreadyExists"), () => Effect.succeed(false))
    )
    return made ? content : undefined
  })

  const release = (path: string, content: string) =>
    Effect.flatMap(Effect.option(files.readLink(path)), (found) =>
      Option.contains(found, content) ? Effect.ignore(files.remove(path)) : Effect.void
    )

  /**
   * Takes away the lock of a dead process. Whoever does that holds a lock of its own for it, named after that very lock, which
   * never comes again: so nobody takes away a lock that was made anew in between.
   */
  const remove = (
    path: string,
    stale: string,
    nonce: string
  ): Effect.Effect<void, Locked | PlatformError.PlatformError> =>
    hold(
      `${path}.${nonce}`,
      Effect.flatMap(ownerOf(files, path), (found) =>
        Option.contains(found, stale) ? Effect.ignore(files.remove(path)) : Effect.void
      )
    )

  const hold = <A, E, R>(path: string, use: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const end = (yield* Clock.currentTimeMillis) + patience
        for (;;) {
          const content = yield* attempt(path)
          if (content !== undefined) return yield* Effect.ensuring(restore(use), release(path, content))
          const found = yield* ownerOf(files, path)
          if (Option.isNone(found)) continue
          const owner = yield* Schema.decode(Owner)(found.value).pipe(
            Effect.mapError(() => new Locked({ path, reason: `${path} is in the way, which is no lock: remove it` }))
          )
          if (yield* isStale(owner)) yield* remove(path, found.value, owner.nonce)
          else if ((yield* Clock.currentTimeMillis) > end) {
            return yield* new Locked({ path, reason: `process ${owner.pid} has held ${path} for too long` })
          } else yield* restore(Effect.flatMap(Random.nextRange(pause, 2 * pause), Effect.sleep))
        }
      })
    )
  return hold
})

/**
 * Runs the effect while nobody else holds the lock at `path`. Waits ten seconds for a process that lives, and then fails.
 *
 * @internal
 */
export const withLock =
  (path: string) =>
  <A, E, R>(
    use: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | Locked | PlatformError.PlatformError, R | FileSystem.FileSystem> =>
    Effect.flatMap(FileSystem.FileSystem, (files) => Effect.flatMap(make(files), (hold) => hold(path, use)))
