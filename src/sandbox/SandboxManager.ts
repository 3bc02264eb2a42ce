/**
 * The one door to a shell: every native command goes through here, sandboxed or not.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Blocked, ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import { BashSession, type ExecuteOptions } from "../session/BashSession.js"

/**
 * @since 0.1.0
 * @category tags
 */
export class SandboxManager extends Context.Tag("synapse/SandboxManager")<SandboxManager, {
  /** Runs a native command in the persistent shell. */
  readonly execute: (
    command: string,
    options?: ExecuteOptions
  ) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage | Blocked>
  /** Ends the shell and all that it started; the next command gets a new one. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory. */
  readonly cwd: Effect.Effect<string>
}>() {}

/**
 * No sandbox: commands run in the session with the rights of the user.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SandboxManager, never, BashSession> = Layer.effect(
  SandboxManager,
  Effect.map(BashSession, (session) =>
    SandboxManager.of({ execute: session.execute, restart: session.restart, cwd: session.cwd }))
)
