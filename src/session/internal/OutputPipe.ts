/**
 * The reading end of a FIFO: read at once after a short command, or continuously during a long one.
 *
 * Unless it is attached, this process holds no writing end. End-of-file then tells that no other process holds one
 * either, and that the FIFO can serve the next command.
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Fifo from "../Fifo.js"

/** One buffer for all pipes: they are read one at a time, and sinks copy what they keep. */
const shared = Buffer.allocUnsafeSlow(Fifo.capacity)

/** The most bytes that one `drain` reads. A pipe holds less, so a process is still writing then. */
const maxDrain = 1024 ** 2 + Fifo.capacity

/** Takes bytes that are valid only during the call. An attached pipe pauses until a returned promise settles. */
export type Sink = (chunk: Buffer) => void | Promise<void>

/** Milliseconds between two reads of a pipe for which no second descriptor was available. */
const lookEvery = 10

const isNoneLeft = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "EMFILE" || code === "ENFILE"
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = Fs.constants

export class OutputPipe {
  /** Undefined while a socket reads the pipe to its end (`untilEnd`). */
  private fd: number | undefined
  private readonly inode: bigint
  private writer: number | undefined
  private socket: Net.Socket | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK)
    this.inode = Fifo.look(this.fd).ino
  }

  /** Detaches the pipe and reads what it holds. Returns whether another process still has it open for writing. */
  drain(sink: Sink): boolean {
    this.detach()
    for (let left = maxDrain; left > 0; ) {
      const count = this.readOnce()
      if (count === undefined) return true
      if (count === 0) return false
      left -= count
      void sink(shared.subarray(0, count))
    }
    return true
  }

  /** Reads what fits into one read, and leaves the pipe attached or detached. Does nothing if it is closed. */
  peek(sink: Sink): void {
    if (this.fd === undefined) return
    const count = this.readOnce()
    if (count !== undefined && count > 0) void sink(shared.subarray(0, count))
  }

  /** Reads continuously until `drain`, `detach` or `close`. */
  attach(sink: Sink): void {
    this.detach()
    try {
      // Without its own writing end, a FIFO that nobody has opened yet would end at once.
      this.writer = Fs.openSync(this.again, O_WRONLY | O_NONBLOCK)
      this.read(Fs.openSync(this.again, O_RDONLY | O_NONBLOCK), sink)
    } catch {
      // No descriptor is left, or a command has removed the right to open it.
      this.detach()
      this.timer = setInterval(() => this.peek(sink), lookEvery).unref()
    }
  }

  /** Reads into the shared buffer. Returns 0 if no process can write any more, or undefined if the pipe is empty. */
  private readOnce(): number | undefined {
    try {
      return Fs.readSync(this.open, shared, 0, Fifo.capacity, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined
      throw error
    }
  }

  /**
   * Reads continuously until the last writer has gone, then calls `ended`. This process holds one descriptor until
   * then, and none afterwards; `reopen` makes the pipe usable again.
   */
  untilEnd(sink: Sink, ended: () => void): void {
    this.detach()
    const { open } = this
    this.fd = undefined
    this.read(open, sink).once("close", () => {
      this.socket = undefined
      ended()
    })
  }

  /** Opens the FIFO again after its end. Returns false if a command has deleted or replaced it. */
  reopen(): boolean {
    if (this.fd !== undefined) return true
    try {
      const fd = Fifo.openToRead(this.path)
      if (Fifo.look(fd).ino === this.inode) {
        this.fd = fd
        return true
      }
      Fs.closeSync(fd)
    } catch (error) {
      if (isNoneLeft(error)) throw error
    }
    return false
  }

  close(): void {
    this.detach()
    if (this.fd !== undefined) Fs.closeSync(this.fd)
    this.fd = undefined
  }

  /** True if its name was deleted, so that no process can open it for writing any more. */
  get lost(): boolean {
    return Fifo.look(this.open).nlink === 0n
  }

  /** A path that opens this very FIFO, even if a command has deleted or replaced its name. */
  get again(): string {
    return process.platform === "linux" ? `/proc/self/fd/${this.open}` : this.path
  }

  private get open(): number {
    if (this.fd === undefined) throw new Error(`the pipe ${this.path} is not open`)
    return this.fd
  }

  /** Reads through a descriptor that the socket owns. */
  private read(fd: number, sink: Sink): Net.Socket {
    const socket: Net.Socket = Fifo.make(fd, {
      buffer: shared,
      callback: (count) => {
        const pending = sink(shared.subarray(0, count))
        if (pending === undefined) return true
        const resume = () => socket.resume()
        pending.then(resume, resume)
        return false
      }
    })
    // A background child that holds the pipe must not keep this process alive. A running command does so itself.
    socket.unref()
    this.socket = socket
    return socket
  }

  /** Stops reading continuously. */
  detach(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.socket !== undefined) {
      this.socket.removeAllListeners("close")
      this.socket.destroy()
      this.socket = undefined
    }
    if (this.writer !== undefined) {
      Fs.closeSync(this.writer)
      this.writer = undefined
    }
  }
}
