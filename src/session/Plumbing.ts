/**
 * What a shell needs of the file system: the directory, the pipes for output, those by which it says its state and what
 * it did not find, and those by which it calls commands of ours.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import type { CommandInput } from "../domain/CommandInput.js"
import { OutputPipe } from "./OutputPipe.js"
import { PipePool } from "./PipePool.js"
import type { SessionDirectory } from "./SessionDirectory.js"
import type { OpenBridge, ShellBridge } from "./ShellBridge.js"

const rename = (from: string, to: string): void => {
  try {
    Fs.renameSync(from, to)
  } catch {
    // A command has deleted it.
  }
}

/** More of the names that were not found is not kept: the last one counts. */
const maxMissing = 4096

/**
 * @since 0.1.0
 * @category models
 */
export class Plumbing {
  readonly pool: PipePool
  readonly calls: OpenBridge
  /** Set where some of it was found to be deleted by a command. */
  broken = false
  private readonly statePipe: OutputPipe
  private readonly notFoundPipe: OutputPipe
  private state: Array<Buffer> = []
  private missing = ""

  private constructor(
    readonly directory: SessionDirectory,
    bridge: Context.Tag.Service<ShellBridge>,
    input: () => CommandInput | undefined
  ) {
    this.calls = bridge.open(directory, input)
    this.pool = new PipePool(directory)
    this.statePipe = new OutputPipe(directory.state)
    this.notFoundPipe = new OutputPipe(directory.notFound)
  }

  /** Lays the pipes; `input` is for calls that have none of their own. Where that is not to be, the directory is taken away again. */
  static async lay(
    directory: SessionDirectory,
    bridge: Context.Tag.Service<ShellBridge>,
    input: () => CommandInput | undefined
  ): Promise<Plumbing> {
    try {
      await directory.addPairs([directory.state, directory.notFound, ...bridge.fifos(directory.path)])
      return new Plumbing(directory, bridge, input)
    } catch (error) {
      directory.remove(false)
      throw error
    }
  }

  get lost(): boolean {
    return this.broken || this.directory.lost || this.calls.lost
  }

  /** Reads as it comes, while a command runs long: a shell that ends may have much to say. */
  attach(): void {
    this.statePipe.attach(this.intoState)
    this.notFoundPipe.attach(this.intoMissing)
  }

  /** A command has ended: what it did not find last, if anything. */
  takeMissing(): string | undefined {
    this.statePipe.detach()
    this.notFoundPipe.drain(this.intoMissing)
    const name = this.missing.split("\0").at(-2)
    this.missing = ""
    return name
  }

  /** A shell has ended: what it said of its state, byte for byte as Latin-1. */
  takeState(): string {
    this.statePipe.drain(this.intoState)
    return Buffer.concat(this.state.splice(0)).toString("latin1")
  }

  /** Tells a shell that ends whether anybody wants its state. */
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
    this.state.push(Buffer.from(chunk))
  }

  private readonly intoMissing = (chunk: Buffer) => {
    this.missing = (this.missing + chunk.toString()).slice(-maxMissing)
  }
}
