/** Lists the TCP servers of a network. Linux alone tells them. */
import * as Fs from "node:fs"
import * as Attempt from "../domain/Attempt.js"
import * as ProcessTable from "./ProcessTable.js"

/** A socket that listens. */
export interface Listener {
  /** The address at which it can be connected to from its own network. */
  readonly address: string
  readonly port: number
  /** The name of its file, as a process that holds it has it. */
  readonly file: string
}

/** The state of a socket that listens, in the kernel's table. */
const listening = "0A"

const toAddress = (hex: string): string => {
  const isMapped = hex.startsWith("0000000000000000FFFF0000")
  if (hex.length > 8 && !isMapped) return "::1"
  // The bytes of a word stand in the machine's order.
  const bytes = Buffer.from(hex.slice(-8), "hex").reverse()
  return bytes.every((byte) => byte === 0) ? "127.0.0.1" : bytes.join(".")
}

/** Reads the sockets that listen in the network of a process. */
export const read = (pid: number | "self"): ReadonlyArray<Listener> =>
  ["tcp", "tcp6"].flatMap((name) =>
    Attempt.orElse(() => Fs.readFileSync(`/proc/${pid}/net/${name}`, "latin1").split("\n"), []).flatMap((line) => {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/)
      const [hex = "", port = ""] = local.split(":")
      return state === listening
        ? [{ address: toAddress(hex), port: Number.parseInt(port, 16), file: `socket:[${inode}]` }]
        : []
    })
  )

/** The most processes, and open files of each, that are looked at. */
const mostProcesses = 1024
const mostFiles = 4096

/** Reads the sockets that listen in the network of the first of these processes, and that one of them holds. */
export const heldBy = ([first, ...others]: ReadonlyArray<number>): ReadonlyArray<Listener> => {
  const all = first === undefined ? [] : read(first)
  if (first === undefined || all.length === 0) return []
  const files = new Set(
    [first, ...others].slice(0, mostProcesses).flatMap((pid) => {
      const place = `/proc/${pid}/fd`
      const names = Attempt.orElse(() => Fs.readdirSync(place), []).slice(0, mostFiles)
      return names.map((name) => Attempt.orUndefined(() => Fs.readlinkSync(`${place}/${name}`)))
    })
  )
  return all.filter(({ file }) => files.has(file))
}

/**
 * Reads the sockets that listen in a sandbox and are its processes' own, which others have opened there too.
 *
 * @param inner its first process
 */
export const readOwn = (inner: number): ReadonlyArray<Listener> => heldBy([inner, ...ProcessTable.below(inner)])

/** Returns the ports of sockets in rising order, each once. */
export const portsOf = (listeners: ReadonlyArray<Listener>): ReadonlyArray<number> =>
  [...new Set(listeners.map(({ port }) => port))].sort((a, b) => a - b)

/** Ports from this one on are given to sockets that name none, as those by which programs talk to themselves. */
const firstGiven = 32_768

/** Follows the servers of a sandbox. To read its network takes milliseconds, and is done where there are more sockets than before. */
export class Watch {
  private count = 0
  private known: ReadonlyArray<number> = []

  constructor(private readonly inner: number) {}

  /** Returns the ports of the servers, each once. */
  ports(): ReadonlyArray<number> {
    const count = ["sockstat", "sockstat6"]
      .map((name) => Attempt.orElse(() => Fs.readFileSync(`/proc/${this.inner}/net/${name}`, "latin1"), ""))
      .reduce((sum, text) => sum + Number(/^TCP6?: inuse (\d+)/m.exec(text)?.[1] ?? 0), 0)
    if (count > this.count) {
      this.known = portsOf(readOwn(this.inner)).filter((port) => port < firstGiven)
    }
    this.count = count
    return this.known
  }
}
