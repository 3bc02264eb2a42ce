/**
 * Walks the processes below a launched one, without a look at all others.
 *
 * On Linux it reads `/proc`; elsewhere, and where the kernel lists no children, it takes the list of all processes.
 */
import * as ProcessFiles from "../ProcessFiles.js"
import * as ProcessTable from "../ProcessTable.js"

/** The most processes that a walk visits. */
const most = 4096

/** True where the kernel lists the children of a process. */
const isListed = (): boolean => ProcessFiles.mainChildren(process.pid) !== undefined

/** Returns the pids below `root`, parents before their children. */
export const below = (root: number): ReadonlyArray<number> => {
  if (!isListed()) return ProcessTable.descendants(ProcessTable.list(), root).map((one) => one.pid)
  const found = [root]
  for (let at = 0; at < found.length && at < most; at++) found.push(...ProcessFiles.children(found[at] as number))
  return found.slice(1)
}

/** Returns the pid that a process has for itself and its neighbours, in the innermost of its PID namespaces. */
export const innerPid = (pid: number): number => ProcessFiles.namespacePids(pid).at(-1) ?? pid

/** Finds the process nearest below `root` that calls itself `inner`. */
export const find = (root: number, inner: number): number | undefined =>
  below(root).find((pid) => innerPid(pid) === inner)
