/**
 * Builds the command line that starts a sandbox around a shell. Every step executes the next one in its own process, so
 * that one process of ours is left, which ends with the shell, and the shell with it.
 */

import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Attempt from "../../../../domain/Attempt.js"
import * as SessionProcesses from "../../../../session/SessionProcesses.js"
import type { Spawnable } from "../../../../session/ShellLauncher.js"
import { descriptors, type PlanDirectory } from "../plan/Plan.js"

/** The most instances of a sandbox, for a program that watches files has one or two. */
const most = 64

/** The part of the user's instances, and of the user's watches, that one sandbox gets at most. */
const partOfInstances = 1 / 2
const partOfWatches = 3 / 4

const read = (name: string): number =>
  Attempt.orElse(() => Number(Fs.readFileSync(`/proc/sys/user/${name}`, "latin1")), Number.NaN)

/** Returns the most instances and the most watches of one sandbox; undefined where the kernel has no such limits. */
export const find = (limit: (name: string) => number = read): readonly [number, number] | undefined => {
  const instances = limit("max_inotify_instances")
  const watches = limit("max_inotify_watches")
  if (!(instances > 1 && watches > 1)) return undefined
  return [Math.min(most, Math.floor(instances * partOfInstances)), Math.floor(watches * partOfWatches)]
}

/**
 * The way a sandbox is built: in a mount namespace that the launcher can enter to change mounts (`mount` where the
 * launcher may make one itself, `user` where that takes a user namespace), or by bubblewrap alone (`single`).
 */
export type Level = "mount" | "user" | "single"

/**
 * The most processes and threads of a sandbox, where its policy names no number: a build with a worker for each of 64 cores
 * has some 1,300. For root, whom the kernel does not limit, a cgroup enforces it.
 */
export const processes = 2048

/** The message on standard error where a mask can't be mounted; the sandbox does not start then. */
export const unmasked = "synapse-sandbox: not all masks could be mounted"

/** The word on descriptor 3 that lets a launch go on which was started before its plan was written. */
export const go = "synapse-go"

/** Limits inotify in the user namespace that it runs in: `$1` instances, `$2` watches. */
const limiting = `builtin echo "$1" >/proc/sys/user/max_inotify_instances
  builtin echo "$2" >/proc/sys/user/max_inotify_watches`

/**
 * The bash script that prepares the sandbox and becomes bubblewrap. Of the descriptors it passes on 3, the supervisor's
 * socket. `$1` is the plan's directory, `$2` the program
 * `mount` or nothing, `$3` the file that moves a process into the cgroup or nothing, `$4` is not empty where there is a
 * gate, `$5` where the plan is still being made: the script then waits for a word on descriptor 3, and ends where that
 * is closed without one. `$6` is the most instances and watches of inotify for the commands, or nothing, and `$7` the program
 * `nsenter` where the first user namespace is bubblewrap's. `$8` is bubblewrap; the shell follows.
 *
 * Masks are mounted after bubblewrap has made its mounts: it would have to process each mask that was mounted earlier.
 * The gate tells when its mounts are made: bubblewrap then reads the gate's first descriptor, which is given more bytes
 * than a pipe holds, so that the writer goes on only when they are read. The seccomp filter comes through the second
 * descriptor, and only once all masks are mounted. Bubblewrap waits for the filter and fails without it; so it fails as
 * well where mounting the masks fails, or the process that mounts them dies.
 *
 * The first move into a cgroup takes the kernel long, and the next one no time: so the first is made by a process that
 * does nothing else, while bubblewrap works. The gate's first descriptor is the pipe from that process, whose writing
 * end is opened again by its name.
 */
const script = (processes: number): string => `
plan=$1 mount=$2 cgroup=$3 gate=$4 early=$5 watches=($6) nsenter=$7 bwrap=$8
shift 8
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  if (( fd > 3 )); then exec {fd}>&-; fi
done
if [[ ! -S /proc/self/fd/3 ]]; then exec 3>&-; fi
ulimit -c 0
if [[ $mount ]]; then ulimit -u ${processes}; fi 2>/dev/null
enter() {
  if [[ $cgroup ]]; then builtin echo "$1" >"$cgroup"; fi
} 2>/dev/null
enterOthers() {
  local pid
  for pid in $(<"/proc/$$/task/$$/children"); do
    if (( pid != BASHPID )); then enter "$pid"; fi
  done
} 2>/dev/null
limitWatches() {
${limiting}
} 2>/dev/null
limitWatchesInside() {
  local pids pid
  read -r -a pids <"/proc/$$/task/$$/children"
  for pid in "\${pids[@]}"; do
    if [[ ! -e /proc/$pid/ns/user || /proc/$pid/ns/user -ef /proc/self/ns/user ]]; then continue; fi
    exec "$nsenter" --user --target "$pid" -- "$BASH" --norc --noprofile -p -c '${limiting}' synapse-limit "$@"
  done
} </dev/null >/dev/null 2>&1
mask() {
  "$mount" -c -a -T "$plan/masks" && [[ $plan/masked -ef $plan/placeholders/directory ]] && return
  # A file has vanished, or this mount knows no tables.
  local source target
  "$mount" --bind "$plan/placeholders" "$plan/placeholders" &&
    "$mount" -o remount,bind,ro,nosuid,nodev,noexec "$plan/placeholders" || return
  while IFS= read -r -d '' source && IFS= read -r -d '' target; do
    [[ -e $target ]] || continue
    "$mount" --bind -- "$source" "$target"
    [[ $target -ef $source || ! -e $target ]] || return
  done <"$plan/targets"
}
open() {
  printf '%70000s' '' >&6 && exec 6>&- || return
  if [[ $cgroup ]]; then enterOthers; fi
  if [[ $nsenter ]]; then limitWatchesInside "\${watches[@]}" & fi
  if [[ $mount ]] && ! mask </dev/null >&2; then
    printf '%s\\n' '${unmasked}' >&2
    return 1
  fi
  wait
  local filter
  IFS= read -r filter <"$plan/filter" && printf "$filter"
}
if [[ $watches && ! $nsenter ]]; then limitWatches "\${watches[@]}"; fi
if [[ $gate ]]; then
  exec ${descriptors.gate}< <(exec >&-; enter $BASHPID) 6>/proc/self/fd/${descriptors.gate} || exit
  exec ${descriptors.seccomp}< <(exec ${descriptors.gate}<&-; open) 6>&- || exit
fi
if [[ $early ]]; then
  IFS= read -r -d '' early <&3 && [[ $early == ${go} ]] || exit
fi
exec ${descriptors.arguments}<"$plan/arguments" || exit
if [[ ! $gate ]]; then exec ${descriptors.seccomp}<"$plan/seccomp" || exit; fi
exec "$bwrap" --args ${descriptors.arguments} -- "$@"
`

/**
 * Sets the limit on processes within bubblewrap's user namespace. The kernel counts the processes of a user in a user
 * namespace and all below it; outside, all processes of the user would count.
 */
const limited = (bash: string, shell: Spawnable, processes: number): ReadonlyArray<string> => [
  ...[bash, "--norc", "--noprofile", "-p", "-c", `ulimit -u ${processes} 2>/dev/null; exec -- "$@"`, "synapse-limit"],
  ...[shell.program, ...shell.args]
]

/**
 * Makes a mount namespace whose mounts propagate to the sandbox and nowhere else. It takes two, since mounts of the launcher
 * may be shared or slaves: those of the first are private, so that those of the second are shared with nothing else.
 */
const doorway = (unshare: string, level: Level): ReadonlyArray<string> =>
  level === "single"
    ? []
    : [
        ...[unshare, ...(level === "user" ? ["--user", "--map-root-user"] : []), "--mount", "--propagation", "private"],
        ...[unshare, "--mount", "--propagation", "shared"]
      ]

/** The options of `make`. */
export interface LaunchOptions {
  readonly level: Level
  readonly plan: Pick<PlanDirectory, "path">
  readonly programs: {
    readonly bash: string
    readonly bwrap: string
    readonly unshare: string | undefined
    readonly mount: string | undefined
    readonly nsenter?: string | undefined
  }
  /** The most instances and watches of inotify for the commands, where the level has a namespace that can be told. */
  readonly watches?: readonly [number, number] | undefined
  readonly processes?: number | undefined
  /** True where bubblewrap waits until the masks are mounted and the cgroup is entered. */
  readonly gate: boolean
  /** True where the launch is started before the plan is written, and waits for the word `go`. */
  readonly early?: boolean
  /** The file that moves a process into the sandbox's cgroup. */
  readonly cgroup?: string | undefined
  readonly shell: Spawnable
}

/**
 * The limits of inotify, and `nsenter` where bubblewrap makes the first user namespace. Without one to set them in, they
 * would be the user's own.
 */
const limits = ({ level, programs, watches }: LaunchOptions): readonly [string, string] => {
  if (watches === undefined || level === "single") return ["", ""]
  if (level === "user") return [watches.join(" "), ""]
  return programs.nsenter === undefined ? ["", ""] : [watches.join(" "), programs.nsenter]
}

/** Builds the command line that starts a sandbox with a shell in it. */
export const make = (options: LaunchOptions): Spawnable => {
  const { level, plan, processes: most = processes, programs, shell } = options
  const words = [
    ...doorway(programs.unshare ?? "unshare", level),
    ...[programs.bash, "--norc", "--noprofile", "-p", "-c", script(most), "synapse-sandbox"],
    ...[plan.path, level === "single" ? "" : (programs.mount ?? ""), options.cgroup ?? "", options.gate ? "gate" : ""],
    ...[options.early === true ? "early" : "", ...limits(options), programs.bwrap],
    ...(level === "single" ? limited(programs.bash, shell, most) : [shell.program, ...shell.args])
  ]
  const [program = programs.bash, ...args] = words
  return { program, args }
}

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

const makeGroup = (processes: number): string | undefined => {
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
      // Another sweep may have taken it.
      isRemoved(path)
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
export const warmCgroup: Effect.Effect<void> = Effect.sync(() => {
  const [own] = candidates()
  if (own !== undefined) Fs.writeFile(Path.join(own, "cgroup.procs"), String(process.pid), () => {})
})

/**
 * Makes a cgroup for at most `processes` processes, and returns the file that moves a process into it; undefined where
 * none can be made. The cgroup is removed with the scope.
 */
export const acquireCgroup = (processes: number): Effect.Effect<string | undefined, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const path = makeGroup(processes)
        return path === undefined ? undefined : { path, forget: SessionProcesses.atExit(() => removeAtOnce(path)) }
      }),
      (group) => (group === undefined ? Effect.void : Effect.tap(remove(group.path), group.forget))
    ),
    (group) => (group === undefined ? undefined : Path.join(group.path, "cgroup.procs"))
  )
