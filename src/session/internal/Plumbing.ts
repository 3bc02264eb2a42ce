/**
 * The directory and the pipes of a session: those for the commands' output, for the shell's state, for the names of
 * commands that it did not find, and for calls of our commands.
 */
import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { OpenBridge, ShellBridge, Surroundings } from "../ShellBridge.js"
import { OutputPipe } from "./OutputPipe.js"
import { PipePool } from "./PipePool.js"
import * as ShellState from "./ShellState.js"

/** Returns the inode of a FIFO; undefined where there is none by that name. */
const inodeOf = (path: string): number | undefined => {
  try {
    const at = Fs.lstatSync(path)
    return at.isFIFO() ? at.ino : undefined
  } catch {
    return undefined
  }
}

const rename = (from: string, to: string): void => {
  try {
    Fs.renameSync(from, to)
  } catch {
    // A command has deleted it.
  }
}

/** The most bytes of a state; a longer one is lost, and the result says so. */
const maxState = 64 * 1024 ** 2

/** The most characters of names not found that are kept; only the last name counts. */
const maxMissing = 4096

/** All pipes of a session, in its directory. */
export class Plumbing {
  readonly pool: PipePool
  readonly calls: OpenBridge
  /** Set where a command was found to have deleted some of it. */
  broken = false
  /** The directory's stamp when no file was lost. */
  private stamp: number | undefined
  private readonly statePipe: OutputPipe
  private readonly notFoundPipe: OutputPipe
  private state: Array<Buffer> = []
  private stateLength = 0
  private stateEnd = ""
  private missing = ""
  /** The inodes of the FIFOs that stay, by their paths. */
  private readonly inodes: ReadonlyMap<string, number | undefined>

  private constructor(
    readonly directory: SessionDirectory,
    bridge: Context.Tag.Service<ShellBridge>,
    around: () => Surroundings
  ) {
    const fifos = [directory.state, directory.notFound, ...bridge.fifos(directory.path)]
    this.inodes = new Map(fifos.map((path) => [path, inodeOf(path)]))
    this.calls = bridge.open(directory, around)
    this.pool = new PipePool(directory.pairs)
    this.statePipe = new OutputPipe(directory.state)
    this.notFoundPipe = new OutputPipe(directory.notFound)
  }

  /** Makes the pipes; `around` tells calls of the command that runs. On failure, the directory is removed. */
  static async lay(
    directory: SessionDirectory,
    bridge: Context.Tag.Service<ShellBridge>,
    around: () => Surroundings
  ): Promise<Plumbing> {
    try {
      await directory.pairs.add([directory.state, directory.stdin, directory.notFound, ...bridge.fifos(directory.path)])
      return new Plumbing(directory, bridge, around)
    } catch (error) {
      directory.remove(false)
      throw error
    }
  }

  /** Tests whether it can't be used any more. Files are looked at only where the directory's stamp is another one. */
  isLost(stamp?: number): boolean {
    if (this.broken || this.calls.broken) return true
    if (stamp !== undefined && stamp === this.stamp) return false
    const isLost = this.directory.lost || this.calls.lost
    this.stamp = isLost ? undefined : stamp
    return isLost
  }

  /** True where all files of the session's directory are as they were made; a command may have changed them unseen. */
  get isIntact(): boolean {
    const isThere = ([path, inode]: readonly [string, number | undefined]) =>
      inode !== undefined && inodeOf(path) === inode
    return !this.isLost() && this.directory.isIntact && [...this.inodes].every(isThere)
  }

  /** Reads the pipes as they fill, while a command runs long: a shell that ends may write much. */
  attach(): void {
    this.statePipe.attach(this.intoState)
    this.notFoundPipe.attach(this.intoMissing)
  }

  /** Returns the last command that bash did not find during the command that has ended, if any. */
  takeMissing(): string | undefined {
    this.statePipe.detach()
    this.notFoundPipe.drain(this.intoMissing)
    const name = this.missing.split("\0").at(-2)
    this.missing = ""
    return name
  }

  /** True once the shell has written all of its state: what is left of it is the user's EXIT trap. */
  get isStateWritten(): boolean {
    this.statePipe.peek(this.intoState)
    return this.stateEnd === ShellState.lastBytes
  }

  /** Returns the state that the shell has written at its end, byte for byte as Latin-1. */
  takeState(): string {
    this.statePipe.drain(this.intoState)
    this.stateLength = 0
    this.stateEnd = ""
    return Buffer.concat(this.state.splice(0)).toString("latin1")
  }

  /** Tells a shell that is ending whether it should write its state, by renaming the FIFO for it. */
  wantState(wanted: boolean): void {
    const { state } = this.directory
    const aside = `${state}.aside`
    if (wanted) rename(aside, state)
    else rename(state, aside)
  }

  close(keepOutputFiles: boolean): void {
    this.calls.close()
    this.pool.close()
    this.statePipe.close()
    this.notFoundPipe.close()
    this.directory.remove(keepOutputFiles)
  }

  private readonly intoState = (chunk: Buffer) => {
    this.stateLength += chunk.length
    const { length } = ShellState.lastBytes
    this.stateEnd = (this.stateEnd + chunk.toString("latin1", Math.max(0, chunk.length - length))).slice(-length)
    if (this.stateLength <= maxState) this.state.push(Buffer.from(chunk))
    else this.state = []
  }

  private readonly intoMissing = (chunk: Buffer) => {
    this.missing = (this.missing + chunk.toString()).slice(-maxMissing)
  }
}
