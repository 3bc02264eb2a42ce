/** Reads the FIFOs of calls. */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Data from "effect/Data"
import * as Fifo from "../../session/Fifo.js"

/** The most chunks that are read ahead. */
const most = 16

/** Reads a FIFO ahead of its one consumer, up to a limit. */
export class FifoSource {
  /** Called once, when it is closed. */
  onClose: () => void = () => {}
  private readonly chunks: Array<Uint8Array> = []
  private readonly socket: Net.Socket
  private wake: () => void = () => {}
  private isPaused = false

  /** Owns the descriptor, which must not block. */
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

  /** Waits for bytes, and returns all since the last call, or undefined at the end. Calls must not overlap. */
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

  close(): void {
    this.socket.destroy()
  }
}

/** The error for a caller that has ended or takes nothing any more. */
export class Gone extends Data.TaggedError("Gone") {}

/** Tests whether no process has a FIFO open, so that it is empty. */
export const isUnused = (path: string): boolean => {
  try {
    Fs.closeSync(Fifo.openToWrite(path))
    return false
  } catch (error) {
    // ENXIO: nobody reads. Tested first, since opening the FIFO for reading would make this process its reader.
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") return false
  }
  const fd = Fifo.openToRead(path)
  try {
    return Fs.readSync(fd, Buffer.allocUnsafe(1)) === 0
  } catch {
    // EAGAIN: somebody may still write.
    return false
  } finally {
    Fs.closeSync(fd)
  }
}
