/**
 * Builds the command line that starts a sandbox around a shell. Every step executes the next one in its own process. So
 * only one Synapse process remains, which ends with the shell, and the shell with it.
 */

import * as Fs from "node:fs"
import * as Attempt from "../../../../domain/Attempt.js"
import type { Spawnable } from "../../../../session/ShellLauncher.js"
import { descriptors, type PlanDirectory } from "../plan/Plan.js"

/** The most inotify instances of a sandbox: a program that watches files has one or two. */
const most = 64

/** The largest part of the user's instances and watches that one sandbox gets. */
const partOfInstances = 1 / 2
const partOfWatches = 3 / 4

const read = (name: string): number =>
  Attempt.orElse(() => Number(Fs.readFileSync(`/proc/sys/user/${name}`, "latin1")), Number.NaN)

/** Returns the most instances and watches of one sandbox; undefined if the kernel has no such limits. */
export const find = (limit: (name: string) => number = read): readonly [number, number] | undefined => {
  const instances = limit("max_inotify_instances")
  const watches = limit("max_inotify_watches")
  if (!(instances > 1 && watches > 1)) return undefined
  return [Math.min(most, Math.floor(instances * partOfInstances)), Math.floor(watches * partOfWatches)]
}

/**
 * How a sandbox is built: in a mount namespace that the launcher can enter to change mounts, or by bubblewrap alone
 * (`single`). With `mount`, the launcher may make the mount namespace itself; with `user`, that takes a user namespace.
 */
export type Level = "mount" | "user" | "single"

/**
 * The default limit of processes and threads in a sandbox: a build with a worker for each of 64 cores has about 1,300.
 * For root, whom the kernel does not limit, a cgroup enforces it.
 */
export const processes = 2048

/** The message on standard error if a mask can't be mounted; the sandbox then does not start. */
export const unmasked = "synapse-sandbox: not all masks could be mounted"

/** The word on descriptor 3 that lets an early launch continue once its plan is written. */
export const go = "synapse-go"

/** Limits inotify in the user namespace that it runs in: `$1` instances, `$2` watches. */
const limiting = `builtin echo "$1" >/proc/sys/user/max_inotify_instances
  builtin echo "$2" >/proc/sys/user/max_inotify_watches`

/**
 * The bash script that prepares the sandbox and becomes bubblewrap. It passes on descriptor 3, the supervisor's socket.
 * All arguments but `$1` and `$8` may be empty:
 *
 * - `$1`: the plan's directory
 * - `$2`: the program `mount`
 * - `$3`: the files that move a process into the cgroups, one per line
 * - `$4`: not empty if there is a gate
 * - `$5`: not empty if the plan is still being made. The script then waits for a word on descriptor 3, and ends if that
 *   is closed without one.
 * - `$6`: the most inotify instances and watches for the commands
 * - `$7`: the program `nsenter`, if bubblewrap makes the first user namespace
 * - `$8`: bubblewrap; the shell follows
 *
 * Masks are mounted after bubblewrap has made its mounts, because it would have to process each mask that was mounted
 * earlier. The gate tells when its mounts are made: bubblewrap then reads the gate's first descriptor. That
 * one is given more bytes than a pipe holds, so that the writer continues only when they are read. The seccomp filter
 * comes through the second descriptor, and only once all masks are mounted. Bubblewrap waits for the filter and fails without it, so
 * it also fails if mounting the masks fails, or if the process that mounts them dies.
 *
 * The first move into a cgroup is slow, and the next one takes no time. So a process that does nothing else makes the
 * first move while bubblewrap works. The gate's first descriptor is the pipe from that process, whose writing end is
 * opened again by its name.
 */
const script = (processes: number): string => `
plan=$1 mount=$2 cgroups=$3 gate=$4 early=$5 watches=($6) nsenter=$7 bwrap=$8
shift 8
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  if (( fd > 3 )); then exec {fd}>&-; fi
done
if [[ ! -S /proc/self/fd/3 ]]; then exec 3>&-; fi
ulimit -c 0
if [[ $mount ]]; then ulimit -u ${processes}; fi 2>/dev/null
enter() {
  local file IFS=$'\\n'
  for file in $cgroups; do builtin echo "$1" >"$file"; done
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
  if [[ $cgroups ]]; then enterOthers; fi
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
 * Sets the limit of processes within bubblewrap's user namespace. The kernel counts a user's processes per user
 * namespace, including those below it. Outside, all of the user's processes would count.
 */
const limited = (bash: string, shell: Spawnable, processes: number): ReadonlyArray<string> => [
  ...[bash, "--norc", "--noprofile", "-p", "-c", `ulimit -u ${processes} 2>/dev/null; exec -- "$@"`, "synapse-limit"],
  ...[shell.program, ...shell.args]
]

/**
 * Makes a mount namespace whose mounts propagate to the sandbox and nowhere else. It takes two namespaces, because the
 * launcher's mounts may be shared or slaves. Mounts in the first are private, so that those of the second are shared
 * with nothing else.
 */
const doorway = (unshare: string, level: Level): ReadonlyArray<string> =>
  level === "single"
    ? []
    : [
        ...[unshare, ...(level === "user" ? ["--user", "--map-root-user"] : []), "--mount", "--propagation", "private"],
        ...[unshare, "--mount", "--propagation", "shared"]
      ]

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
  /** The most inotify instances and watches for the commands, if the level has a namespace to limit them in. */
  readonly watches?: readonly [number, number] | undefined
  readonly processes?: number | undefined
  /** True if bubblewrap waits until the masks are mounted and the cgroup is entered. */
  readonly gate: boolean
  /** True if the launch starts before the plan is written, and waits for the word `go`. */
  readonly early?: boolean
  /** The files that move a process into the sandbox's cgroups. */
  readonly cgroups?: ReadonlyArray<string> | undefined
  readonly shell: Spawnable
}

/**
 * Returns the limits of inotify, and `nsenter` if bubblewrap makes the first user namespace. Without a namespace to set
 * them in, the limits would apply to the user.
 */
const limits = ({ level, programs, watches }: LaunchOptions): readonly [string, string] => {
  if (watches === undefined || level === "single") return ["", ""]
  if (level === "user") return [watches.join(" "), ""]
  return programs.nsenter === undefined ? ["", ""] : [watches.join(" "), programs.nsenter]
}

export const make = (options: LaunchOptions): Spawnable => {
  const { level, plan, processes: most = processes, programs, shell } = options
  const words = [
    ...doorway(programs.unshare ?? "unshare", level),
    ...[programs.bash, "--norc", "--noprofile", "-p", "-c", script(most), "synapse-sandbox"],
    ...[
      plan.path,
      level === "single" ? "" : (programs.mount ?? ""),
      (options.cgroups ?? []).join("\n"),
      options.gate ? "gate" : ""
    ],
    ...[options.early === true ? "early" : "", ...limits(options), programs.bwrap],
    ...(level === "single" ? limited(programs.bash, shell, most) : [shell.program, ...shell.args])
  ]
  const [program = programs.bash, ...args] = words
  return { program, args }
}
