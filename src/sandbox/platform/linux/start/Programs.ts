/**
 * Finds the programs that build a sandbox. They run outside of it, so directories that a sandbox can write are not
 * searched.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { isAccessible, isProgram, isWithin } from "../../../policy/HostPath.js"
import { realPath } from "../plan/WriteRoots.js"

/**
 * The paths of the programs; undefined if missing. Without `unshare`, `mount` and `nsenter`, a sandbox starts slower
 * and can't be changed while it runs.
 */
export interface Programs {
  readonly bash: string | undefined
  readonly bwrap: string | undefined
  readonly unshare: string | undefined
  readonly mount: string | undefined
  readonly umount: string | undefined
  readonly nsenter: string | undefined
}

const standard = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/run/current-system/sw/bin"]

/**
 * Finds the programs in `path` (as in PATH, but the system's directories first) and, except for bubblewrap, in the
 * usual directories. Skips everything writable in a root: a project's `node_modules/.bin` may be on the PATH.
 */
export const find = (path: string, roots: ReadonlyArray<string> = []): Programs => {
  const isWritable = (at: string) => roots.some((root) => isWithin(at, root)) && isAccessible(at, Fs.constants.W_OK)
  const named = new Set(path.split(":").filter((directory) => Path.isAbsolute(directory)))
  // The system's directories come first, wherever they are in PATH, because another session's commands may write to the
  // others.
  const onPath = [...standard.filter((directory) => named.has(directory)), ...named]
  const search = (name: string, more: ReadonlyArray<string> = []) => {
    for (const directory of new Set([...onPath, ...more])) {
      const candidate = Path.join(directory, name)
      const real = isProgram(candidate) ? realPath(candidate) : undefined
      if (real === undefined) continue
      const way = [candidate, directory, realPath(directory) ?? directory, real, Path.dirname(real)]
      if (!way.some(isWritable)) return candidate
    }
    return undefined
  }
  return {
    bash: search("bash", standard),
    bwrap: search("bwrap"),
    unshare: search("unshare", standard),
    mount: search("mount", standard),
    umount: search("umount", standard),
    nsenter: search("nsenter", standard)
  }
}
