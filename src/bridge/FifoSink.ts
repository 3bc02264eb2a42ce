/**
 * Bytes on their way to a caller.
 *
 * @since 0.1.0
 */
import type * as Net from "node:net"
import * as Data from "effect/Data"

/**
 * The caller is gone, or takes nothing any more.
 *
 * @since 0.1.0
 * @category errors
 */
export class Gone extends Data.TaggedError("Gone") {}

/**
 * @since 0.1.0
 * @category models
 */
export class FifoSink {
  private ending: Promise<void> | undefined

  constructor(private readonly socket: Net.Socket) {
    // Whoever writes hears of it: the socket is not writable any more.
    socket.on("error", () => {})
  }

  /** Waits while nobody reads. Answers whether somebody does still. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.socket.writable && !this.socket.write(chunk)) await this.next("drain")
    return this.socket.writable
  }

  /** There are no more of them. */
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
