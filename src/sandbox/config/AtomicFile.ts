/**
 * Replaces a file as a whole, one change at a time. A reader always finds the old or the new text, even after a crash
 * of the machine, and no change overwrites another.
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

/** The error for a lock that a running process holds too long, or whose path is taken by something else. */
export class Locked extends Schema.TaggedError<Locked>("synapse/Locked")("Locked", {
  path: Schema.String,
  reason: Schema.String,
  /** The process that holds the lock; undefined if something else is in its place. */
  pid: Schema.optionalWith(Schema.Number, { exact: true })
}) {
  override get message() {
    return this.reason
  }
}

/** How to wait for a lock. The defaults suit changes that take milliseconds. */
export interface Waiting {
  /** How long to wait for a running process, in ms; 10000 by default. */
  readonly patience?: number
  /** Decides whether a lock of another machine or container is abandoned; by default, after ten seconds. */
  readonly isForeignStale?: Effect.Effect<boolean>
}

/** The shortest pause between two attempts, in ms. The actual pause is random, up to twice as long. */
const pause = 5
/** How long to wait for a lock, and when a lock of another machine counts as abandoned, in ms. */
const patience = 10_000

/** The owner of a lock. Process ids are compared only within one `space`: a machine, and on Linux its PID namespace. */
const Owner = Schema.parseJson(
  Schema.Struct({
    pid: Schema.Number,
    /**
     * The start time of the process, so that a later process with the same id is not mistaken for it; empty if unknown.
     */
    began: Schema.String,
    space: Schema.String,
    /** When the lock was taken, in ms since 1970. */
    since: Schema.Number,
    /** A random id for each lock. It becomes part of a file name. */
    nonce: Schema.String.pipe(Schema.pattern(/^[\w-]+$/))
  })
)
type Owner = typeof Owner.Type

/** Returns the start time of a process; empty if unknown. */
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

/** Reads the owner of the lock; none if the lock has just been released. */
const ownerOf = (files: FileSystem.FileSystem, path: string) =>
  files.readLink(path).pipe(
    Effect.map(Option.some),
    Effect.catchIf(is("NotFound"), () => Effect.succeedNone),
    Effect.mapError(
      (error) => new Locked({ path, reason: `${path} is in the way, which is no lock: ${error.message}` })
    )
  )

/** How many owners of a lock are waited for in turn, each for the full patience. */
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

  /** Tries to take the lock. Returns its content, or undefined if another owner has it. */
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
   * Removes the lock of a dead process while holding a second lock, named after the dead one's nonce. So only one
   * process does it at a time, and none removes a lock that was taken in between.
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
        // A lock that changes hands is not stuck, so the wait restarts with each new owner.
        let seen = ""
        let end = 0
        const most = waiting.patience ?? patience
        // A hard limit, because another process with write access here could retake the lock again and again.
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
  /** Returns the process that holds the lock; undefined if there is no lock or an abandoned one. */
  const holder = Effect.fnUntraced(function* (path: string) {
    const found = yield* Effect.option(files.readLink(path))
    const owner = yield* Effect.option(Effect.flatMap(found, Schema.decode(Owner)))
    return Option.isSome(owner) && !(yield* isStale(owner.value)) ? owner.value.pid : undefined
  })

  return { hold, holder }
})

/** Returns the process that holds the lock at `path`, without taking the lock; undefined if none does. */
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

/** The mode of a new file. */
const ownerOnly = 0o600

/**
 * Writes the text to a draft beside `path`, under a fixed name, and renames it. Mode and owner stay; a new file is
 * readable by its owner only. Fails if the file is not writable, even if its directory is.
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
        // By descriptor, because a command may have replaced the draft with a link.
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
    // The rename must survive a crash of the machine too, as far as the file system supports that.
    const directory = Effect.flatMap(files.open(Path.dirname(path), { flag: "r" }), ({ sync }) => sync)
    yield* Effect.ignore(Effect.scoped(directory))
  }).pipe(Effect.uninterruptible)

/**
 * Runs `change` under the file's lock, and replaces the file with the text that it returns, if any. Returns whether the
 * file was replaced. `change` must read the file itself, since only then is the text current.
 *
 * Fails with Locked if a running process holds the lock for ten seconds.
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
