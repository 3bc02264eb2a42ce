/** Lists the TCP servers in a network namespace. Works on Linux only. */
import * as Fs from "node:fs"
import * as Attempt from "../domain/Attempt.js"
import * as ProcessTable from "./ProcessTable.js"

export interface Listener {
  readonly port: number
  /** The socket's name as links in `/proc/<pid>/fd` show it: `socket:[<inode>]`. */
  readonly file: string
}

/** The kernel's code for the state LISTEN in `/proc/net/tcp`. */
const listening = "0A"

/** Reads the listening sockets in the network namespace of a process. */
export const read = (pid: number | "self"): ReadonlyArray<Listener> =>
  ["tcp", "tcp6"].flatMap((name) =>
    Attempt.orElse(() => Fs.readFileSync(`/proc/${pid}/net/${name}`, "latin1").split("\n"), []).flatMap((line) => {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/)
      const port = Number.parseInt(local.split(":")[1] ?? "", 16)
      return state === listening ? [{ port, file: `socket:[${inode}]` }] : []
    })
  )

/** Limits on the processes inspected, and on the open files of each. */
const mostProcesses = 1024
const mostFiles = 4096

/** Lists the listening sockets that one of these processes holds. The first process names the network namespace. */
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
 * Lists the listening sockets of a sandbox's own processes. Other programs may listen in the same network.
 *
 * @param inner the sandbox's first process
 */
export const readOwn = (inner: number): ReadonlyArray<Listener> => heldBy([inner, ...ProcessTable.below(inner)])

/** Returns the ports in ascending order, without duplicates. */
export const portsOf = (listeners: ReadonlyArray<Listener>): ReadonlyArray<number> =>
  [...new Set(listeners.map(({ port }) => port))].sort((a, b) => a - b)

/** The first port that Linux gives to sockets that ask for none. Programs use those to talk to themselves. */
const firstGiven = 32_768

/** Watches a sandbox for new servers. Reads its sockets only when their number grows, since that takes milliseconds. */
export class Watch {
  private count = 0
  private known: ReadonlyArray<number> = []

  constructor(private readonly inner: number) {}

  /** Returns the ports of the servers, without duplicates. */
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
