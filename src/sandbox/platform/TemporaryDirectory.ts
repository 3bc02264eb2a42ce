/**
 * The private directories that replace `/tmp` in sandboxes: one per working directory, inside a directory that only
 * this user can enter. Sessions hold the one they use. An unheld one is removed after a week without use, or if it
 * holds more than 2 GiB.
 */

import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as PrivateDirectory from "../../session/PrivateDirectory.js"
import * as BytePath from "../policy/BytePath.js"
import * as HeldDirectory from "../policy/HeldDirectory.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as EntryBelow from "./EntryBelow.js"
import * as ToolCache from "./ToolCache.js"

const unusedAfter = 7 * 24 * 3600 * 1000
const mostKibibytes = 2 * 1024 ** 2
const sweptEvery = 3600 * 1000

/** The directory beside a temporary directory with one entry per session that holds it. */
const holdsOf = (path: string): string => `${path}.in-use`
/** The file that marks a temporary directory as past the size limit. */
const fullMark = (path: string): string => `${path}.full`

const statOf = (path: string | Buffer): Fs.Stats | undefined => Fs.lstatSync(path, { throwIfNoEntry: false })

const namesIn = (path: string): ReadonlyArray<string> => Attempt.orElse(() => Fs.readdirSync(path), [])

/**
 * Moves the temporary directory away, unless a session holds it, and returns its new path. A starting session makes its
 * entry before it looks for this one's, so that one of the two gives way.
 */
const takeAway = (path: string): string | undefined => {
  const holds = holdsOf(path)
  let own: string | undefined
  try {
    ToolCache.own(holds)
    own = PrivateDirectory.makeOwned(holds, "sandbox")
    const { base } = Path.parse(own)
    if (namesIn(holds).some((name) => name !== base && PrivateDirectory.isOwned(holds, name))) return undefined
    const gone = Path.join(Path.dirname(path), `gone-${Crypto.randomUUID()}`)
    Fs.renameSync(path, gone)
    Fs.rmSync(fullMark(path), { force: true })
    return gone
  } catch {
    return undefined
  } finally {
    if (own !== undefined) letGo(own)
  }
}

/** Removes a session's entry and its mount points, and the directory of entries if it is then empty. */
const letGo = (own: string): void => {
  // Other sessions are there.
  Attempt.ignore(() => {
    for (const name of namesIn(own)) dropPoint(Path.join(own, name))
    Fs.rmdirSync(own)
    Fs.rmdirSync(Path.dirname(own))
  })
}

/** Removes a session's record of a mount point, and the point itself unless another session has it or commands filled it. */
const dropPoint = (record: string): void => {
  // Commands have filled or removed it.
  Attempt.ignore(() => {
    const point = BytePath.readLink(record)
    Fs.unlinkSync(record)
    const holds = Path.dirname(Path.dirname(record))
    if (namesIn(holds).some((hold) => statOf(Path.join(holds, hold, Path.basename(record))) !== undefined)) return
    // A command may have put a link to a directory outside on the way.
    HeldDirectory.within(Path.dirname(point), (reached) => {
      const at = BytePath.toHost(`${reached}/${Path.basename(point)}`)
      if (Fs.lstatSync(at).isDirectory()) Fs.rmdirSync(at)
      else if (PrivateTemporary.isPlace(at)) Fs.unlinkSync(at)
    })
  })
}

const removing = 'chmod -R u+rwX -- "$@" 2>/dev/null; rm -rf -- "$@"'

const measuring = `shift
for path; do
  size=$(du -skx -- "$path" 2>/dev/null | { read -r size _; echo "$size"; })
  if [ "\${size:-0}" -gt ${mostKibibytes} ]; then : >"$path.full"; fi
done`

/** Runs a script that outlives this process and follows no links. */
const runApart = (script: string, paths: ReadonlyArray<string>): void => {
  if (paths.length > 0) PrivateDirectory.runApart(script, "sweep", ...paths)
}

const listIn = (all: string): ReadonlyArray<string> =>
  namesIn(all).flatMap((name) => (/^[0-9a-f]{16}$/.test(name) ? [Path.join(all, name)] : []))

const isDue = (path: string): boolean => {
  const used = statOf(path)?.mtimeMs ?? Date.now()
  return statOf(fullMark(path)) !== undefined || used < Date.now() - unusedAfter
}

/** Removes the directories that are due and measures the others, at most once an hour. */
const sweep = (all: string): void => {
  const mark = Path.join(all, "swept")
  if ((statOf(mark)?.mtimeMs ?? 0) > Date.now() - sweptEvery) return
  Fs.writeFileSync(mark, "")
  const paths = listIn(all)
  runApart(removing, leftIn(all).concat(paths.filter(isDue).flatMap((path) => takeAway(path) ?? [])))
  runApart(measuring, ["", ...paths])
}

/** Returns what earlier removals have left behind. */
const leftIn = (all: string): Array<string> =>
  namesIn(all).flatMap((name) => (name.startsWith("gone-") ? [Path.join(all, name)] : []))

/** Removes all directories that no session holds. Returns how many were removed and how many are in use. */
export const clean = (all: string): { readonly removed: number; readonly used: number } => {
  const paths = listIn(all)
  const gone = paths.flatMap((path) => takeAway(path) ?? [])
  const left = leftIn(all)
  for (const path of left) ChildProcess.spawnSync("/bin/sh", ["-c", removing, "clean", path], { stdio: "ignore" })
  return { removed: gone.length, used: paths.length - gone.length }
}

/** Tests whether a session holds one of the directories. */
export const isUsed = (all: string): boolean =>
  listIn(all)
    .map(holdsOf)
    .some((holds) => namesIn(holds).some((name) => PrivateDirectory.isOwned(holds, name)))

/** A temporary directory that a session holds. */
export type Held = ReturnType<typeof open>

/** Creates the directory that holds all temporary directories, so that every sandbox hides it. Empty if that fails. */
export const parents = (all: string | undefined): ReadonlyArray<string> =>
  Attempt.orElse(() => {
    if (all === undefined) return []
    ToolCache.ownParent(all)
    return [Fs.realpathSync.native(all)]
  }, [])

/** Opens a policy's directory. Undefined if it has none or can have none; the sandbox's `/tmp` then starts empty. */
export const find = ({ temporary }: Pick<SandboxPolicy, "temporary">): Held | undefined =>
  Attempt.orUndefined(() => (temporary === undefined ? undefined : open(temporary)))

/** How often opening is retried while the directory is being removed, and the pause in ms. */
const mostTries = 200
const pause = 5

/** Makes a session's entry. Another session may just be removing the surrounding directory. */
const makeHold = (path: string): string => {
  ToolCache.own(holdsOf(path))
  try {
    return PrivateDirectory.makeOwned(holdsOf(path), "hold")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    return makeHold(path)
  }
}

const hold = (path: string): string => {
  for (let tries = 0; ; tries++) {
    const own = makeHold(path)
    const isSwept = namesIn(holdsOf(path)).some(
      (name) => name.startsWith("sandbox-") && PrivateDirectory.isOwned(holdsOf(path), name)
    )
    if (!isSwept) return own
    letGo(own)
    if (tries === mostTries) throw new Error(`${path} is being removed`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
  }
}

/** Creates a policy's directory if needed, and holds it. Throws if it can't be this user's alone. */
export const open = ({ path }: Rule) => {
  const all = Path.dirname(path)
  ToolCache.ownParent(all)
  if (statOf(fullMark(path)) !== undefined) runApart(removing, [takeAway(path) ?? []].flat())
  const own = hold(path)
  try {
    for (const name of namesIn(holdsOf(path))) {
      if (!PrivateDirectory.isOwned(holdsOf(path), name)) letGo(Path.join(holdsOf(path), name))
    }
    ToolCache.own(path, 0o1777)
    Fs.utimesSync(path, new Date(), new Date())
    sweep(all)
    const real = Fs.realpathSync.native(path)
    const recordOf = (point: string) =>
      Path.join(own, Crypto.createHash("sha1").update(BytePath.encode(point)).digest("hex"))
    return {
      path: real,
      /**
       * Creates a mount point below the directory, and returns its path. Anything else that commands have put there is
       * removed. The last session that has the point removes it.
       */
      point: (inside: string, kind: "file" | "directory"): string => {
        const at = Path.join(real, inside)
        // Recorded, so that the next session removes it if this one is killed.
        if (statOf(recordOf(at)) === undefined) Fs.symlinkSync(BytePath.encode(at), recordOf(at))
        EntryBelow.make(real, inside, kind)
        return at
      },
      /** Removes a mount point, once nothing is mounted on it. */
      unpoint: (inside: string): void => dropPoint(recordOf(Path.join(real, inside))),
      release: (): void => letGo(own)
    }
  } catch (error) {
    letGo(own)
    throw error
  }
}
