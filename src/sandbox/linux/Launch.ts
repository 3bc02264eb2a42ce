/**
 * The command line that builds a sandbox around a shell and becomes it: every step executes the next, so that one process
 * of ours is left, which ends with the shell, and the shell with it.
 *
 * @since 0.1.0
 */
import type { Spawnable } from "../../session/ShellCommand.js"
import { descriptors } from "./BubblewrapPlan.js"
import type { PlanDirectory } from "./PlanDirectory.js"

/**
 * How the sandbox is built: in a mount namespace that the launcher keeps a door to (`mount` where it may make one itself,
 * `user` where that takes a user namespace), or by bubblewrap alone.
 *
 * @since 0.1.0
 * @category models
 */
export type Level = "mount" | "user" | "single"

/**
 * The most processes of a sandbox. The kernel does not hold root to it, a cgroup does.
 *
 * @since 0.1.0
 */
export const processes = 512

/**
 * `$1` is the plan's directory, `$2` and `$3` the programs `mount` and `umount` or nothing, `$4` the file that takes
 * processes into a cgroup or nothing, `$5` whether bubblewrap waits at a gate, `$6` bubblewrap; then the shell.
 *
 * Masks are mounted when bubblewrap has got to the gate, a descriptor that it reads to the end: a mask mounted earlier would
 * cost it a look for every mount it makes. Behind the gate it looks for a mount that is made last, and only stays if all masks
 * are mounted; so it fails if whatever mounts them does, or dies.
 *
 * The first move into a cgroup takes the kernel long, the next one no time: so this one moves itself while bubblewrap works.
 */
const script = `
plan=$1 mount=$2 umount=$3 cgroup=$4 gate=$5 bwrap=$6
shift 6
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  if (( fd > 2 )); then exec {fd}>&-; fi
done
ulimit -c 0
ulimit -u ${processes} 2>/dev/null
exec ${descriptors.arguments}<"$plan/arguments" ${descriptors.seccomp}<"$plan/seccomp" || exit
enter() {
  if [[ $cgroup ]]; then builtin echo "$1" >"$cgroup"; fi
} 2>/dev/null
others() {
  local pid
  for pid in $(<"/proc/$$/task/$$/children"); do
    if (( pid != BASHPID )); then "$@" "$pid"; fi
  done
} 2>/dev/null
mask() {
  "$mount" -c -a -T "$plan/masks" && return
  # A file has vanished, or this mount knows no tables.
  local source target
  while "$umount" "$plan/masked"; do :; done
  if [[ $(</proc/self/mountinfo) == *"/\${plan##*/}/masked "* ]]; then
    others kill -KILL
    kill -KILL $$
  fi
  "$mount" --bind "$plan/placeholders" "$plan/placeholders" &&
    "$mount" -o remount,bind,ro,nosuid,nodev,noexec "$plan/placeholders" || return
  while IFS= read -r -d '' source && IFS= read -r -d '' target; do
    [[ -e $target ]] || continue
    "$mount" --bind -- "$source" "$target" || [[ ! -e $target ]] || return
  done <"$plan/targets"
  "$mount" --bind "$plan/placeholders/directory" "$plan/masked"
}
if [[ $mount ]]; then "$mount" --make-rshared / </dev/null || exit; fi
if [[ $gate ]]; then
  exec ${descriptors.gate}< <(
    enter $BASHPID
    printf '%70000s' ''
    others enter
    if [[ $mount && -e /proc/$$ ]]; then mask; fi </dev/null >&2
  )
fi
exec "$bwrap" --args ${descriptors.arguments} -- "$@"
`

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly level: Level
  readonly plan: Pick<PlanDirectory, "path">
  readonly programs: {
    readonly bash: string
    readonly bwrap: string
    readonly unshare: string | undefined
    readonly mount: string | undefined
    readonly umount: string | undefined
  }
  /** Whether bubblewrap waits until the masks are mounted and the cgroup is entered. */
  readonly gate: boolean
  /** The file of a cgroup that takes processes in. */
  readonly cgroup?: string | undefined
  readonly shell: Spawnable
}): Spawnable => {
  const { level, plan, programs, shell } = options
  const builder = [programs.bash, "--norc", "--noprofile", "-p", "-c", script, "synapse-sandbox"]
  const mounting = level === "single" ? ["", ""] : [programs.mount ?? "", programs.umount ?? ""]
  const words = [
    ...(level === "single"
      ? []
      : [programs.unshare ?? "unshare", ...(level === "user" ? ["--user", "--map-root-user"] : [])]),
    ...(level === "single" ? [] : ["--mount", "--propagation", "private"]),
    ...builder,
    ...[plan.path, ...mounting, options.cgroup ?? "", options.gate ? "gate" : ""],
    programs.bwrap,
    ...[shell.program, ...shell.args]
  ]
  const [program = programs.bash, ...args] = words
  return { program, args }
}
