/**
 * Reads the mounts that a process sees, from `/proc/<pid>/mountinfo`.
 */
import * as Fs from "node:fs"
import * as Attempt from "../../../../domain/Attempt.js"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as PathEntry from "../../../policy/PathEntry.js"

/** File systems through which the kernel exposes its settings, processes and devices. */
const kernels = new Set([
  ...["binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs", "fusectl"],
  ...["nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs", "sysfs", "tracefs"]
])

const isKernels = ({ type }: Mount): boolean => kernels.has(type ?? "")

/**
 * Returns why a directory must not be writable, if so: it lies on a kernel file system, or is another name of a
 * directory that holds the system.
 *
 * @param path a real path
 */
export const flaw = (mounts: ReadonlyArray<Mount>, path: string): string | undefined => {
  const mount = mountOf(mounts, path)
  if (mount === undefined) return undefined
  if (isKernels(mount)) return `${path} can't be written: ${PathEntry.unwritable("/proc")}`
  const other = aliases(mounts, path).find(
    (alias) => alias === "/" || (!PathEntry.isKernels(alias) && PathEntry.unwritable(alias) !== undefined)
  )
  return other === undefined
    ? undefined
    : `${path} can't be written: it is, or holds, what is also at ${other}, where no command may write`
}

/**
 * Returns the places below a directory where a kernel file system or a system directory is mounted, as in a tree for
 * `chroot`.
 */
export const systemMountsBelow = (mounts: ReadonlyArray<Mount>, directory: string): ReadonlyArray<string> =>
  mounts.flatMap(({ point }) =>
    point !== directory && isWithin(point, directory) && flaw(mounts, point) !== undefined ? [point] : []
  )

/**
 * Returns the places below directories where kernel file systems are mounted. A search of them would never end, and
 * they hold nobody's files.
 */
export const unsearched = (mounts: ReadonlyArray<Mount>, directories: ReadonlyArray<string>): ReadonlyArray<string> =>
  mounts.flatMap((mount) =>
    isKernels(mount) && directories.some((directory) => isWithin(mount.point, directory)) ? [mount.point] : []
  )

export interface Mount {
  /** The device of the file system: `major:minor`. */
  readonly device: string
  /** The mounted path within the file system. */
  readonly root: string
  /** The path that it is mounted on. */
  readonly point: string
  readonly isWritable: boolean
  /** The type of the file system, such as `ext4` or `proc`. */
  readonly type?: string
}

const octal = /\\([0-7]{3})/g

/** Decodes spaces, newlines and backslashes, which the table writes as octal bytes. */
const unescape = (text: string): string =>
  text.includes("\\")
    ? text.replace(octal, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
    : text

// Uses neither `\S` nor `^` per line: names may contain what JavaScript takes for white space or a line end.
const line = /^\d+ \d+ (\d+:\d+) ([^ ]+) ([^ ]+) ([^ ]+) (?:[^ ]+ )*?- ([^ ]+)/

/** Parses a mount table. The mounts are in the order in which they were made. */
export const parse = (text: string): Array<Mount> =>
  text.split("\n").flatMap((each) => {
    const [found, device = "", root = "", point = "", options = "", type = ""] = line.exec(each) ?? []
    if (found === undefined) return []
    return { device, root: unescape(root), point: unescape(point), isWritable: options.split(",").includes("rw"), type }
  })

/** Reads the mount table of a process; empty if the process is gone or may not be inspected. */
export const read = (pid: number | "self"): Array<Mount> =>
  Attempt.orElse(() => parse(BytePath.decode(Fs.readFileSync(`/proc/${pid}/mountinfo`))), [])

const below = (path: string, directory: string): string => (directory === "/" ? path : path.slice(directory.length))

const join = (directory: string, rest: string): string =>
  rest === "" || rest === "/" ? directory : directory === "/" ? rest : directory + rest

/** Finds the mount through which a path is reached: the innermost one, and of several at one place the last. */
const mountOf = (mounts: ReadonlyArray<Mount>, path: string): Mount | undefined => {
  let found: Mount | undefined
  for (const mount of mounts) {
    if (isWithin(path, mount.point) && mount.point.length >= (found?.point.length ?? 0)) found = mount
  }
  return found
}

/** Returns the file system that a path lies on, and its path there; undefined if there are no mounts. */
export const sourceOf = (mounts: ReadonlyArray<Mount>, path: string): Pick<Mount, "device" | "root"> | undefined => {
  const own = mountOf(mounts, path)
  return own && { device: own.device, root: join(own.root, below(path, own.point)) }
}

/**
 * Returns other paths to a path or a part of it, if its file system is mounted elsewhere too. The caller must check
 * that no other mount covers them.
 */
export const aliases = (mounts: ReadonlyArray<Mount>, path: string): Array<string> => {
  const own = mountOf(mounts, path)
  const inside = sourceOf(mounts, path)?.root
  if (own === undefined || inside === undefined) return []
  const found = new Set<string>()
  for (const mount of mounts) {
    if (mount === own || mount.device !== own.device) continue
    if (isWithin(inside, mount.root)) found.add(join(mount.point, below(inside, mount.root)))
    else if (isWithin(mount.root, inside)) found.add(mount.point)
  }
  found.delete(path)
  return [...found].filter((alias) => !isWithin(alias, path))
}
