/**
 * Attributes attempts to reach a network to a sandbox's commands, by the kernel's count of packets without a route. The
 * count includes TCP, UDP and name lookups over IPv4 and IPv6, but not the sandbox's own loopback.
 */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"

/** Counts the packets that found no route since the network was made. */
export interface Source {
  readonly read: () => number | undefined
  readonly close: () => void
}

/** How many packets without a route one command can have sent. */
export interface Traffic {
  /** Packets sent during the command. */
  readonly surely: number
  /** Packets sent during or before the command. */
  readonly perhaps: number
}

export type NetworkMeter = ReturnType<typeof make>

const between = (before = 0, after = before): number => after - before

/** Makes a meter, and takes its first reading at once. */
export const make = (source: Source) => {
  let last = source.read()
  /** The last reading while no command ran. */
  let idle = last
  /** True if a command whose traffic nobody asked for has ended since the last reading. */
  let isShared = false
  return {
    /** Records the end of a command whose traffic nobody asks for. */
    pass: () => {
      isShared = true
    },
    /** Takes a reading between commands. `isIdle`: no command is running. */
    note: (isIdle: boolean) => {
      last = source.read()
      isShared = false
      if (isIdle) idle = last
    },
    /** Takes a reading after a command, and returns the packets that it sent. */
    settle: (): Traffic => {
      const now = source.read()
      const [before, since] = [between(idle, last), between(last, now)]
      const traffic = isShared ? { surely: 0, perhaps: before + since } : { surely: since, perhaps: before }
      last = now
      idle = now
      isShared = false
      return traffic
    },
    close: source.close
  }
}

/** Larger than what the kernel writes into either file. */
const buffer = Buffer.allocUnsafe(16_384)

/** Reads an open file from its beginning, which makes the kernel write it anew. */
const textOf = (file: number | undefined): string | undefined =>
  file === undefined
    ? undefined
    : Attempt.orUndefined(() => buffer.toString("latin1", 0, Fs.readSync(file, buffer, 0, buffer.length, 0)))

/** Opens the counters of a process's network; undefined if the process has ended or the system has no such counters. */
export const counters = (pid: number): Source | undefined => {
  const ipv4 = Attempt.orUndefined(() => Fs.openSync(`/proc/${pid}/net/snmp`, "r"))
  if (ipv4 === undefined) return undefined
  const ipv6 = Attempt.orUndefined(() => Fs.openSync(`/proc/${pid}/net/snmp6`, "r"))
  return {
    read: () => {
      const snmp = textOf(ipv4)
      if (snmp === undefined) return undefined
      // Two lines per protocol: names and numbers.
      const [, names = "", numbers = ""] = /^(Ip:.*)\n(Ip:.*)$/m.exec(snmp) ?? []
      const column = names.split(" ").indexOf("OutNoRoutes")
      const [, counted = "0"] = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(textOf(ipv6) ?? "") ?? []
      return (column < 0 ? 0 : Number(numbers.split(" ")[column])) + Number(counted)
    },
    close: () => {
      for (const file of [ipv4, ipv6]) if (file !== undefined) Fs.closeSync(file)
    }
  }
}

/** Opens a meter for a process's network; undefined if nothing is counted. */
export const open = (pid: number): NetworkMeter | undefined => {
  const source = counters(pid)
  return source && make(source)
}
