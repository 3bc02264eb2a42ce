/**
 * The reading end of a FIFO: read in one go when a command has ended, or as it comes while a command runs long.
 *
 * While it is not attached, this process holds no writing end. Reading to the end then tells by end-of-file (instead of
 * EAGAIN) that no other process holds one either, and that the FIFO can serve the next command.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as FifoSocket from "./FifoSocket.js"

/** The buffer of all pipes: they are read one at a time, and sinks copy what they keep. */
const shared = Buffer.allocUnsafeSlow(FifoSocket.capacity)

/**
 * Takes bytes, which are only valid until it returns; where it returns a promise, an attached pipe is paused until the
 * promise is settled.
 *
 * @since 0.1.0
 * @category models
 */
export type Sink = (chunk: Buffer) => void | Promise<void>

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = Fs.constants

/**
 * Reads a FIFO that commands write to.
 *
 * @since 0.1.0
 * @category models
 */
export class OutputPipe {
  private fd: number
  private writer: number | undefined
  private socket: Net.Socket | undefined

  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, O_RDONLY | O_NONBLOCK)
  }

  /** Detaches the pipe and reads all that it holds. Returns whether another process still holds the writing end. */
  drain(sink: Sink): boolean {
    this.detach()
    for (;;) {
      let count: number
      try {
        count = Fs.readSync(this.fd, shared, 0, FifoSocket.capacity, null)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return true
        throw error
      }
      if (count === 0) return false
      void sink(shared.subarray(0, count))
    }
  }

  /** Reads as it comes, until `drain`, `detach` or `close`. */
  attach(sink: Sink): void {
    this.detach()
    // Without a writing end of our own, a FIFO that nobody has opened yet would be at its end at once.
    this.writer = Fs.openSync(this.again, O_WRONLY | O_NONBLOCK)
    this.read(sink)
  }

  /** Reads as it comes until the last writer has gone, then calls `ended`. */
  untilEnd(sink: Sink, ended: () => void): void {
    this.read(sink).once("close", () => {
      this.socket = undefined
      ended()
    })
  }

  close(): void {
    this.detach()
    Fs.closeSync(this.fd)
  }

  /** True where its name was deleted: no process can open it for writing any more. */
  get lost(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  /** A path that opens the same FIFO again: its own path may have been deleted or replaced by a command. */
  private get again(): string {
    return process.platform === "linux" ? `/proc/self/fd/${this.fd}` : this.path
  }

  /** Reads through a second descriptor of the same pipe, which the socket owns. */
  private read(sink: Sink): Net.Socket {
    const socket: Net.Socket = FifoSocket.make(Fs.openSync(this.again, O_RDONLY | O_NONBLOCK), {
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
