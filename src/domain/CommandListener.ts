/**
 * Who listens to a running command: local to the fiber that runs it, so that no floor in between passes it on.
 *
 * @since 0.1.0
 */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
import type { CommandResult } from "./CommandResult.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface CommandListener {
  /**
   * Hears the output as it comes, byte for byte and without the cap. The bytes are the listener's for the time of the
   * call only. Where a promise is returned, nothing more is read until it is settled.
   */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>
  /** Told, when the command is interrupted, what it had put out by then: an interrupted Effect has no value. */
  readonly onInterrupted?: (result: CommandResult) => void
}

/**
 * Set it with `Effect.locally(CommandListener.current, { … })`.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const current: FiberRef.FiberRef<CommandListener> = GlobalValue.globalValue(
  "synapse/CommandListener",
  () => FiberRef.unsafeMake<CommandListener>({})
)
