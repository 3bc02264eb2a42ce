/** The keys that a person presses at the terminal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Terminal } from "./Terminal.js"

/** Ctrl-C and Ctrl-Z. */
const interrupt = 3
const stop = 26

const over = Effect.sync((): Uint8Array | undefined => undefined)

/** Keeps the bytes that come until somebody reads them, and tells of a Ctrl-C that nobody reads. */
class TypedAhead {
  private bytes = Buffer.alloc(0)
  private isOver = false
  private attending = 0
  private readonly waiting = new Set<() => void>()
  private readonly listeners = new Set<() => void>()
  private readonly stopListeners = new Set<() => void>()

  push(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, bytes])
    if (this.attending + this.waiting.size === 0) this.hear()
    this.wake()
  }

  end(): void {
    this.isOver = true
    this.wake()
  }

  /** Removes Ctrl-C and Ctrl-Z and tells their listeners. */
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

  /** Takes all bytes in one step, so that an interruption loses none. */
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

interface TerminalInput {
  /** Runs an effect in cooked mode, without reading the input meanwhile. */
  readonly released: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Sets other listeners of SIGINT aside while Ctrl-C is a key or belongs to another program. */
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

  /** Counts nested releases; only the outermost one changes the terminal. */
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
    // The terminal may be gone.
    try {
      if (this.isRaw) this.stdin.setRawMode(isRaw)
    } catch {
      this.onEnd()
    }
  }

  private readonly restore = (): void => this.raw(false)
  private readonly onData = (bytes: Uint8Array): void => this.typed.push(bytes)
  private readonly onEnd = (): void => this.typed.end()
  /** After a stop, the shell may have left the terminal in another mode. */
  private readonly onContinue = (): void => {
    if (this.released > 0) return
    this.raw(false)
    this.raw(true)
  }
}

/**
 * Begins to read the standard input, until the scope is closed.
 *
 * @param isLive true for raw mode, if the input is a terminal
 */
const make = (typed: TypedAhead, isLive: boolean): Effect.Effect<TerminalInput, never, Scope.Scope> =>
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

/**
 * Reads the terminal's input, in raw mode as long as the service lives. Bytes that arrive while nobody reads are kept
 * for the next reader.
 */
export class Keyboard extends Context.Tag("synapse/Keyboard")<
  Keyboard,
  {
    /** Reads the next bytes as they come; undefined at the end of the input. */
    readonly read: Effect.Effect<Uint8Array | undefined>
    /** Puts unused bytes back, to be read again. */
    readonly unread: (bytes: Uint8Array) => Effect.Effect<void>
    /** Runs an effect for which Ctrl-C is an ordinary key. */
    readonly attended: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Calls the listener at Ctrl-C while nobody reads, and drops what was typed ahead. Ends with the scope. */
    readonly onInterrupt: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Calls the listener at Ctrl-Z while nobody reads. Ends with the scope. */
    readonly onStop: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Gives the terminal's input to an effect in cooked mode: nothing is read meanwhile. */
    readonly released: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>() {}

/**
 * The keyboard of this process: its standard input. On a terminal that is live it is in raw mode; on another one the
 * terminal edits the lines itself, and SIGINT comes as Ctrl-C does. Both end with the scope, and when the process exits.
 */
export const layerNode: Layer.Layer<Keyboard, never, Terminal> = Layer.scoped(
  Keyboard,
  Effect.gen(function* () {
    const { isLive } = yield* Terminal
    const typed = new TypedAhead()
    const input = yield* make(typed, isLive)
    return { ...typed.reader, released: input.released }
  })
)

/** Makes a keyboard for tests, with a function that types on it. */
export const memory = (): { readonly keyboard: Keyboard["Type"]; readonly typed: TypedAhead } => {
  const typed = new TypedAhead()
  return { keyboard: { ...typed.reader, released: (effect) => effect }, typed }
}
