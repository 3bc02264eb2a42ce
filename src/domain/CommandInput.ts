/**
 * The standard input of commands where their line gives them none: local to the fiber that runs the line.
 *
 * @since 0.1.0
 */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
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
 * The standard input of our commands where their line gives them none; the shell's own commands never read it. Set it
 * with `Effect.locally(CommandInput.current, stream)`.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const current: FiberRef.FiberRef<CommandInput | undefined> = GlobalValue.globalValue(
  "synapse/CommandInput",
  () => FiberRef.unsafeMake<CommandInput | undefined>(undefined)
)

/**
 * Returns the next bytes of a standard input; undefined at its end.
 *
 * @since 0.1.0
 * @internal
 */
export type Read = () => Promise<Uint8Array | undefined>

/**
 * The standard input of whole lines, the shell's own commands included; without it, they have an empty one.
 *
 * @since 0.1.0
 * @internal
 */
export const ofLine: FiberRef.FiberRef<Read | undefined> = GlobalValue.globalValue("synapse/CommandInput/ofLine", () =>
  FiberRef.unsafeMake<Read | undefined>(undefined)
)
