/** The standard input of a job that `job:start` has started: a FIFO, which stays open until somebody ends it. */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import type { Terminal } from "../domain/JobStatus.js"
import * as Fifo from "./Fifo.js"

/** The options of `job:start`. */
export interface Start {
  readonly name: string
  /** The size of its terminal; undefined where it has none. */
  readonly terminal: Terminal | undefined
}

/** The most bytes that wait for a job that does not read. */
const mostWaiting = 1024 ** 2

const identity = ({ dev, ino }: Fs.Stats): string => `${dev}:${ino}`

export class JobInput {
  private readonly identity: string
  private readonly socket: Net.Socket

  private constructor(
    readonly path: string,
    readonly start: Start,
    fd: number
  ) {
    this.identity = identity(Fs.fstatSync(fd))
    this.socket = Fifo.writer(fd).unref()
  }

  /** Makes a FIFO in a session's directory; rejects with the system's error. */
  static async make(directory: string, name: string, start: Start): Promise<JobInput> {
    const path = Path.join(directory, name)
    await Fifo.makeFifos([path])
    // Its own reader as well: a job that has not opened it yet loses nothing.
    return new JobInput(path, start, Fifo.openBoth(path))
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  /** Tests whether it is a process's standard input. */
  isOf(pid: number): boolean {
    return Attempt.orElse(() => identity(Fs.statSync(`/proc/${pid}/fd/0`)) === this.identity, false)
  }

  /** Writes to it; false where the job has not read what came before. */
  write(bytes: Uint8Array): boolean {
    if (this.socket.writableLength + bytes.length > mostWaiting) return false
    this.socket.write(bytes)
    return true
  }

  /** Ends it: the job reads the rest, and then its end. */
  end(): void {
    this.socket.destroySoon()
  }

  close(): void {
    this.socket.destroy()
    Attempt.ignore(() => Fs.rmSync(this.path, { force: true }))
  }
}
