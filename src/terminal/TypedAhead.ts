/**
 * The bytes of a keyboard that nobody has read.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Keyboard } from "./Keyboard.js"

/** Ctrl-C and Ctrl-Z. */
const interrupt = 3
const stop = 26

/** The answer at the end of the input. */
const over = Effect.sync((): Uint8Array | undefined => undefined)

/**
 * Keeps the bytes that come until somebody reads them, and tells of a Ctrl-C that nobody reads.
 *
 * @since 0.1.0
 * @category models
 */
export class TypedAhead {
  private bytes = Buffer.alloc(0)
  private isOver = false
  private attending = 0
  private readonly waiting = new Set<() => void>()
  private readonly listeners = new Set<() => void>()
  private readonly stopListeners = new Set<() => void>()

  /** Takes bytes that a person has typed. */
  push(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, bytes])
    if (this.attending + this.waiting.size === 0) this.hear()
    this.wake()
  }

  /** Takes the end of the input. */
  end(): void {
    this.isOver = true
    this.wake()
  }

  /** Takes the keys out that are meant for what runs. */
  private hear(): void {
    const last = this.bytes.lastIndexOf(interrupt)
    if (last >= 0) {
      this.bytes = this.bytes.subarray(last + 1)
      for (const listener of this.listeners) listener()
    }
    if (this.stopListeners.size === 0 || !this.bytes.includes(stop)) return
    this.bytes = Buffer.from(this.bytes.filter((byte) => byte !== stop))
    for (const listener of this.stopListeners) listener()
  }

  private wake(): void {
    for (const go of this.waiting) go()
  }

  /** The methods of the keyboard service that need no terminal. */
  readonly reader: Omit<Keyboard["Type"], "released"> = {
    read: Effect.suspend(() => this.read),
    unread: (bytes) =>
      Effect.sync(() => {
        this.bytes = Buffer.concat([bytes, this.bytes])
        this.wake()
      }),
    attended: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => this.attending++),
        () => effect,
        () => Effect.sync(() => this.attending--)
      ),
    onInterrupt: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => void this.listeners.add(listener)),
        () => Effect.sync(() => void this.listeners.delete(listener))
      ),
    onStop: (listener) =>
      Effect.acquireRelease(
        Effect.sync(() => void this.stopListeners.add(listener)),
        () => Effect.sync(() => void this.stopListeners.delete(listener))
      )
  }

  /** Takes all at once when it has been woken, so that an interruption in between loses nothing. */
  private readonly read: Effect.Effect<Uint8Array | undefined> = Effect.suspend(() => {
    if (this.bytes.length > 0) {
      const { bytes } = this
      this.bytes = Buffer.alloc(0)
      return Effect.succeed(bytes)
    }
    return this.isOver ? over : Effect.zipRight(this.woken, this.read)
  })

  private readonly woken: Effect.Effect<void> = Effect.async<void>((resume) => {
    const go = () => {
      this.waiting.delete(go)
      resume(Effect.void)
    }
    this.waiting.add(go)
    return Effect.sync(() => void this.waiting.delete(go))
  })
}
