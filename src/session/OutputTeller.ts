/**
 * Passes a command's output on to its listener.
 *
 * @since 0.1.0
 */
import type { CommandListener } from "../domain/CommandListener.js"
import type { StreamName } from "../domain/LineOrder.js"

/**
 * Calls the listener with each stream's chunks in their order: a chunk waits while the listener is busy with the one before
 * it. Once it has thrown, it is not called again, and the command goes on.
 *
 * @since 0.1.0
 * @category models
 */
export class OutputTeller {
  /** The work of the listener that is not done, by stream; a stream is paused until it is. */
  private readonly untold = new Map<StreamName, Promise<void>>()
  private isDeaf = false
  private stopWaiting = () => {}

  constructor(private readonly listener: CommandListener) {}

  /** Passes on a chunk; returns a promise where the listener is busy, and copies the bytes then. */
  tell(stream: StreamName, chunk: Buffer): void | Promise<void> {
    if (this.isDeaf || this.listener.onOutput === undefined) return
    const before = this.untold.get(stream)
    const copy = before === undefined ? chunk : Buffer.from(chunk)
    const telling = before === undefined ? this.call(stream, copy) : before.then(() => this.call(stream, copy))
    if (telling === undefined) return
    const told = telling
      .catch(() => {
        this.isDeaf = true
      })
      .then(() => {
        if (this.untold.get(stream) === told) this.untold.delete(stream)
      })
    this.untold.set(stream, told)
    return told
  }

  /** Returns a promise that resolves when the listener has done its work, or `leave` is called; undefined where it has. */
  rest(): Promise<unknown> | undefined {
    if (this.untold.size === 0) return undefined
    const left = new Promise<void>((resolve) => {
      this.stopWaiting = resolve
    })
    return Promise.race([Promise.all(this.untold.values()), left])
  }

  /** Stops waiting for a listener that is still busy. */
  leave(): void {
    this.stopWaiting()
  }

  private call(stream: StreamName, chunk: Buffer): void | Promise<void> {
    if (this.isDeaf) return
    try {
      return this.listener.onOutput?.(stream, chunk)
    } catch {
      this.isDeaf = true
    }
  }
}
