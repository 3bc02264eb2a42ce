/**
 * Finds what a directory gives access to by its mounts, whatever its name is: file systems of the kernel's own, and
 * directories that the system starts from.
 */
import { isWithin } from "../../../policy/HostPath.js"
import * as PathEntry from "../../../policy/PathEntry.js"
import * as MountTable from "./MountTable.js"

/** The file systems by which the kernel shows and takes its settings, its processes and its devices. */
const kernels = new Set([
  ...["binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs", "fusectl"],
  ...["nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs", "sysfs", "tracefs"]
])

const isKernels = ({ type }: MountTable.Mount): boolean => kernels.has(type ?? "")

/**
 * Returns the reason why a directory must not be written: it lies on a file system of the kernel's, or is another name of
 * one that holds the system. Undefined where there is none.
 *
 * @param path a real path
 */
export const flaw = (mounts: ReadonlyArray<MountTable.Mount>, path: string): string | undefined => {
  const mount = MountTable.mountOf(mounts, path)
  if (mount === undefined) return undefined
  if (isKernels(mount)) return `${path} can't be written: ${PathEntry.unwritable("/proc")}`
  const other = MountTable.aliases(mounts, path).find(
    (alias) => alias === "/" || (!PathEntry.isKernels(alias) && PathEntry.unwritable(alias) !== undefined)
  )
  return other === undefined
    ? undefined
    : `${path} can't be written: it is, or holds, what is also at ${other}, where no command may write`
}

/**
 * Returns the places below a directory where such a file system, or such a directory, is mounted, as in a tree that is made
 * for `chroot`.
 */
export const below = (mounts: ReadonlyArray<MountTable.Mount>, directory: string): ReadonlyArray<string> =>
  mounts.flatMap(({ point }) =>
    point !== directory && isWithin(point, directory) && flaw(mounts, point) !== undefined ? [point] : []
  )

/**
 * Returns those of such places below directories that are the kernel's: to search them has no end, and they hold no file
 * of anybody's.
 */
export const unsearched = (
  mounts: ReadonlyArray<MountTable.Mount>,
  directories: ReadonlyArray<string>
): ReadonlyArray<string> =>
  mounts.flatMap((mount) =>
    isKernels(mount) && directories.some((directory) => isWithin(mount.point, directory)) ? [mount.point] : []
  )
