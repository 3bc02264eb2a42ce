/**
 * Calls that wait for a place among those that run: as data, since a fiber for each would take a hundred times the
 * memory.
 *
 * @since 0.1.0
 */
import type { ToolCall } from "../domain/ToolCall.js"

/** The memory that a waiting call takes besides its text, about. */
const overhead = 300

/**
 * A queue of calls with different ids, in the order of their coming. Each step takes the same time at any length.
 *
 * @since 0.1.0
 * @category models
 */
export class CallQueue {
  private readonly calls = new Map<string, ToolCall>()
  /** Goes on where it stopped: the first entry of a map is slow to find once many before it were deleted. */
  private readonly order = this.calls.values()
  private weight = 0

  /** Returns the memory that a call takes, in bytes, about. */
  static weightOf(call: ToolCall): number {
    return overhead + call.id.length + call.name.length + call.arguments.length
  }

  /** Makes a queue that is full from so many bytes on. */
  constructor(private readonly capacity: number) {}

  get isEmpty(): boolean {
    return this.calls.size === 0
  }

  get isFull(): boolean {
    return this.weight >= this.capacity
  }

  has(id: string): boolean {
    return this.calls.has(id)
  }

  /** Adds a call at the end, also where the queue is full. */
  add(call: ToolCall): void {
    this.calls.set(call.id, call)
    this.weight += CallQueue.weightOf(call)
  }

  /** Takes the first call out; undefined where there is none. */
  shift(): ToolCall | undefined {
    const first = this.isEmpty ? undefined : this.order.next().value
    return first === undefined ? undefined : this.remove(first.id)
  }

  /** Takes the call of that id out; undefined where there is none. */
  remove(id: string): ToolCall | undefined {
    const call = this.calls.get(id)
    if (call === undefined) return undefined
    this.calls.delete(id)
    this.weight -= CallQueue.weightOf(call)
    return call
  }
}
