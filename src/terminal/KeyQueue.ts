/**
 * The keys that a person has pressed and nobody has taken.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Key } from "./Key.js"
import type { Keyboard } from "./Keyboard.js"
import { KeyParser } from "./KeyParser.js"

/**
 * Reads keys from a keyboard. Bytes are read to a key when it is taken, and not before: the others can go back.
 *
 * @since 0.1.0
 * @category models
 */
export class KeyQueue {
  private readonly keys: Array<Key> = []
  private readonly parser = new KeyParser((key) => this.keys.push(key))
  private bytes = new Uint8Array()
  private at = 0
  private isOver = false
  private reading: Fiber.Fiber<Uint8Array | undefined> | undefined

  constructor(private readonly keyboard: Keyboard["Type"]) {}

  /** Takes the next key of those that have come; undefined where more has to be read. */
  take(): Key | undefined {
    while (this.keys.length === 0 && this.at < this.bytes.length) this.parser.push(this.bytes[this.at++] as number)
    return this.keys.shift()
  }

  /** Waits for bytes, or until what was begun can't go on; returns false where the input has ended. */
  readonly more: Effect.Effect<boolean> = Effect.suspend(() => {
    if (this.isOver) return Effect.succeed(false)
    const { patience } = this.parser
    return Effect.gen(this, function* () {
      // It goes on beyond the time, and beyond who waits for it, so that no byte is lost; `leave` ends it.
      this.reading ??= yield* Effect.forkDaemon(this.keyboard.read)
      const wait = Fiber.join(this.reading)
      const read = patience === undefined ? Option.some(yield* wait) : yield* Effect.timeoutOption(wait, patience)
      if (Option.isNone(read)) {
        this.parser.flush()
        return true
      }
      this.reading = undefined
      this.add(read.value)
      return true
    })
  })

  /** Reads on while something else is done, until a Ctrl-C comes, which stays in the queue. */
  readonly interrupted: Effect.Effect<void> = Effect.suspend(() => {
    if (this.bytes.includes(3, this.at)) return Effect.void
    return Effect.flatMap(this.more, (goesOn) => (goesOn ? this.interrupted : Effect.never))
  })

  /** Gives the bytes back that were not taken, when nobody takes keys any more. */
  readonly leave: Effect.Effect<void> = Effect.gen(this, function* () {
    const { reading } = this
    this.reading = undefined
    if (reading !== undefined) {
      const exit = yield* Fiber.interrupt(reading)
      if (Exit.isSuccess(exit)) this.add(exit.value)
    }
    const left = this.bytes.subarray(this.at)
    this.bytes = new Uint8Array()
    this.at = 0
    if (left.length > 0) yield* this.keyboard.unread(left)
  })

  private add(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.isOver = true
      this.parser.flush()
    } else {
      this.bytes = new Uint8Array(Buffer.concat([this.bytes.subarray(this.at), bytes]))
      this.at = 0
    }
  }
}
