/**
 * Records the order of a command's output while it runs: hears of its writes, reads what was written, and finds the
 * moments at which nothing is written that was not read.
 *
 * @since 0.1.0
 */
import type { StreamName } from "../domain/LineOrder.js"
import { OutputOrder } from "./OutputOrder.js"
import type { Sink } from "./OutputPipe.js"
import type { PipePair } from "./PipePool.js"

/** The most turns of the event loop for which what is read may belong together, while writes follow one another. */
const longestTogether = 16

/** The most writes of one command that are heard of; their number is bounded for the time that each takes. */
const mostWrites = 20_000

const turnOfLoop = () => new Promise<void>((resolve) => void setImmediate(resolve))

/**
 * The recorder of one command's order.
 *
 * @since 0.1.0
 * @category models
 */
export class OrderRecorder {
  readonly order = new OutputOrder()
  private isWatching = false
  private isAttached = false
  private isOver = false
  /** True where a turn of the event loop will be looked at. */
  private isDue = false
  private isBusy = false
  private turns = 0
  private writes = 0
  private readonly unread = { stdout: false, stderr: false }

  constructor(
    private readonly pipes: PipePair,
    private readonly sinks: Readonly<Record<StreamName, Sink>>
  ) {}

  /** Begins to hear of the writes; until `attached` is called, it reads as well. */
  watch(): void {
    this.isWatching = this.pipes.hearWrites(this.onWrite)
  }

  /** Makes ready for pipes that are read as they fill, from now on. */
  attach(): void {
    this.isAttached = true
    if (this.isWatching) return
    this.watch()
    // What was written before the watch comes before all that it tells of.
    this.pipes.stdout.peek(this.sinks.stdout)
    this.pipes.stderr.peek(this.sinks.stderr)
    this.order.settle()
  }

  /** Reads nothing any more, because the command has ended: what comes now may be of a background process. */
  endReading(): void {
    this.isAttached = true
  }

  /** True while it hears of the writes. */
  get isHearing(): boolean {
    return this.isWatching
  }

  /** Takes the number of bytes that were read. */
  took(stream: StreamName, bytes: number): void {
    this.order.took(stream, bytes)
    if (!this.isWatching) this.order.settle()
    else if (bytes > 0) this.look()
  }

  /** Ends the recording, when all is read: at once, or when it has heard of all writes, where that matters. */
  end(): Promise<void> | undefined {
    if (!this.isWatching || !this.order.isMixed) return this.leave()
    // The first turn may have begun before the last write.
    return turnOfLoop()
      .then(turnOfLoop)
      .then(() => this.leave())
  }

  /** Ends the recording at once. */
  leave(): undefined {
    this.isOver = true
    this.isWatching = false
    this.order.settle()
    this.pipes.ignoreWrites()
  }

  private readonly onWrite = (stream: StreamName): void => {
    this.order.wrote(stream)
    this.unread[stream] = true
    this.look()
    if (++this.writes < mostWrites) return
    this.isWatching = false
    this.pipes.endWatch()
  }

  /** Looks, after the other events of this turn, whether more has come. */
  private look(): void {
    this.isBusy = true
    if (this.isDue || this.isOver) return
    this.isDue = true
    setImmediate(this.onTurn)
  }

  private readonly onTurn = (): void => {
    this.isDue = false
    if (this.isOver) return
    if (this.isBusy) {
      this.isDue = true
      setImmediate(this.onTurn)
      this.read()
      // What this has read is not news.
      this.isBusy = false
      if (++this.turns < longestTogether) return
    }
    this.turns = 0
    this.order.settle()
  }

  /** Reads only what was heard of, so that nothing is read whose turn is not known. */
  private read(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.unread[stream] && !this.isAttached) this.pipes[stream].peek(this.sinks[stream])
      this.unread[stream] = false
    }
  }
}
