/**
 * Gives the calls of `synapse call` their places among those that run, in the order of their coming.
 *
 * @since 0.1.0
 */
import type { ToolCall } from "../domain/ToolCall.js"
import { CallQueue } from "./CallQueue.js"

/** So many calls run at a time while they end one after the other; each takes memory. The others wait as text. */
const fewest = 100
/** So many run at a time where none ends: a call that restarts the shell may be among those that come later. */
const most = 1000
/** Milliseconds without the end of a call after which as many again are started. */
const patience = 20
/** Once so many bytes wait, no more input is read until some of them have been taken. */
const capacity = 64 * 1024 ** 2
/** Milliseconds for which calls are started before the program looks for input, and for results, again. */
const slice = 10
/** So many ids of the latest answers are known, for cancellations that come too late. */
const remembered = 10_000

/** Remembers the latest ids. */
class LatestIds {
  private readonly ids = new Set<string>()
  private readonly order = this.ids.values()

  has(id: string): boolean {
    return this.ids.has(id)
  }

  add(id: string): void {
    this.ids.delete(id)
    this.ids.add(id)
    if (this.ids.size > remembered) this.ids.delete(this.order.next().value ?? "")
  }
}

/**
 * The calls that wait, run, and were answered. Each step takes the same time, however many there are.
 *
 * @since 0.1.0
 * @category models
 */
export class CallPlaces {
  onIdle: () => void = () => {}
  onRoom: () => void = () => {}
  private readonly waiting = new CallQueue(capacity)
  /** The ids of the calls whose answers are not written yet, and how much their texts weigh. */
  private readonly running = new Map<string, number>()
  private runningWeight = 0
  private readonly answered = new LatestIds()
  private isStarting = false
  private places = fewest
  private stalled: NodeJS.Timeout | undefined

  constructor(private readonly run: (call: ToolCall, ended: () => void) => void) {}

  get isIdle(): boolean {
    return this.waiting.isEmpty && this.running.size === 0
  }

  get hasRoom(): boolean {
    return !this.waiting.isFull
  }

  isRunning(id: string): boolean {
    return this.running.has(id)
  }

  isWaiting(id: string): boolean {
    return this.waiting.has(id)
  }

  wasAnswered(id: string): boolean {
    return this.answered.has(id)
  }

  add(call: ToolCall): void {
    this.waiting.add(call)
    this.start()
  }

  /** Takes a waiting call out, whose answer is written elsewhere. */
  cancel(id: string): ToolCall | undefined {
    const call = this.waiting.remove(id)
    if (call === undefined) return undefined
    this.answered.add(id)
    this.left()
    return call
  }

  /** Starts what there is a place for. A call that ends at once does not start others itself: they would pile up. */
  private start(): void {
    if (this.isStarting) return
    this.isStarting = true
    const until = performance.now() + slice
    while (this.hasPlace) {
      if (performance.now() > until) return void setImmediate(() => this.resume())
      const call = this.waiting.shift()
      if (call === undefined) break
      const weight = CallQueue.weightOf(call)
      this.running.set(call.id, weight)
      this.runningWeight += weight
      this.run(call, () => this.end(call.id, weight))
    }
    this.isStarting = false
    if (!this.waiting.isEmpty) this.stalled ??= setTimeout(() => this.onStalled(), patience)
    this.left()
  }

  private onStalled(): void {
    this.stalled = undefined
    this.places = Math.min(most, this.places + fewest)
    this.start()
  }

  private resume(): void {
    this.isStarting = false
    this.start()
  }

  private get hasPlace(): boolean {
    return this.running.size < this.places && (this.running.size === 0 || this.runningWeight < capacity)
  }

  private end(id: string, weight: number): void {
    this.running.delete(id)
    this.runningWeight -= weight
    this.answered.add(id)
    this.places = fewest
    clearTimeout(this.stalled)
    this.stalled = undefined
    this.start()
  }

  private left(): void {
    if (this.hasRoom) this.onRoom()
    if (this.isIdle) this.onIdle()
  }
}
