/** Makes FIFOs, and opens, reads and writes them without blocking. */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"

export interface PipePaths {
  /** The standard input; empty if undefined. */
  readonly stdin?: string
  readonly stdout: string
  readonly stderr: string
}

/** Where systems keep mkfifo. */
const systems = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"]

/** Makes FIFOs that only this user can open. Rejects with mkfifo's error. */
export const makeFifos = (paths: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    // Not searched in PATH: a command may have put a program there, and this one runs outside the sandbox.
    const mkfifo = systems.find((path) => Fs.existsSync(path))
    if (mkfifo === undefined) return reject(new Error(`mkfifo is required, and is at none of ${systems.join(", ")}`))
    ChildProcess.execFile(mkfifo, ["-m", "600", ...paths], (error, _, stderr) => {
      if (error === null) return resolve()
      reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`))
    })
  })

/**
 * Looks at an open FIFO. With bigints, since Node resolves links to packages wrongly as long as the last file that a plain
 * `fstatSync` has seen is a FIFO: its `realpathSync` mixes them up.
 */
export const look = (fd: number): Fs.BigIntStats => Fs.fstatSync(fd, { bigint: true })

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = Fs.constants

/** Opens a FIFO. Throws if a command has put something else in its place. */
const open = (path: string, flags: number): number => {
  const fd = Fs.openSync(path, flags | O_NONBLOCK | O_NOFOLLOW)
  if (look(fd).isFIFO()) return fd
  Fs.closeSync(fd)
  throw new Error(`${path} is no FIFO any more`)
}

/** Opens a FIFO for reading. It ends when its last writer has gone, but not before one has come. */
export const openToRead = (path: string): number => open(path, O_RDONLY)

/** Opens a FIFO for writing. Fails if nobody reads it; later writes fail once nobody does. */
export const openToWrite = (path: string): number => open(path, O_WRONLY)

/** Opens a FIFO for both reading and writing. It never ends, and opening its other end never blocks. */
export const openBoth = (path: string): number => open(path, O_RDWR)

/** Tests whether a process may still read a FIFO. */
export const isRead = (path: string): boolean => {
  try {
    Fs.closeSync(openToWrite(path))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENXIO"
  }
}

/** The default capacity of a pipe on Linux, in bytes. One read of this size empties it. */
export const capacity = 65_536

/**
 * Reads a FIFO into the buffers of `onread`, until its last writer has gone or the socket is destroyed. Owns the
 * descriptor, which must not block.
 */
export const make = (fd: number, onread: Net.OnReadOpts): Net.Socket => {
  // Node documents `onread` here, but its types lack it.
  const options: Net.SocketConstructorOpts & { readonly onread: Net.OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread
  }
  const socket = new Net.Socket(options)
  // An error ends the pipe; `close` follows.
  socket.on("error", () => {})
  socket.resume()
  return socket
}

/** Makes a socket that writes to a FIFO and owns the descriptor. After an error, `write` finds the socket closed. */
export const writer = (fd: number): Net.Socket =>
  new Net.Socket({ fd, readable: false, writable: true }).on("error", () => {})

/** Writes to a FIFO at the pace of its reader. */
export class FifoSink {
  private readonly socket: Net.Socket
  private ending: Promise<void> | undefined

  /** Owns the descriptor, which must not block. Calls `onClose` once, when it is closed. */
  constructor(fd: number, onClose: () => void = () => {}) {
    this.socket = writer(fd).once("close", onClose)
  }

  /** Writes a chunk, waiting while the FIFO is full. Returns whether the FIFO still has a reader. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.socket.writable && !this.socket.write(chunk)) await this.next("drain")
    return this.socket.writable
  }

  /** Closes the FIFO once everything is written. */
  end(): Promise<void> {
    this.ending ??= this.endNow()
    return this.ending
  }

  close(): void {
    this.socket.destroy()
  }

  private async endNow(): Promise<void> {
    if (!this.socket.closed) {
      this.socket.end(() => this.socket.destroy())
      await this.next()
    }
  }

  private next(event = "close"): Promise<void> {
    const { socket } = this
    return new Promise((resolve) => {
      const done = () => {
        socket.off(event, done)
        socket.off("close", done)
        resolve()
      }
      socket.once(event, done)
      socket.once("close", done)
    })
  }
}
