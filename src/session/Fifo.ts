/** Makes FIFOs, and opens, reads and writes them without blocking. */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"

/** The paths of a command's standard streams. */
export interface PipePaths {
  /** The standard input; where undefined, it is empty. */
  readonly stdin?: string
  readonly stdout: string
  readonly stderr: string
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

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = Fs.constants

/** Opens a FIFO; throws where a command has put something else in its place. */
const open = (path: string, flags: number): number => {
  const fd = Fs.openSync(path, flags | O_NONBLOCK | O_NOFOLLOW)
  if (Fs.fstatSync(fd).isFIFO()) return fd
  Fs.closeSync(fd)
  throw new Error(`${path} is no FIFO any more`)
}

/** Opens a FIFO for reading. It ends when the last writer has gone, but not before there was one. */
export const openToRead = (path: string): number => open(path, O_RDONLY)

/** Opens a FIFO for writing, where somebody reads it. Writing fails once nobody does. */
export const openToWrite = (path: string): number => open(path, O_WRONLY)

/** Opens a FIFO for reading and writing: it never ends, and whoever opens the other end does not wait. */
export const openBoth = (path: string): number => open(path, O_RDWR)

/** Tests whether somebody may still read a FIFO. */
export const isRead = (path: string): boolean => {
  try {
    Fs.closeSync(openToWrite(path))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENXIO"
  }
}

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

/** Makes a socket that writes to a FIFO; its errors are heard where `write` finds it closed. Owns the descriptor. */
export const writer = (fd: number): Net.Socket =>
  new Net.Socket({ fd, readable: false, writable: true }).on("error", () => {})

/** Writes to a FIFO as fast as its reader takes the bytes. */
export class FifoSink {
  private readonly socket: Net.Socket
  private ending: Promise<void> | undefined

  /** Takes a descriptor that does not block, and owns it. `onClose` is called once, when it is closed. */
  constructor(fd: number, onClose: () => void = () => {}) {
    this.socket = writer(fd).once("close", onClose)
  }

  /** Writes a chunk, and waits while the FIFO is full. Returns whether somebody still reads. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.socket.writable && !this.socket.write(chunk)) await this.next("drain")
    return this.socket.writable
  }

  /** Closes the FIFO once all is written. */
  end(): Promise<void> {
    this.ending ??= this.endNow()
    return this.ending
  }

  /** Closes the FIFO at once. */
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
