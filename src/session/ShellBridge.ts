/** How programs in a shell call the Synapse commands, which this process implements. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as CallContext from "../domain/CallContext.js"
import type { FailureCategory } from "../domain/CommandError.js"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import type { Image } from "../domain/CommandResult.js"
import type { SessionDirectory } from "./SessionDirectory.js"

/** The error for a command that needs a shell which itself waits for that command. */
export const busy = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "shell",
    reason: "a command that the shell has called can't run another in that shell, which waits for it"
  })

/** Runs an effect that needs the shell of this bridge. Fails if that shell waits for this fiber. */
export const refuse = <A, E, R>(
  bridge: unknown,
  execution: Effect.Effect<A, E, R>
): Effect.Effect<A, E | ExecutionFailed, R> =>
  Effect.withFiberRuntime(
    (fiber): Effect.Effect<A, E | ExecutionFailed, R> =>
      fiber.getFiberRef(CallContext.current).within === bridge ? busy() : execution
  )

/** How a call from within the shell ended. */
export interface CallEnding {
  readonly exitCode: number
  readonly category: FailureCategory | undefined
}

/** What a command line's result says about the calls that the line made. */
export interface Calls {
  /** The exit code and the category of the line's last Synapse command; undefined if it called none. A call that carries no mark is taken for one of this line. */
  readonly called: CallEnding | undefined
  readonly images: ReadonlyArray<Image>
}

/** What a call from within the shell needs to know about the running command. */
export interface CallerFacts {
  /** The bridge whose shell waits for the call. */
  readonly within: unknown
  /** The input of calls that have no standard input of their own. */
  readonly input: CommandInput | undefined
  /** The most characters of standard output that the result shows; undefined if there is no limit. */
  readonly room: number | undefined
  /** Hears the progress of the calls, if anybody does. */
  readonly listener: CommandListener | undefined
}

/** The bridge of one session, open for calls from its shell. */
export interface OpenBridge {
  /**
   * Makes all registered commands callable by name, with those that the command's text names. Called before every
   * command; costs nothing if nothing has changed.
   */
  readonly offer: (command: string) => void
  /** True if calls can't be answered any more, or a command has deleted files that they need. */
  readonly isLost: boolean
  readonly isBusy: boolean
  /** Tells whether a process is the caller's side of a call, which cleans up when the call is interrupted. */
  readonly isCaller: (pid: number) => boolean
  /** Interrupts every call, and waits until its caller has cleaned up and ended. */
  readonly dismiss: Effect.Effect<void>
  /** Empties the FIFOs of what ended commands have left in them. */
  readonly tidy: () => void
  readonly close: () => void
}

/** Makes Synapse commands callable in a shell, through FIFOs in the session's directory and bash functions. */
export class ShellBridge extends Context.Tag("synapse/ShellBridge")<
  ShellBridge,
  {
    /** Returns the paths of FIFOs that must exist before `open`. */
    readonly fifos: (directory: string) => ReadonlyArray<string>
    /** Opens the bridge of a session. `around` describes the running command. Throws file system errors. */
    readonly open: (directory: SessionDirectory, around: () => CallerFacts) => OpenBridge
    /** Returns bash text that every shell runs at its start: the functions that call the commands. */
    readonly definitions: (directory: string) => string
    /** Returns bash text that adds the directory of the commands' programs to the PATH. */
    readonly enterPath: (directory: string) => string
    /**
     * Returns bash text that runs for a command that bash did not find, with its words as arguments. If it is a
     * Synapse command, the text calls it and returns.
     */
    readonly onNotFound: () => string
    /** Returns what the calls of the line with this mark left for its result, since this was last asked. */
    readonly takeCalls: (mark: string) => Calls
  }
>() {}
