/**
 * The new content of a file on its way to the caller: a short one in the dialog, a longer one through a FIFO of its own.
 */
import type { FifoSink } from "./FifoSink.js"

/** The most bytes that go in the dialog, which spares the caller a process, and the most at once: a pipe has room for them. */
const most = 16_000
const piece = 3000

/** The ways to the caller. */
export interface Ways {
  /** Hands over bytes in the dialog. */
  readonly put: (bytes: Uint8Array) => Promise<void>
  /** Opens a FIFO whose bytes go to the file. */
  readonly pour: () => Promise<FifoSink>
  /** Waits until the caller has written what came through the FIFO. */
  readonly written: () => Promise<void>
}

/**
 * Tests whether bytes can be handed over at once, with the path of their file: a pipe has room for both, and bash's
 * variables hold no zero bytes.
 */
export const goesWith = (path: string, bytes: Uint8Array): boolean =>
  bytes.length > 0 && bytes.length + Buffer.byteLength(path) <= piece && !bytes.includes(0)

/** Takes the content of a file chunk by chunk. */
export class FileContent {
  private readonly held: Array<Uint8Array> = []
  private size = 0
  private sink: FifoSink | undefined
  /** The handing over of a short content, which `commit` need not wait for. */
  private handed: Promise<void> | undefined

  constructor(private readonly ways: Ways) {}

  /** Takes a chunk. Returns whether somebody still wants more. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.sink === undefined && this.size + chunk.length <= most && !chunk.includes(0)) {
      this.held.push(chunk)
      this.size += chunk.length
      return true
    }
    if (this.sink === undefined) {
      this.sink = await this.ways.pour()
      for (const before of this.held) await this.sink.write(before)
    }
    return this.sink.write(chunk)
  }

  /** Waits until the content is whole in the temporary file, or on its way there; rejects with Refused. */
  async complete(): Promise<void> {
    if (this.sink !== undefined) {
      await this.sink.end()
      return this.ways.written()
    }
    const bytes = Buffer.concat(this.held)
    if (bytes.length <= piece && bytes.length > 0) {
      this.handed = this.ways.put(bytes)
      this.handed.catch(() => {})
      return
    }
    for (let at = 0; at < bytes.length; at += piece) await this.ways.put(bytes.subarray(at, at + piece))
  }

  /** Runs what follows it, and waits for both; rejects with Refused. */
  async follow(next: () => Promise<unknown>): Promise<void> {
    await Promise.all([this.handed, next()])
  }

  /** Takes no more. */
  async end(): Promise<void> {
    await this.sink?.end()
  }
}
