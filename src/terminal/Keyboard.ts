/** The keys that a person presses at the terminal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Terminal } from "./Terminal.js"

/** Ctrl-C and Ctrl-Z. */
const interrupt = 3
const stop = 26

/** The answer at the end of the input. */
const over = Effect.sync((): Uint8Array | undefined => undefined)

/** Keeps the bytes that come until somebody reads them, and tells of a Ctrl-C that nobody reads. */
class TypedAhead {
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

/** The input of a terminal, which is read until it is released. */
interface TerminalInput {
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
    /** Gives bytes back that were read and not used, to be read again. */
    readonly unread: (bytes: Uint8Array) => Effect.Effect<void>
    /** Runs an effect that reads Ctrl-C as a key like the others, also between two reads. */
    readonly attended: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Hears Ctrl-C (byte 3) while nobody reads, which then drops what was typed ahead; until the scope is closed. */
    readonly onInterrupt: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Hears Ctrl-Z (byte 26) while nobody reads, which nobody reads then; until the scope is closed. */
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

/** Makes a keyboard without a terminal, and what types on it. */
export const memory = (): { readonly keyboard: Keyboard["Type"]; readonly typed: TypedAhead } => {
  const typed = new TypedAhead()
  return { keyboard: { ...typed.reader, released: (effect) => effect }, typed }
}
