/** The commands that can be called from within a shell. */
import type { Described } from "../../command/CommandHandler.js"
import type { Image } from "../../domain/CommandResult.js"
import type { OutputFiles } from "../../session/OutputFiles.js"
import type { CallEnding, Surroundings } from "../../session/ShellBridge.js"
import type { BridgeCall } from "./BridgeCall.js"
import type { CallRequest } from "./CallRequest.js"

/** Looks up the commands that a shell calls, and runs them. */
export interface BridgeCommands {
  /** Returns the names of the commands; the same array until they change. */
  readonly names: () => ReadonlyArray<string>
  /** Returns the handlers whose name is a prefix, such as `mcp:*`; the same array until they change. */
  readonly prefixed: () => ReadonlyArray<Described>
  /** Runs the command of a call; `output` are the files of its session. */
  readonly run: (call: BridgeCall, request: CallRequest, around: Surroundings, output: OutputFiles) => void
  /**
   * Returns the end of the call that the line of this mark has made since the last time this was asked; undefined where
   * there was none, or more than one. A call without a mark counts as the line's.
   */
  readonly takeEnding: (mark: string | undefined) => CallEnding | undefined
  /** Returns the images that calls have shown since the last time this was asked. */
  readonly takeImages: () => ReadonlyArray<Image>
}
