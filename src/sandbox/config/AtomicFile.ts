/**
 * Replaces a file as a whole, one change at a time: a reader always finds the old text or the new one, even after the
 * machine has failed, and no change overwrites another.
 */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as PlatformErrors from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as ProcessTable from "../../session/ProcessTable.js"

/**
 * The error for a lock that a running process holds for too long, or whose place is taken by something that is no lock.
 */
export class Locked extends Schema.TaggedError<Locked>("synapse/Locked")("Locked", {
  path: Schema.String,
  reason: Schema.String,
  /** The process that holds the lock; where undefined, its place is taken by something else. */
  pid: Schema.optionalWith(Schema.Number, { exact: true })
}) {
  override get message() {
    return this.reason
  }
}

/** The way in which a lock is waited for; by default, as for a change that takes milliseconds. */
export interface Waiting {
  /** Milliseconds to wait for a running process; 10000 by default. */
  readonly patience?: number
  /**
   * Tells whether the lock of a process on another machine, or in another container, is abandoned; by default, one that
   * was taken more than ten seconds ago is.
   */
  readonly isForeignStale?: Effect.Effect<boolean>
}

/** Milliseconds between two attempts: a random number from this one to its double. */
const pause = 5
/**
 * Milliseconds to wait for a lock; also the time after which the lock of a process on another machine counts as
 * abandoned.
 */
const patience = 10_000

/** The owner of a lock. Process ids are compared only within one `space`: a machine, and on Linux its PID namespace. */
const Owner = Schema.parseJson(
  Schema.Struct({
    pid: Schema.Number,
    /**
     * The start time of the process, so that a later process with the same id is not taken for it; empty where it is
     * not known.
     */
    began: Schema.String,
    space: Schema.String,
    /** The time at which the lock was taken, in milliseconds since 1970. */
    since: Schema.Number,
    /** A random id, different for each lock; a part of a name. */
    nonce: Schema.String.pipe(Schema.pattern(/^[\w-]+$/))
  })
)
type Owner = typeof Owner.Type

/** Returns the start time of a process; empty where that is not known. */
const beginOf = (pid: number): string => String(ProcessTable.stat(pid)?.started ?? "")

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

const is = (reason: PlatformErrors.SystemErrorReason) => (error: PlatformErrors.PlatformError) =>
  error instanceof PlatformErrors.SystemError && error.reason === reason

/** Reads the owner of the lock; none where the lock has just been released. */
const ownerOf = (files: FileSystem.FileSystem, path: string) =>
  files.readLink(path).pipe(
    Effect.map(Option.some),
    Effect.catchIf(is("NotFound"), () => Effect.succeedNone),
    Effect.mapError(
      (error) => new Locked({ path, reason: `${path} is in the way, which is no lock: ${error.message}` })
    )
  )

/** The most owners of a lock that are waited for, each as long as one may hold it. */
const mostOwners = 6

const make = Effect.fnUntraced(function* (files: FileSystem.FileSystem, waiting: Waiting) {
  const space = yield* spaceOf(files)
  const began = beginOf(process.pid)

  const isStale = Effect.fnUntraced(function* (owner: Owner) {
    if (owner.space !== space) {
      return yield* waiting.isForeignStale ?? Effect.map(Clock.currentTimeMillis, (now) => now - owner.since > patience)
    }
    return !isRunning(owner.pid) || (owner.began !== "" && beginOf(owner.pid) !== owner.began)
  })

  /** Tries to take the lock; returns its content, or undefined where another owner has it. */
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
   * Removes the lock of a dead process, while holding another lock named after the nonce of the dead one. So no two
   * processes do it at once, and none removes a lock that was taken in between.
   */
  const remove = (
    path: string,
    stale: string,
    nonce: string
  ): Effect.Effect<void, Locked | PlatformErrors.PlatformError> =>
    hold(
      `${path}.${nonce}`,
      Effect.flatMap(ownerOf(files, path), (found) =>
        Option.contains(found, stale) ? Effect.ignore(files.remove(path)) : Effect.void
      )
    )

  const hold = <A, E, R>(path: string, use: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        // A lock that changes hands is not stuck: the time counts from its last owner on.
        let seen = ""
        let end = 0
        const most = waiting.patience ?? patience
        // Whoever may write here could take it again and again.
        const last = (yield* Clock.currentTimeMillis) + mostOwners * most
        for (;;) {
          const content = yield* attempt(path)
          if (content !== undefined) return yield* Effect.ensuring(restore(use), release(path, content))
          const found = yield* ownerOf(files, path)
          if (Option.isNone(found)) continue
          const owner = yield* Schema.decode(Owner)(found.value).pipe(
            Effect.mapError(() => new Locked({ path, reason: `${path} is in the way, which is no lock: remove it` }))
          )
          if (seen !== owner.nonce) {
            seen = owner.nonce
            end = Math.min(last, (yield* Clock.currentTimeMillis) + most)
          }
          if (yield* isStale(owner)) yield* remove(path, found.value, owner.nonce)
          else if ((yield* Clock.currentTimeMillis) > end) {
            const reason = `process ${owner.pid} has held ${path} for too long`
            return yield* new Locked({ path, reason, pid: owner.pid })
          } else yield* restore(Effect.flatMap(Random.nextRange(pause, 2 * pause), Effect.sleep))
        }
      })
    )
  /** Returns the process that holds the lock; undefined where there is no lock, or an abandoned one. */
  const holder = Effect.fnUntraced(function* (path: string) {
    const found = yield* Effect.option(files.readLink(path))
    const owner = yield* Effect.option(Effect.flatMap(found, Schema.decode(Owner)))
    return Option.isSome(owner) && !(yield* isStale(owner.value)) ? owner.value.pid : undefined
  })

  return { hold, holder }
})

/** Returns the process that holds the lock at `path`, for who only wants to know; undefined where none does. */
export const holder = (
  path: string,
  waiting: Waiting = {}
): Effect.Effect<number | undefined, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => Effect.flatMap(make(files, waiting), ({ holder }) => holder(path)))

/** Runs an effect while holding the lock at `path`. Fails with Locked after waiting for a running process. */
export const withLock =
  (path: string, waiting: Waiting = {}) =>
  <A, E, R>(
    use: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | Locked | PlatformErrors.PlatformError, R | FileSystem.FileSystem> =>
    Effect.flatMap(FileSystem.FileSystem, (files) =>
      Effect.flatMap(make(files, waiting), ({ hold }) => hold(path, use))
    )

/** The mode of a file that was not there before. */
const ownerOnly = 0o600

/**
 * Writes the text to a file beside `path`, whose name is always the same, and renames it. The mode and the owner stay;
 * a new file is readable by its owner only. Fails for a file that may not be written, even where its directory may.
 */
const replace = (
  path: string,
  text: string
): Effect.Effect<void, PlatformErrors.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const temporary = Path.join(Path.dirname(path), `.${Path.basename(path)}.new`)

    const write = Effect.gen(function* () {
      const old = (yield* files.exists(path)) ? yield* files.stat(path) : undefined
      if (old !== undefined) yield* files.open(path, { flag: "r+" })
      // A process that died here has left its draft.
      yield* files.remove(temporary, { force: true })
      const file = yield* files.open(temporary, { flag: "wx", mode: ownerOnly })
      yield* file.writeAll(new TextEncoder().encode(text))
      if (old !== undefined) {
        const made = yield* file.stat
        const { gid, mode, uid } = old
        const isOwned = Equal.equals(made.uid, uid) && Equal.equals(made.gid, gid)
        // By the descriptor: a command may have put a link in its place.
        yield* Effect.try({
          try: () => {
            if (!isOwned && uid._tag === "Some" && gid._tag === "Some") Fs.fchownSync(file.fd, uid.value, gid.value)
            Fs.fchmodSync(file.fd, mode & 0o7777)
          },
          catch: (cause) =>
            new PlatformErrors.SystemError({
              reason: "PermissionDenied",
              module: "FileSystem",
              method: "chmod",
              pathOrDescriptor: temporary,
              description: (cause as Error).message,
              cause
            })
        })
      }
      yield* file.sync
    })

    yield* Effect.scoped(write).pipe(
      Effect.zipRight(files.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true })))
    )
    // The new name has to survive a failure of the machine as well; not every file system can do that.
    const directory = Effect.flatMap(files.open(Path.dirname(path), { flag: "r" }), ({ sync }) => sync)
    yield* Effect.ignore(Effect.scoped(directory))
  }).pipe(Effect.uninterruptible)

/**
 * Runs `change` while no other process and no other fiber changes the file, and replaces the file with the text that it
 * returns; with none, the file stays. Returns whether the file was replaced. `change` has to read the file itself, for
 * only then is it the current text.
 *
 * Fails with Locked where a running process has held the lock for ten seconds.
 *
 * @param path the file's real path
 */
export const update = <E, R>(
  path: string,
  change: Effect.Effect<Option.Option<string>, E, R>
): Effect.Effect<boolean, E | Locked | PlatformErrors.PlatformError, R | FileSystem.FileSystem> =>
  change.pipe(
    Effect.tap(Option.match({ onNone: () => Effect.void, onSome: (text) => replace(path, text) })),
    Effect.map(Option.isSome),
    withLock(`${path}.lock`)
  )
