/**
 * The keys that a person presses at the terminal.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Terminal } from "./Terminal.js"
import * as TerminalInput from "./TerminalInput.js"
import { TypedAhead } from "./TypedAhead.js"

/**
 * Reads the terminal's input, in raw mode as long as the service lives. Bytes that arrive while nobody reads are kept
 * for the next reader.
 *
 * @since 0.1.0
 * @category tags
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
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNode: Layer.Layer<Keyboard, never, Terminal> = Layer.scoped(
  Keyboard,
  Effect.gen(function* () {
    const { isLive } = yield* Terminal
    const typed = new TypedAhead()
    const input = yield* TerminalInput.make(typed, isLive)
    return { ...typed.reader, released: input.released }
  })
)

/**
 * Makes a keyboard without a terminal, and what types on it.
 *
 * @since 0.1.0
 * @category testing
 */
export const memory = (): { readonly keyboard: Keyboard["Type"]; readonly typed: TypedAhead } => {
  const typed = new TypedAhead()
  return { keyboard: { ...typed.reader, released: (effect) => effect }, typed }
}
