/**
 * Compares what a sandbox may write with what it was to write, by the file systems' own paths: while it was built, a
 * command of another one may have put a link in the place of a directory.
 *
 * @since 0.1.0
 */

import * as HostPath from "../../../policy/HostPath.js"
import type { Layout } from "../plan/Layout.js"
import * as MountTable from "../plan/MountTable.js"

/**
 * Returns the first path at which something else is mounted than was to be, or something is writable that was not to
 * be; undefined where all is as it was planned.
 *
 * @param hidden the directories that the sandbox does not see, and mounts in them
 * @param outside the mounts outside of the sandbox
 * @param inside the mounts in the sandbox
 * @since 0.1.0
 */
export const stray = (
  { isReadOnly, roots: given, toolCache }: Pick<Layout, "isReadOnly" | "roots" | "toolCache">,
  hidden: ReadonlyArray<string>,
  outside: ReadonlyArray<MountTable.Mount>,
  inside: ReadonlyArray<MountTable.Mount>
): string | undefined => {
  const roots = toolCache === undefined ? given : [...given, toolCache]
  const devices = new Set<string>()
  for (const root of roots) {
    const expected = MountTable.sourceOf(outside, root)
    const found = inside.findLast(({ point }) => point === root)
    if (expected === undefined || found?.device !== expected.device || found.root !== expected.root) return root
    devices.add(expected.device)
  }
  // What can't be remounted read-only, as some network file systems, is none of these.
  return inside.find(
    ({ device, isWritable, point }) =>
      isWritable &&
      devices.has(device) &&
      !hidden.some((directory) => HostPath.isWithin(point, directory)) &&
      (isReadOnly || !roots.some((root) => HostPath.isWithin(point, root)))
  )?.point
}
