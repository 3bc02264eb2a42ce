/** Reads bytes from a FIFO, as many at a time as there are. */
import type * as Net from "node:net"
import * as FifoSocket from "../../session/FifoSocket.js"

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
    this.socket = FifoSocket.make(fd, {
      buffer: () => Buffer.allocUnsafeSlow(FifoSocket.capacity),
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
