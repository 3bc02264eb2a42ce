/**
 * The standard input of a command.
 *
 * @since 0.1.0
 */
import type * as Stream from "effect/Stream"
import type { ExecutionFailed } from "./CommandError.js"

/**
 * The bytes of a standard input.
 *
 * @since 0.1.0
 * @category models
 */
export type CommandInput = Stream.Stream<Uint8Array, ExecutionFailed>

/**
 * Returns the next bytes of a standard input, or undefined at its end.
 *
 * @since 0.1.0
 * @internal
 */
export type Read = () => Promise<Uint8Array | undefined>
