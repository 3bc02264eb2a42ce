/** The keys that a person presses at the terminal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** The byte of Ctrl-C. */
const interrupt = 3

/** Passes keys to the newest taker. Without one, it keeps them, and calls the listeners on Ctrl-C. */
class TypedAhead {
  private bytes = Buffer.alloc(0)
  private readonly takers: Array<(bytes: Uint8Array) => void> = []
  private readonly listeners = new Set<() => void>()

  push(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, bytes])
    const taker = this.takers.at(-1)
    if (taker === undefined) return this.hear()
    this.bytes = Buffer.alloc(0)
    taker(bytes)
  }

  private hear(): void {
    const last = this.bytes.lastIndexOf(interrupt)
    if (last < 0) return
    this.bytes = this.bytes.subarray(last + 1)
    for (const listener of this.listeners) listener()
  }

  readonly into: Keyboard["Type"]["into"] = (take, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        this.takers.push(take)
        const { bytes } = this
        this.bytes = Buffer.alloc(0)
        if (bytes.length > 0) take(bytes)
      }),
      () => effect,
      () => Effect.sync(() => void this.takers.splice(this.takers.indexOf(take), 1))
    )

  readonly onInterrupt: Keyboard["Type"]["onInterrupt"] = (listener) =>
    Effect.acquireRelease(
      Effect.sync(() => void this.listeners.add(listener)),
      () => Effect.sync(() => void this.listeners.delete(listener))
    )
}

/** The standard input of this process, in raw mode. */
class Input {
  private readonly stdin = process.stdin
  private isReleased = false

  constructor(
    private readonly typed: TypedAhead,
    private readonly onEnd: () => void
  ) {}

  start(): void {
    this.stdin.on("data", this.onData).on("end", this.onEnd).on("close", this.onEnd).on("error", this.onEnd)
    process.on("exit", this.restore).on("SIGCONT", this.onContinue)
    this.take()
  }

  stop(): void {
    this.give()
    this.stdin.off("data", this.onData).off("end", this.onEnd).off("close", this.onEnd)
    process.off("exit", this.restore).off("SIGCONT", this.onContinue)
  }

  take(): void {
    this.isReleased = false
    this.raw(true)
    this.stdin.resume()
  }

  give(): void {
    this.isReleased = true
    this.stdin.pause()
    this.restore()
  }

  private raw(isRaw: boolean): void {
    // The terminal may be gone.
    try {
      if (this.stdin.isTTY) this.stdin.setRawMode(isRaw)
    } catch {
      this.onEnd()
    }
  }

  private readonly restore = (): void => this.raw(false)
  private readonly onData = (bytes: Uint8Array): void => this.typed.push(bytes)
  /** While the program was stopped, the shell may have changed the terminal's mode. */
  private readonly onContinue = (): void => {
    if (this.isReleased) return
    this.raw(false)
    this.raw(true)
  }
}

/**
 * Reads the terminal's input, in raw mode until the scope ends. Bytes that nobody takes are kept for the next taker.
 */
export class Keyboard extends Context.Tag("synapse/Keyboard")<
  Keyboard,
  {
    /** Passes everything typed to `take` while an effect runs, beginning with what was typed before. */
    readonly into: <A, E, R>(
      take: (bytes: Uint8Array) => void,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /** Calls the listener on Ctrl-C while nobody takes keys, and drops what was typed ahead. Ends with the scope. */
    readonly onInterrupt: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Lets one effect at a time use the terminal's input in cooked mode. Nothing else reads it meanwhile. */
    readonly released: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Waits until the input ends because the terminal is gone. */
    readonly ended: Effect.Effect<void>
  }
>() {}

/** The keyboard on this process's standard input, in raw mode until the scope ends or the process exits. */
export const layerNode: Layer.Layer<Keyboard> = Layer.scoped(
  Keyboard,
  Effect.gen(function* () {
    const typed = new TypedAhead()
    const over = yield* Effect.makeLatch()
    const input = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const input = new Input(typed, () => over.unsafeOpen())
        input.start()
        return input
      }),
      (input) => Effect.sync(() => input.stop())
    )
    return Keyboard.of({
      into: typed.into,
      onInterrupt: typed.onInterrupt,
      released: (effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => input.give()),
          () => effect,
          () => Effect.sync(() => input.take())
        ),
      ended: over.await
    })
  })
)
