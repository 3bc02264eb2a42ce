/** Makes the cgroups of a sandbox: one limits root's processes, which the kernel does not, and one limits the memory. */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Attempt from "../../../../domain/Attempt.js"
import * as SessionProcesses from "../../../../session/SessionProcesses.js"
import * as HostPath from "../../../policy/HostPath.js"

type Controller = "memory" | "pids"

export interface Limits {
  /** The most processes; undefined for no cgroup of processes. */
  readonly processes?: number | undefined
  /** The most memory with swap, in bytes; undefined for no cgroup of memory. */
  readonly memory?: number | undefined
}

export interface Cgroups {
  /** The files that move a process into the cgroups. */
  readonly files: ReadonlyArray<string>
  readonly limits: Limits
  /** Returns how many processes the kernel has killed because the memory was used up. */
  readonly killed: () => number
}

/** The directory that cgroups are mounted on. */
const mounted = "/sys/fs/cgroup"

const read = (file: string): string => Attempt.orElse(() => Fs.readFileSync(file, "utf8"), "")

const ownPath = (line: RegExp): string | undefined => line.exec(read("/proc/self/cgroup"))?.[1]

/** Returns this process's cgroup and, in version 2, its parent, which may set limits where this one may not. */
const candidates = (controller: Controller): ReadonlyArray<string> => {
  const first = ownPath(new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, "m"))
  if (first !== undefined) return [Path.join(mounted, controller, first)]
  const second = ownPath(/^0::(\/.*)$/m)
  return second === undefined ? [] : [Path.join(mounted, second), Path.join(mounted, Path.dirname(second))]
}

/** Removes the empty cgroups of launchers that were killed. */
const sweep = (parent: string): void => {
  for (const name of Fs.readdirSync(parent)) {
    const pid = /^synapse-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || Fs.existsSync(`/proc/${pid}`)) continue
    // Another process has removed it, or it is not empty.
    Attempt.ignore(() => Fs.rmdirSync(Path.join(parent, name)))
  }
}

/** Sets a limit of a cgroup. Returns false if the kernel has no such limit there. */
const set = (path: string, file: string, value: number): boolean =>
  Attempt.orElse(() => {
    // Opened for writing only: in a group without the controller, the file is missing and must not be created.
    const descriptor = Fs.openSync(Path.join(path, file), Fs.constants.O_WRONLY)
    try {
      return Fs.writeSync(descriptor, String(value)) > 0
    } finally {
      Fs.closeSync(descriptor)
    }
  }, false)

/** Sets the limit of a controller. The files of memory are those of version 2, or of version 1. */
const limit = (path: string, controller: Controller, most: number): boolean => {
  if (controller === "pids") return set(path, "pids.max", most)
  const isLimited = set(path, "memory.max", most) || set(path, "memory.limit_in_bytes", most)
  // Where the kernel counts no swap, both are missing.
  if (!set(path, "memory.swap.max", 0)) set(path, "memory.memsw.limit_in_bytes", most)
  return isLimited
}

/** Makes a cgroup with a limit, or sets the limit of the one that has this name already. */
const makeGroup = (name: string, controller: Controller, most: number): string | undefined => {
  for (const parent of candidates(controller)) {
    const path = Path.join(parent, name)
    // Whoever may not write there can't move a process below it.
    if (!HostPath.isAccessible(Path.join(parent, "cgroup.procs"), Fs.constants.W_OK)) continue
    Attempt.ignore(() => sweep(parent))
    const isNew = Attempt.orElse(() => Fs.mkdirSync(path) === undefined, false)
    if (limit(path, controller, most)) return path
    if (isNew) isRemoved(path)
  }
  return undefined
}

const isRemoved = (path: string): boolean => {
  try {
    Fs.rmdirSync(path)
    return true
  } catch (error) {
    // Busy until the last process in it has ended.
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

const remove = (path: string, tries = 500): Effect.Effect<void> =>
  Effect.suspend(() => (isRemoved(path) || tries === 0 ? Effect.void : Effect.delay(remove(path, tries - 1), 1)))

/** Removes the group while this process exits, after the group's processes were killed. */
const removeAtOnce = (path: string): void => {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 200; !isRemoved(path) && tries > 0; tries--) Atomics.wait(pause, 0, 0, 1)
}

/**
 * Moves this process into its current cgroup. The first move into a cgroup takes the kernel up to 25 ms, and later ones
 * almost nothing, so this begins while the sandbox is still being planned.
 */
export const warm: Effect.Effect<void> = Effect.sync(() => {
  const [own] = candidates("pids")
  if (own !== undefined) Fs.writeFile(Path.join(own, "cgroup.procs"), String(process.pid), () => {})
})

/** Makes the cgroups that can be made, and returns the limits that they have. They are removed with the scope. */
export const acquire = ({ memory, processes }: Limits): Effect.Effect<Cgroups, never, Scope.Scope> => {
  const name = `synapse-${process.pid}-${Crypto.randomUUID().slice(0, 8)}`
  const group = (controller: Controller, most: number | undefined) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => {
          const path = most === undefined ? undefined : makeGroup(name, controller, most)
          return path === undefined ? undefined : { path, forget: SessionProcesses.atExit(() => removeAtOnce(path)) }
        }),
        (made) => (made === undefined ? Effect.void : Effect.tap(remove(made.path), made.forget))
      ),
      (made) => made?.path
    )
  return Effect.map(Effect.all([group("memory", memory), group("pids", processes)]), ([ofMemory, ofProcesses]) => ({
    files: [...new Set([ofMemory, ofProcesses])].flatMap((path) => path ?? []).map((path) => `${path}/cgroup.procs`),
    limits: {
      memory: ofMemory === undefined ? undefined : memory,
      processes: ofProcesses === undefined ? undefined : processes
    },
    killed: () => {
      const events = ["memory.events", "memory.oom_control"].map((file) => read(`${ofMemory}/${file}`)).join("\n")
      return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0)
    }
  }))
}
