/**
 * One call of a command of ours by what runs in the shell: what was called, and what the caller can be told to do for it.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ShellText from "../bash/ShellText.js"
import type { ReadOptions } from "../files/Files.js"
import type { Budget, CallRequest } from "./CallRequest.js"
import * as Fifo from "./Fifo.js"
import { FifoSink, Gone } from "./FifoSink.js"
import { FifoSource } from "./FifoSource.js"
import * as Stub from "./Stub.js"
import { Refused, StubDialog } from "./StubDialog.js"

/** Texts up to this many bytes are handed over as they are; bash reads them byte by byte, and longer ones are copied. */
const short = 1000

/** The exit code of what was ended by SIGPIPE, for writing to nobody. */
const brokenPipe = 141

/** The stub's descriptors. */
const targets = { stdout: "1", stderr: "2", file: String(Stub.temporaryFd) }

/** The longest path that the system takes. */
const longestPath = 4095

const io = (reason: string) => new Refused({ kind: "io", reason })

/**
 * A call that is being answered: reads and writes on behalf of the caller, and with its rights.
 *
 * @since 0.1.0
 * @category models
 */
export class BridgeCall {
  private readonly dialog: StubDialog
  /** What is open besides. */
  private readonly closers = new Set<() => void>()
  private output: Promise<FifoSink> | undefined
  /** Whether nobody takes its output any more. */
  private broken = false
  /** Whether some of it could not be put out, which whoever tried has said on standard error. */
  private failed = false

  /** Throws where the slot's FIFOs are not there any more. */
  constructor(
    private readonly directory: string,
    readonly slot: string,
    budget: Budget,
    onRequest: (request: CallRequest) => void
  ) {
    this.dialog = new StubDialog(this.path("ask"), this.path("answer"), budget, onRequest)
    void this.gone.then(() => {
      for (const close of this.closers) close()
    })
  }

  /** Settled when nothing can be told to the caller any more: it has gone, or was dismissed. */
  get gone(): Promise<void> {
    return this.dialog.gone
  }

  /** Settled when the caller has gone: by itself, or because it was told to. */
  get ended(): Promise<void> {
    return this.dialog.ended
  }

  /** Standard input, to its end. */
  input(): FifoSource {
    const source = this.reading("input")
    this.dialog.tell("input")
    return source
  }

  /**
   * A file's bytes; rejects with Refused. Whoever has read enough closes it, and says so with `endRead`.
   */
  async read(path: string, { regular = false, skipLines = 0 }: ReadOptions): Promise<FifoSource> {
    checkPath(path)
    const source = this.reading("up")
    try {
      await this.dialog.request("open", path, String(skipLines), regular ? "regular" : "")
      return source
    } catch (error) {
      source.close()
      throw error
    }
  }

  /** Rejects with Refused where what was read did not come to its end by itself, or by whoever had read enough. */
  async endRead(): Promise<void> {
    const status = await this.dialog.request("close")
    if (status !== "0" && status !== String(brokenPipe)) throw io("it could not be read to its end")
  }

  /** Begins to give a file a new content; rejects with Refused. It is to be told `commit` or `discard`. */
  async begin(path: string): Promise<FifoSink> {
    checkPath(path)
    await this.dialog.request("begin", path)
    return this.pour("file")
  }

  /** The file that was begun has its new content from now on; rejects with Refused. */
  async commit(content: FifoSink): Promise<void> {
    await content.end()
    await this.dialog.request("written")
    await this.dialog.request("commit")
  }

  /** It stays as it was. */
  async discard(content: FifoSink): Promise<void> {
    await content.end()
    await this.dialog.request("discard")
  }

  /** Puts out something at once; rejects with Gone where nobody takes it any more. */
  async put(chunk: Uint8Array): Promise<void> {
    this.output ??= this.pour("stdout")
    const output = await this.output
    if (!(await output.write(chunk))) {
      this.broken = true
      throw new Gone()
    }
  }

  /** Puts out the rest, and ends with this exit code. */
  async finish(stdout: string, stderr: string, exitCode: number): Promise<void> {
    try {
      await this.say("stdout", stdout)
      await this.say("stderr", stderr)
      await this.dialog.request("exit", String(this.broken ? brokenPipe : exitCode & 255 || (this.failed ? 1 : 0)))
    } catch {
      // It has gone, as it should.
    }
  }

  /** Tells it nothing more: the caller hears that its host has gone, ends, and takes away what it had begun. */
  dismiss(): void {
    this.dialog.dismiss()
  }

  /** Lets the caller go, whatever becomes of it. */
  close(): void {
    this.dialog.close()
  }

  private async say(to: "stdout" | "stderr", text: string): Promise<void> {
    const bytes = Buffer.from(text)
    if (to === "stdout" && this.output !== undefined) {
      if (text !== "" && !this.broken) await this.put(bytes)
      await (await this.output).end()
      await this.waitPoured()
    } else if (bytes.length > short || bytes.includes(0)) {
      const pour = await this.pour(to)
      await pour.write(bytes)
      await pour.end()
      await this.waitPoured()
    } else if (text !== "") this.dialog.tell("say", targets[to], text)
  }

  private async waitPoured(): Promise<void> {
    const status = await this.dialog.request("poured")
    if (status === String(brokenPipe)) this.broken = true
    else if (status !== "0") this.failed = true
  }

  /** Opened for both ends first, so that nobody waits for the other. One at a time. */
  private async pour(to: keyof typeof targets): Promise<FifoSink> {
    if (this.dialog.isGone) throw new Gone()
    const both = Fifo.openBoth(this.path("down"))
    try {
      await this.dialog.request("pour", targets[to])
      const socket = Fifo.writer(this.path("down"))
      const close = () => void socket.destroy()
      this.closers.add(close)
      socket.once("close", () => this.closers.delete(close))
      return new FifoSink(socket)
    } finally {
      Fs.closeSync(both)
    }
  }

  private path(channel: (typeof Stub.channels)[number]): string {
    return Stub.channelPath(this.directory, this.slot, channel)
  }

  private reading(channel: "input" | "up"): FifoSource {
    if (this.dialog.isGone) throw new Gone()
    const source = new FifoSource(Fifo.openToRead(this.path(channel)))
    const close = () => source.close()
    this.closers.add(close)
    source.onClose = () => void this.closers.delete(close)
    return source
  }
}

const checkPath = (path: string) => {
  if (ShellText.encode(path).length > longestPath) throw io("File name too long")
}
