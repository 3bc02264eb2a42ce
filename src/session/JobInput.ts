/** The standard input of a `job:start` job: a FIFO that stays open until it is ended explicitly. */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import type { Terminal } from "../domain/JobStatus.js"
import * as Fifo from "./Fifo.js"

/** The options of `job:start`. */
export interface Start {
  readonly name: string
  /** The terminal's size, or undefined for a job without a terminal. */
  readonly terminal: Terminal | undefined
}

/** The most bytes buffered for a job that does not read. */
const mostWaiting = 1024 ** 2

const identity = ({ dev, ino }: Fs.BigIntStats): string => `${dev}:${ino}`

export class JobInput {
  private readonly identity: string
  private readonly socket: Net.Socket

  private constructor(
    readonly path: string,
    readonly start: Start,
    fd: number
  ) {
    this.identity = identity(Fifo.look(fd))
    this.socket = Fifo.writer(fd).unref()
  }

  /** Makes the FIFO in the session's directory. Rejects with the system's error. */
  static async make(directory: string, name: string, start: Start): Promise<JobInput> {
    const path = Path.join(directory, name)
    await Fifo.makeFifos([path])
    // Opened for reading too, so that nothing is lost before the job opens it.
    return new JobInput(path, start, Fifo.openBoth(path))
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  /** Tests whether this FIFO is the process's standard input. */
  isOf(pid: number): boolean {
    return Attempt.orElse(() => identity(Fs.statSync(`/proc/${pid}/fd/0`, { bigint: true })) === this.identity, false)
  }

  /** Writes bytes. Returns false if the job has too much unread input already. */
  write(bytes: Uint8Array): boolean {
    if (this.socket.writableLength + bytes.length > mostWaiting) return false
    this.socket.write(bytes)
    return true
  }

  /** Closes the input. The job still reads what was written, then end-of-file. */
  end(): void {
    this.socket.destroySoon()
  }

  close(): void {
    this.socket.destroy()
    Attempt.ignore(() => Fs.unlinkSync(this.path))
  }
}
