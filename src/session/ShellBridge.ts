/**
 * The port through which a shell's programs call commands that this process implements.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FailureCategory } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { SessionDirectory } from "./SessionDirectory.js"

/**
 * How a call from within the shell ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallEnding {
  readonly exitCode: number
  readonly category: FailureCategory | undefined
}

/**
 * A session's side of the bridge, open for the calls that its shell makes.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenBridge {
  /** Makes the commands that there are by now callable under their names. Called before every command: cheap if nothing changed. */
  readonly offer: () => void
  /** Whether a command has deleted what calls need. */
  readonly lost: boolean
  /** Whether a call is being answered at the moment. */
  readonly isBusy: boolean
  /** Interrupts every call, and waits until their callers have ended and cleaned up. */
  readonly dismiss: Effect.Effect<void>
  /** Closes the FIFOs. */
  readonly close: () => void
}

/**
 * Commands of ours, as a shell meets them: FIFOs in the session's directory to call them by, and bash text that does it.
 *
 * @since 0.1.0
 * @category tags
 */
export class ShellBridge extends Context.Tag("synapse/ShellBridge")<
  ShellBridge,
  {
    /** The paths of the FIFOs that must exist in the session's directory before `open`. */
    readonly fifos: (directory: string) => ReadonlyArray<string>
    /** Opens the bridge of a session; `input` is read by calls that have no standard input of their own. Throws what the file system says. */
    readonly open: (directory: SessionDirectory, input: () => CommandInput | undefined) => OpenBridge
    /** Bash text that every shell runs at its start: functions through which it calls the commands. */
    readonly definitions: (directory: string) => string
    /** Bash text that puts the directory of the commands' programs into the PATH. */
    readonly enterPath: (directory: string) => string
    /** Bash text that puts the programs of another session directory in the place of these. */
    readonly changePath: (from: string, to: string) => string
    /** Bash text, run with the words of a command that bash did not find: calls it and returns, where it is one of ours. */
    readonly onNotFound: () => string
    /** How the call ended that was made since this was last asked; undefined where there was none, or more than one. */
    readonly takeEnding: () => CallEnding | undefined
  }
>() {}

/**
 * A shell with the system's commands only.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<ShellBridge> = Layer.sync(ShellBridge, () => ({
  fifos: () => [],
  open: () => ({ offer: () => {}, lost: false, isBusy: false, dismiss: Effect.void, close: () => {} }),
  definitions: () => "",
  enterPath: () => "",
  changePath: () => "",
  onNotFound: () => "",
  takeEnding: () => undefined
}))
