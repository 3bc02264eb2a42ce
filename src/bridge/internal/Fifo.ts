/** Opens FIFOs without blocking. */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Data from "effect/Data"
import * as Fifo from "../../session/Fifo.js"

/** The most chunks that are read ahead. */
const most = 16

/** Reads a FIFO ahead, within bounds, for one reader. */
export class FifoSource {
  /** Called once, when it is closed. */
  onClose: () => void = () => {}
  private readonly chunks: Array<Uint8Array> = []
  private readonly socket: Net.Socket
  private wake: () => void = () => {}
  private isPaused = false

  /** Takes a descriptor that does not block, and owns it. */
  constructor(fd: number) {
    this.socket = Fifo.make(fd, {
      buffer: () => Buffer.allocUnsafeSlow(Fifo.capacity),
      callback: (count, buffer) => {
        this.chunks.push(buffer.subarray(0, count))
        this.wake()
        this.isPaused = this.chunks.length >= most
        return !this.isPaused
      }
    })
    this.socket.once("close", () => {
      this.wake()
      this.onClose()
    })
  }

  /**
   * Returns the bytes that have come since the last call; waits for some, and returns undefined at the end. One call at
   * a time.
   */
  async next(): Promise<ReadonlyArray<Uint8Array> | undefined> {
    if (this.chunks.length === 0 && !this.socket.closed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
    const chunks = this.chunks.splice(0)
    if (this.isPaused && !this.socket.destroyed) {
      this.isPaused = false
      this.socket.resume()
    }
    return chunks.length === 0 ? undefined : chunks
  }

  /** Stops reading. */
  close(): void {
    this.socket.destroy()
  }
}

/** The error for a caller that has ended, or that takes nothing any more. */
export class Gone extends Data.TaggedError("Gone") {}

/** Writes to a FIFO as fast as its reader takes the bytes. */
export class FifoSink {
  private ending: Promise<void> | undefined

  constructor(private readonly socket: Net.Socket) {
    // `write` reports it: the socket is not writable any more.
    socket.on("error", () => {})
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

/** Opens a FIFO to read it as it comes. It ends when the last writer has gone, but not before there was one. */
export const reader = (path: string): Net.Socket =>
  new Net.Socket({ fd: openToRead(path), readable: true, writable: false })

/** Opens a FIFO for reading and writing: it never ends, and whoever opens the other end does not wait. */
export const openBoth = (path: string): number => open(path, O_RDWR)

/** Opens a FIFO for writing, where somebody reads it. Writing fails once nobody does. */
export const writer = (path: string): Net.Socket =>
  new Net.Socket({ fd: open(path, O_WRONLY), readable: false, writable: true })

/** Tests whether nobody has a FIFO open, so that it is empty. */
export const isUnused = (path: string): boolean => {
  try {
    Fs.closeSync(open(path, O_WRONLY))
    return false
  } catch (error) {
    // ENXIO: nobody reads. This is tested first, for opening it for reading would make this process its reader.
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") return false
  }
  const fd = openToRead(path)
  try {
    return Fs.readSync(fd, Buffer.allocUnsafe(1)) === 0
  } catch {
    // EAGAIN: somebody writes.
    return false
  } finally {
    Fs.closeSync(fd)
  }
}
