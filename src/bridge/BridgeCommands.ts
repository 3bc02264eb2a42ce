/**
 * The commands that can be called from within a shell.
 *
 * @since 0.1.0
 */
import type { CommandInput } from "../domain/CommandInput.js"
import type { CallEnding } from "../session/ShellBridge.js"
import type { BridgeCall } from "./BridgeCall.js"
import type { CallRequest } from "./CallRequest.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface BridgeCommands {
  /** The names of those that have one; the same array until they change. */
  readonly names: () => ReadonlyArray<string>
  /** What the names of the others begin with. */
  readonly prefixes: () => ReadonlyArray<string>
  /** Runs what was called; `input` is for a call that has none of its own. */
  readonly run: (call: BridgeCall, request: CallRequest, input: CommandInput | undefined) => void
  /** How the call ended that was made since this was last asked; undefined where there was none, or more than one. */
  readonly takeEnding: () => CallEnding | undefined
}
