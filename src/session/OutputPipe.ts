/**
 * The reading end of a FIFO: emptied in one go when a command has ended, attached to the event loop while one runs long.
 *
 * No writing end is held while nothing is attached: so reading to the end tells (end-of-file, not EAGAIN) that nobody
 * else holds one either, and the FIFO can serve the next command.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Net from "node:net"

/** What a pipe holds by default on Linux: one read empties it. */
const chunkSize = 65_536

/** Pipes are read one at a time, and listeners copy what they keep: one buffer serves all. */
const shared = Buffer.allocUnsafeSlow(chunkSize)

/**
 * Takes the bytes (which are gone when it returns); a promise pauses an attached pipe until it is settled.
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

  /**
   * Reads all that is there. Answers whether somebody still holds the writing end; a reader that is attached is let go.
   */
  drain(sink: Sink): boolean {
    this.detach()
    for (;;) {
      let count: number
      try {
        count = Fs.readSync(this.fd, shared, 0, chunkSize, null)
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
    // A writing end of our own, or a FIFO that nobody has opened yet would be at its end at once.
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

  /** Whether its name was taken away: nobody can open it to write any more. */
  get lost(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  /** By what the same FIFO is opened again: its path may be gone, or be another file's, by a command's doing. */
  private get again(): string {
    return process.platform === "linux" ? `/proc/self/fd/${this.fd}` : this.path
  }

  /** Through a second descriptor, which the socket owns: both read the same pipe. */
  private read(sink: Sink): Net.Socket {
    // The types lack `onread` here; the documentation has it.
    const options: Net.SocketConstructorOpts & { readonly onread: Net.OnReadOpts } = {
      fd: Fs.openSync(this.again, O_RDONLY | O_NONBLOCK),
      readable: true,
      writable: false,
      onread: {
        buffer: shared,
        callback: (count) => {
          const pending = sink(shared.subarray(0, count))
          if (pending === undefined) return true
          const resume = () => socket.resume()
          pending.then(resume, resume)
          return false
        }
      }
    }
    const socket: Net.Socket = new Net.Socket(options)
    // An error of the pipe is its end: `close` follows.
    socket.on("error", () => {})
    socket.resume()
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
