/**
 * What the kernel counts of a sandbox's attempts to reach a network: packets for which its empty network has no route.
 * TCP, UDP and name look-ups of both families are counted; its own loopback is not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

/**
 * Packets without a route since the network namespace was made.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkCounters {
  readonly ipv4: number
  readonly ipv6: number
}

/**
 * The counters of one network, however often they are read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly read: () => NetworkCounters | undefined
  readonly close: () => void
}

/**
 * The counters of the network that a process is in; undefined where it has ended, or the system keeps none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const open = (pid: number): Source | undefined => {
  const ipv4 = openFile(`/proc/${pid}/net/snmp`)
  if (ipv4 === undefined) return undefined
  const ipv6 = openFile(`/proc/${pid}/net/snmp6`)
  return {
    read: () => {
      const snmp = textOf(ipv4)
      if (snmp === undefined) return undefined
      // Two lines for each protocol: the names, and the numbers.
      const [names = "", numbers = ""] = snmp.split("\n", 4).filter((line) => line.startsWith("Ip:"))
      const column = names.split(" ").indexOf("OutNoRoutes")
      const [, counted = "0"] = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(ipv6 === undefined ? "" : (textOf(ipv6) ?? "")) ?? []
      return { ipv4: column < 0 ? 0 : Number(numbers.split(" ")[column]), ipv6: Number(counted) }
    },
    close: () => {
      for (const file of [ipv4, ipv6]) if (file !== undefined) Fs.closeSync(file)
    }
  }
}

/**
 * One reading. For more of them, `open`.
 *
 * @since 0.1.0
 */
export const read = (pid: number): NetworkCounters | undefined => {
  const source = open(pid)
  const counters = source?.read()
  source?.close()
  return counters
}

/**
 * How many packets found no route between two readings; of another sandbox's, all that the later one counts.
 *
 * @since 0.1.0
 */
export const between = (before: NetworkCounters | undefined, after: NetworkCounters | undefined): number => {
  if (after === undefined) return 0
  if (before === undefined || before.ipv4 > after.ipv4 || before.ipv6 > after.ipv6) return after.ipv4 + after.ipv6
  return after.ipv4 - before.ipv4 + after.ipv6 - before.ipv6
}

/** As many processes as a launcher may start before the sandbox's own. */
const mostProcesses = 64

/**
 * The first process, among a launcher and its descendants, that is in another network than this one; undefined where
 * there is none yet. It lives as long as the sandbox, so its number can be kept.
 *
 * @since 0.1.0
 */
export const insideOf = (launcher: number): number | undefined => {
  const own = networkOf("self")
  const queue = [launcher]
  for (let at = 0; at < queue.length && at < mostProcesses; at++) {
    const pid = queue[at] as number
    const network = networkOf(pid)
    if (network !== undefined && network !== own) return pid
    const children = text(`/proc/${pid}/task/${pid}/children`) ?? ""
    for (const child of children.trim().split(" ")) if (child !== "") queue.push(Number(child))
  }
  return undefined
}

const text = (path: string): string | undefined => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return undefined
  }
}

const openFile = (path: string): number | undefined => {
  try {
    return Fs.openSync(path, "r")
  } catch {
    return undefined
  }
}

/** More than the kernel writes into either file. */
const buffer = Buffer.allocUnsafe(16_384)

/** The kernel writes such a file anew for whoever reads it from its beginning. */
const textOf = (file: number): string | undefined => {
  try {
    return buffer.toString("latin1", 0, Fs.readSync(file, buffer, 0, buffer.length, 0))
  } catch {
    return undefined
  }
}

const networkOf = (pid: number | "self"): string | undefined => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return undefined
  }
}
