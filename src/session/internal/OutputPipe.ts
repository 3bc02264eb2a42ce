/**
 * The reading end of a FIFO: read in one go when a command has ended, or as it comes while a command runs long.
 *
 * While it is not attached, this process holds no writing end. Reading to the end then tells by end-of-file (instead of
 * EAGAIN) that no other process holds one either, and that the FIFO can serve the next command.
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Fifo from "../Fifo.js"

/** The buffer of all pipes: they are read one at a time, and sinks copy what they keep. */
const shared = Buffer.allocUnsafeSlow(Fifo.capacity)

/** The most bytes that one `drain` reads: a pipe holds less, so more was written meanwhile. */
const maxDrain = 1024 ** 2 + Fifo.capacity

/**
 * Takes bytes, which are only valid until it returns; where it returns a promise, an attached pipe is paused until the
 * promise is settled.
 */
export type Sink = (chunk: Buffer) => void | Promise<void>

/** Milliseconds between two looks at a pipe for which there was no second descriptor. */
const lookEvery = 10

const isNoneLeft = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "EMFILE" || code === "ENFILE"
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = Fs.constants

/** Reads a FIFO that commands write to. */
export class OutputPipe {
  /** Undefined while a socket reads it to its end (`untilEnd`). */
  private fd: number | undefined
  private readonly inode: number
  private writer: number | undefined
  private socket: Net.Socket | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK)
    this.inode = Fs.fstatSync(this.fd).ino
  }

  /** Detaches the pipe and reads what it holds. Returns whether another process still holds the writing end. */
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

  /**
   * Reads what it holds, as far as that fits into one read, without changing how it is read otherwise; nothing where it
   * is closed.
   */
  peek(sink: Sink): void {
    if (this.fd === undefined) return
    const count = this.readOnce()
    if (count !== undefined && count > 0) void sink(shared.subarray(0, count))
  }

  /** Reads as it comes, until `drain`, `detach` or `close`. */
  attach(sink: Sink): void {
    this.detach()
    try {
      // Without a writing end of our own, a FIFO that nobody has opened yet would be at its end at once.
      this.writer = Fs.openSync(this.again, O_WRONLY | O_NONBLOCK)
      this.read(Fs.openSync(this.again, O_RDONLY | O_NONBLOCK), sink)
    } catch {
      // No descriptor is left, or a command has taken away the right to open it.
      this.detach()
      this.timer = setInterval(() => this.peek(sink), lookEvery).unref()
    }
  }

  /** Reads what there is into the shared buffer; returns 0 where nobody has it open, undefined where it is empty. */
  private readOnce(): number | undefined {
    try {
      return Fs.readSync(this.open, shared, 0, Fifo.capacity, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined
      throw error
    }
  }

  /**
   * Reads as it comes until the last writer has gone, then calls `ended`. This process has no descriptor of the pipe
   * then, and one until then: `reopen` makes it fit for use again.
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

  /** Opens the FIFO again after its end; returns false where a command has deleted or replaced it. */
  reopen(): boolean {
    if (this.fd !== undefined) return true
    try {
      const fd = Fifo.openToRead(this.path)
      if (Fs.fstatSync(fd).ino === this.inode) {
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

  /** True where its name was deleted: no process can open it for writing any more. */
  get lost(): boolean {
    return Fs.fstatSync(this.open).nlink === 0
  }

  /** A path that opens the same FIFO again: its own path may have been deleted or replaced by a command. */
  get again(): string {
    return process.platform === "linux" ? `/proc/self/fd/${this.open}` : this.path
  }

  private get open(): number {
    if (this.fd === undefined) throw new Error(`the pipe ${this.path} is not open`)
    return this.fd
  }

  /** Reads through a descriptor, which the socket owns. */
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
    // A background child that holds the pipe is no reason for the process to stay; a command that runs holds it itself.
    socket.unref()
    this.socket = socket
    return socket
  }

  /** Stops reading as it comes. */
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
