/** The facts that a remark on a result is made from. */
import type { CommandResult } from "../../domain/CommandResult.js"
import type { Surroundings } from "../../sandbox/Surroundings.js"

/** The facts that a remark is made from. */
export interface Facts {
  readonly command: string
  readonly result: CommandResult
  /** The shell's directory. */
  readonly cwd: string
  readonly around: Surroundings
  /** The names of the commands that are not the shell's own. */
  readonly commands: ReadonlyArray<string>
  /** True where commands reach no network. */
  readonly isOffline?: boolean
  /** Returns the names of the extension commands that are known. */
  readonly extensions: () => ReadonlyArray<string>
}
