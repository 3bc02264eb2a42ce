/** Limits the number of a sandbox's processes for root too, by a cgroup of its own where one can be made. */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Attempt from "../../../../domain/Attempt.js"
import * as SessionProcesses from "../../../../session/SessionProcesses.js"

/** The directory that cgroups are mounted on. */
const mounted = "/sys/fs/cgroup"

const ownPath = (line: RegExp): string | undefined =>
  Attempt.orUndefined(() => line.exec(Fs.readFileSync("/proc/self/cgroup", "utf8"))?.[1])

/** Returns the cgroup of this process, and in version 2 its parent, which may set limits where ours must not. */
const candidates = (): ReadonlyArray<string> => {
  const first = ownPath(/^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(\/.*)$/m)
  if (first !== undefined) return [Path.join(mounted, "pids", first)]
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

const make = (processes: number): string | undefined => {
  for (const parent of candidates()) {
    const path = Path.join(parent, `synapse-${process.pid}-${Crypto.randomUUID().slice(0, 8)}`)
    try {
      sweep(parent)
      Fs.mkdirSync(path)
    } catch {
      continue
    }
    try {
      // Opened for writing only: a group without the controller has no such file, and must not get one.
      const file = Fs.openSync(Path.join(path, "pids.max"), Fs.constants.O_WRONLY)
      Fs.writeSync(file, String(processes))
      Fs.closeSync(file)
      return path
    } catch {
      Fs.rmdirSync(path)
    }
  }
  return undefined
}

const isRemoved = (path: string): boolean => {
  try {
    Fs.rmdirSync(path)
    return true
  } catch (error) {
    // Busy until the last process in it has gone.
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

const remove = (path: string, tries = 500): Effect.Effect<void> =>
  Effect.suspend(() => (isRemoved(path) || tries === 0 ? Effect.void : Effect.delay(remove(path, tries - 1), 1)))

/** Removes the group while the process exits, after its processes were killed. */
const removeAtOnce = (path: string): void => {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 200; !isRemoved(path) && tries > 0; tries--) Atomics.wait(pause, 0, 0, 1)
}

/**
 * Moves this process into the cgroup that it is in already. The first move into a cgroup takes the kernel up to 25 ms,
 * and those soon after it next to nothing; so this begins while the sandbox is still being planned.
 */
export const warm: Effect.Effect<void> = Effect.sync(() => {
  const [own] = candidates()
  if (own !== undefined) Fs.writeFile(Path.join(own, "cgroup.procs"), String(process.pid), () => {})
})

/**
 * Makes a cgroup for at most `processes` processes, and returns the file that moves a process into it; undefined where
 * none can be made. The cgroup is removed with the scope.
 */
export const acquire = (processes: number): Effect.Effect<string | undefined, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const path = make(processes)
        return path === undefined ? undefined : { path, forget: SessionProcesses.atExit(() => removeAtOnce(path)) }
      }),
      (group) => (group === undefined ? Effect.void : Effect.tap(remove(group.path), group.forget))
    ),
    (group) => (group === undefined ? undefined : Path.join(group.path, "cgroup.procs"))
  )
