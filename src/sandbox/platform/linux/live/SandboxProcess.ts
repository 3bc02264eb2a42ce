/**
 * The processes of a sandbox, as the kernel shows them to its launcher.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ProcessTable from "../../../../session/ProcessTable.js"

/** Whether a process has a pid of its own somewhere inside. */
const isInside = (pid: number): boolean => {
  try {
    return /^NSpid:\s*\d+\s+\d+/m.test(Fs.readFileSync(`/proc/${pid}/status`, "latin1"))
  } catch {
    return false
  }
}

/** Where the kernel tells them: a tenth of the price of looking at all processes. */
const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    return Fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Whether a process has a filter of system calls, and can't get rights that it does not have. */
const isConfined = (pid: number): boolean => {
  try {
    const status = Fs.readFileSync(`/proc/${pid}/status`, "latin1")
    return /^Seccomp:\s*2$/m.test(status) && /^NoNewPrivs:\s*1$/m.test(status)
  } catch {
    // It has ended.
    return true
  }
}

/**
 * Finds the first process inside of a sandbox: the child of the spawned one that has a pid of its own there.
 *
 * @since 0.1.0
 */
export const find = (pid: number): number | undefined =>
  childrenOf(pid).find(isInside) ??
  ProcessTable.descendants(ProcessTable.list(), pid).find((one) => isInside(one.pid))?.pid

/**
 * Whether the first process inside, and all that it has started, are held by the sandbox.
 *
 * @since 0.1.0
 */
export const isHeld = (inner: number): boolean => [inner, ...childrenOf(inner)].every(isConfined)
