/** A socket that reads a FIFO as its bytes come. */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"

/** The paths of a command's standard streams. */
export interface PipePaths {
  /** The standard input; where undefined, it is empty. */
  readonly stdin?: string
  readonly stdout: string
  readonly stderr: string
}

/** The number of pairs that one call of mkfifo makes, but for the first: most sessions need one. */
const batch = 4

/** The pairs of FIFOs in a directory that nobody uses yet. */
export class FifoPairs {
  private free: Array<PipePaths> = []
  /** The number of pairs that were made. */
  private made = 0

  constructor(private readonly directory: string) {}

  /** Takes a pair; undefined where there is none. */
  take(): PipePaths | undefined {
    return this.free.pop()
  }

  /** Takes back a pair that could not be opened. */
  give(paths: PipePaths): void {
    this.free.push(paths)
  }

  get isEmpty(): boolean {
    return this.free.length === 0
  }

  /** Makes more pairs, and the other FIFOs named; rejects with mkfifo's error. */
  async add(others: ReadonlyArray<string> = []): Promise<void> {
    const pairs = Array.from({ length: this.made === 0 ? 1 : batch }, () => {
      const name = Path.join(this.directory, String(this.made++))
      return { stdout: `${name}o`, stderr: `${name}e` }
    })
    await makeFifos([...others, ...pairs.flatMap((pair) => [pair.stdout, pair.stderr])])
    this.free.push(...pairs)
  }
}

/** The paths at which systems have mkfifo. */
const systems = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"]

/** Makes FIFOs for this user alone; rejects with mkfifo's error. */
export const makeFifos = (paths: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    // Not searched in PATH: a command may have put a program there, and this one runs outside of its sandbox.
    const mkfifo = systems.find((path) => Fs.existsSync(path))
    if (mkfifo === undefined) return reject(new Error(`mkfifo is required, and is at none of ${systems.join(", ")}`))
    ChildProcess.execFile(mkfifo, ["-m", "600", ...paths], (error, _, stderr) => {
      if (error === null) return resolve()
      reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`))
    })
  })

/** The bytes that a pipe holds on Linux by default: one read empties it. */
export const capacity = 65_536

/**
 * Reads a FIFO into the buffers of `onread`, until the last writer has gone or the socket is destroyed. Takes a
 * descriptor that does not block, and owns it.
 */
export const make = (fd: number, onread: Net.OnReadOpts): Net.Socket => {
  // The types lack `onread` here; the documentation has it.
  const options: Net.SocketConstructorOpts & { readonly onread: Net.OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread
  }
  const socket = new Net.Socket(options)
  // An error of the pipe is its end: `close` follows.
  socket.on("error", () => {})
  socket.resume()
  return socket
}
