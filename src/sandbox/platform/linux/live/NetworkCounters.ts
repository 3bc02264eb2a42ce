/**
 * Reads the kernel's counters of a sandbox's attempts to reach a network: the packets for which its empty network has
 * no route. TCP, UDP and name look-ups over IPv4 and IPv6 are counted; the sandbox's own loopback is not.
 */
import * as Fs from "node:fs"
import type { NetworkCounters, Source } from "../../NetworkMeter.js"
import * as NetworkMeter from "../../NetworkMeter.js"

/**
 * Opens the counters of the network that a process is in; undefined where the process has ended, or the system has no
 * such counters.
 */
const open = (pid: number): Source | undefined => {
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

/** Reads the counters of the network that a process is in, once; undefined where there are none. */
export const read = (pid: number): NetworkCounters | undefined => {
  const source = open(pid)
  const counters = source?.read()
  source?.close()
  return counters
}

/** Makes a meter for the network of the sandbox that a launcher has started; undefined where there is none yet. */
export const meter = (launcher: number): NetworkMeter.NetworkMeter | undefined => {
  const inside = insideOf(launcher)
  const source = inside === undefined ? undefined : open(inside)
  return source === undefined ? undefined : NetworkMeter.make(source)
}

/** The most processes that are examined in search of the sandbox's own. */
const mostProcesses = 64

/**
 * Finds the first process, among a launcher and its descendants, that is in another network than this process;
 * undefined where there is none yet. It lives as long as the sandbox, so its pid stays valid.
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

/** A buffer which is larger than what the kernel writes into either file. */
const buffer = Buffer.allocUnsafe(16_384)

/** Reads an open file from its beginning, which makes the kernel write it anew. */
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
