/** Writes bytes to a caller through a FIFO. */
import type * as Net from "node:net"
import * as Data from "effect/Data"

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
