/** The interface through which programs in a shell call commands that this process implements. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as CallContext from "../domain/CallContext.js"
import type { FailureCategory } from "../domain/CommandError.js"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import type { Image } from "../domain/CommandResult.js"
import type { SessionDirectory } from "./SessionDirectory.js"

/** Runs a call that the shell of this bridge has made, or that has this place. */
export const within =
  (commands: unknown) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    CallContext.locally(call, { within: commands })

/** The error for a command that waits for the shell which waits for it. */
export const busy = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "shell",
    reason: "a command that the shell has called can't run another in that shell, which waits for it"
  })

/**
 * Runs an effect that needs the shell of this bridge; fails with ExecutionFailed where that shell waits for this fiber.
 */
export const refuse = <A, E, R>(
  commands: unknown,
  execution: Effect.Effect<A, E, R>
): Effect.Effect<A, E | ExecutionFailed, R> =>
  Effect.withFiberRuntime(
    (fiber): Effect.Effect<A, E | ExecutionFailed, R> =>
      fiber.getFiberRef(CallContext.current).within === commands ? busy() : execution
  )

/** The end of a call from within the shell. */
export interface CallEnding {
  readonly exitCode: number
  readonly category: FailureCategory | undefined
}

/** The facts about the calls of a line that its result tells. */
export interface Calls {
  /** The end of the call; undefined where there was none, or more than one. A call without a mark counts as the line's. */
  readonly called: CallEnding | undefined
  /** The images that calls have shown. */
  readonly images: ReadonlyArray<Image>
}

/** The facts about the command that runs which a call from within it needs. */
export interface CallerFacts {
  /** The input of calls that have no standard input of their own. */
  readonly input: CommandInput | undefined
  /** The most characters of standard output that the result shows; undefined where all of it is taken as it comes. */
  readonly room: number | undefined
  /** Hears the progress of the calls; undefined where nobody does. */
  readonly listener: CommandListener | undefined
}

/** The bridge of one session, open for the calls of its shell. */
export interface OpenBridge {
  /**
   * Makes all registered commands callable under their names, and those that the text of a command names. It is called
   * before every command, and takes no time if nothing has changed.
   */
  readonly offer: (command: string) => void
  /** True where calls can't be answered any more, or a command has deleted files that they need. */
  readonly isLost: boolean
  /** True while a call is being answered. */
  readonly isBusy: boolean
  /** Tells whether a process is a caller's side of a call, which cleans up when it is dismissed. */
  readonly isCaller: (pid: number) => boolean
  /** Interrupts every call, and waits until their callers have ended and cleaned up. */
  readonly dismiss: Effect.Effect<void>
  /** Takes out of the FIFOs what the commands that have ended have left in them. */
  readonly tidy: () => void
  readonly close: () => void
}

/** Makes our commands callable in a shell: by FIFOs in the session's directory, and bash text that uses them. */
export class ShellBridge extends Context.Tag("synapse/ShellBridge")<
  ShellBridge,
  {
    /** Returns the paths of the FIFOs that must exist in the session's directory before `open`. */
    readonly fifos: (directory: string) => ReadonlyArray<string>
    /** Opens the bridge of a session; `around` tells of the command that runs. Throws the file system's errors. */
    readonly open: (directory: SessionDirectory, around: () => CallerFacts) => OpenBridge
    /** Returns bash text that every shell runs at its start: functions that call the commands. */
    readonly definitions: (directory: string) => string
    /** Returns bash text that puts the directory of the commands' programs into the PATH. */
    readonly enterPath: (directory: string) => string
    /**
     * Returns bash text that runs with the words of a command that bash did not find: where it is one of ours, calls it
     * and returns.
     */
    readonly onNotFound: () => string
    /** Returns what the calls of the line of this mark have left for its result, since the last time this was asked. */
    readonly takeCalls: (mark: string) => Calls
  }
>() {}
