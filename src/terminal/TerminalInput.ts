/**
 * The standard input of this process, as a terminal's: its modes, and who reads it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TypedAhead } from "./TypedAhead.js"

/**
 * The input of a terminal, which is read until it is released.
 *
 * @since 0.1.0
 * @category models
 */
export interface TerminalInput {
  /** Runs an effect while the input is not read, and the terminal is as it was before. */
  readonly released: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The listeners of SIGINT are put aside while Ctrl-C is a key, or meant for another program. */
class Interrupts {
  private others: ReadonlyArray<NodeJS.SignalsListener> = []
  private listener: (() => void) | undefined

  set(listener: (() => void) | undefined): void {
    if (this.listener !== undefined) process.removeListener("SIGINT", this.listener)
    else if (listener !== undefined) this.others = process.listeners("SIGINT") as Array<NodeJS.SignalsListener>
    if (listener !== undefined) {
      process.on("SIGINT", listener)
      for (const other of this.others) process.removeListener("SIGINT", other)
    } else if (this.listener !== undefined) {
      for (const other of this.others) process.on("SIGINT", other)
    }
    this.listener = listener
  }
}

class Input {
  private readonly stdin = process.stdin
  private readonly interrupts = new Interrupts()
  private released = 0

  constructor(
    private readonly typed: TypedAhead,
    /** True where the keys come one by one. */
    private readonly isRaw: boolean
  ) {}

  start(): void {
    this.stdin.on("data", this.onData).on("end", this.onEnd).on("close", this.onEnd).on("error", this.onEnd)
    process.on("exit", this.restore).on("SIGCONT", this.onContinue)
    this.take()
  }

  stop(): void {
    this.give()
    this.interrupts.set(undefined)
    this.stdin.off("data", this.onData).off("end", this.onEnd).off("close", this.onEnd)
    process.off("exit", this.restore).off("SIGCONT", this.onContinue)
  }

  /** Counts who has the terminal: within one that is released, another one changes nothing. */
  release(by: 1 | -1): void {
    this.released += by
    if (by === 1 && this.released === 1) {
      this.give()
      this.interrupts.set(() => {})
    } else if (this.released === 0) this.take()
  }

  private take(): void {
    this.raw(true)
    this.interrupts.set(this.isRaw ? undefined : () => this.typed.push(Uint8Array.of(3)))
    this.stdin.resume()
  }

  private give(): void {
    this.stdin.pause()
    this.restore()
  }

  private raw(isRaw: boolean): void {
    // A terminal that is gone can't be set, nor does it matter.
    try {
      if (this.isRaw) this.stdin.setRawMode(isRaw)
    } catch {
      this.onEnd()
    }
  }

  private readonly restore = (): void => this.raw(false)
  private readonly onData = (bytes: Uint8Array): void => this.typed.push(bytes)
  private readonly onEnd = (): void => this.typed.end()
  /** Who stopped this process, a shell perhaps, may have set the terminal. */
  private readonly onContinue = (): void => {
    if (this.released > 0) return
    this.raw(false)
    this.raw(true)
  }
}

/**
 * Begins to read the standard input, until the scope is closed.
 *
 * @param isLive true where the keys come one by one, if the input is a terminal
 * @since 0.1.0
 * @category constructors
 */
export const make = (typed: TypedAhead, isLive: boolean): Effect.Effect<TerminalInput, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const input = new Input(typed, isLive && process.stdin.isTTY === true)
      input.start()
      return input
    }),
    (input) => Effect.sync(() => input.stop())
  ).pipe(
    Effect.map((input) => ({
      released: (effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => input.release(1)),
          () => effect,
          () => Effect.sync(() => input.release(-1))
        )
    }))
  )
