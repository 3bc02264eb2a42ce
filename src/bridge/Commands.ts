/**
 * The commands of ours, as a shell needs to know them.
 *
 * @since 0.1.0
 */
import type { FailureCategory } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { Call } from "./Call.js"
import type { Request } from "./Request.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Commands {
  /** The names of those that have one; the same array until they change. */
  readonly names: () => ReadonlyArray<string>
  /** What the names of the others begin with. */
  readonly prefixes: () => ReadonlyArray<string>
  /** Runs what was called; `input` is for a call that has none of its own. */
  readonly run: (call: Call, request: Request, input: CommandInput | undefined) => void
  /** How the call ended that was made since this was last asked, if there was one, and no other. */
  readonly takeEnded: () => Ended | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Ended {
  readonly exitCode: number
  readonly category: FailureCategory | undefined
}

/**
 * A shell with the system's commands only.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: Commands = {
  names: () => [],
  prefixes: () => [],
  run: (call) => call.close(),
  takeEnded: () => undefined
}
