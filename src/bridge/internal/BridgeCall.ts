/** One call of a Synapse command by a program in the shell, and what its caller is told to do. */
import * as Fs from "node:fs"
import * as ShellText from "../../bash/ShellText.js"
import type { Described, Program } from "../../command/CommandHandler.js"
import * as ExitCode from "../../domain/ExitCode.js"
import type { ReadOptions } from "../../files/Files.js"
import * as Fifo from "../../session/Fifo.js"
import { FifoSink } from "../../session/Fifo.js"
import type { OutputFiles } from "../../session/OutputFiles.js"
import type { CallerFacts, Calls } from "../../session/ShellBridge.js"
import { FifoSource, Gone } from "./Fifo.js"
import * as Stub from "./Stub.js"
import type { Budget, CallRequest } from "./StubDialog.js"
import { Refused, type Reply, StubDialog } from "./StubDialog.js"

/** The commands that a shell can call. */
export interface Callable {
  /** The names of commands without a prefix. */
  readonly names: ReadonlyArray<string>
  /** The handlers for name prefixes such as `mcp:*`. */
  readonly prefixed: ReadonlyArray<Described>
}

/** Finds and runs the commands that a shell calls. */
export interface BridgeCommands {
  /** Returns the commands, as the same object until they change. */
  readonly callable: () => Callable
  /** Runs the command of a call. `output` holds the session's output files. */
  readonly run: (call: BridgeCall, request: CallRequest, around: CallerFacts, output: OutputFiles) => void
  /** As in `ShellBridge`. */
  readonly takeCalls: (mark: string) => Calls
}

/** The most bytes written to the dialog at once. A pipe has room for them. */
const piece = 3000

/** Tests whether bytes fit into the pipe with their path, and hold no zero bytes, which bash variables can't. */
const goesWith = (path: string, bytes: Uint8Array): boolean =>
  bytes.length > 0 && bytes.length + Buffer.byteLength(path) <= piece && !bytes.includes(0)

/** The longest text sent in the dialog itself, in bytes, since bash reads it byte by byte. A longer one gets a FIFO. */
const short = 1000

/** The stub's descriptors for output. */
const targets = { stdout: "1", stderr: "2", file: String(Stub.temporaryFd) }

/** The longest path that the system accepts, in bytes. */
const longestPath = 4095

const io = (reason: string) => new Refused({ kind: "io", reason })

/** A call being answered. It reads and writes files through the caller, with the caller's rights. */
export class BridgeCall {
  private readonly dialog: StubDialog
  /** Close what else is open. */
  private readonly closers = new Set<() => void>()
  private output: Promise<FifoSink> | undefined
  /** True if nobody reads the output any more. */
  private broken = false
  /** True if part of the output could not be written. The caller has reported that on standard error. */
  private failed = false

  /** Opens the dialog. Throws if the slot's FIFOs are missing. */
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

  /** Resolves when the caller has ended or was dismissed, so that it can't be told anything. */
  get gone(): Promise<void> {
    return this.dialog.gone
  }

  /** Resolves when the caller has ended. */
  get ended(): Promise<void> {
    return this.dialog.ended
  }

  input(): FifoSource {
    const source = this.reading("input")
    this.dialog.tell("input")
    return source
  }

  /**
   * Opens a file. Rejects with Refused. Returns a short file as a whole. A source that was read as far as needed must
   * be closed, then `endRead` called.
   */
  async read(path: string, { regular = false, skipLines = 0 }: ReadOptions): Promise<FifoSource | Uint8Array> {
    checkPath(path)
    const [reply] = this.dialog.requests(1, "open", path, String(skipLines), regular ? "regular" : "")
    const { detail, kind } = await (reply as Promise<Reply>)
    return kind === "text" ? detail : this.reading("up")
  }

  /** Ends reading a file. Rejects with Refused if it failed before the file's end. */
  async endRead(): Promise<void> {
    const status = await this.dialog.request("close")
    if (status !== "0" && status !== String(ExitCode.brokenPipe)) throw io("it could not be read to its end")
  }

  /**
   * Begins the new content of a file. Rejects with Refused. Call `stage` or `discard` afterwards.
   *
   * @param mode the file's new mode in chmod's notation; empty to keep the old one
   */
  async begin(path: string, mode: string): Promise<FifoSink> {
    checkPath(path)
    await this.dialog.request("begin", path, mode)
    return this.pour("file")
  }

  /** Waits until the temporary file holds the whole content, and prepares the change. Rejects with Refused. */
  async stage(content: FifoSink): Promise<void> {
    await content.end()
    await this.dialog.request("written")
    await this.dialog.request("stage")
  }

  /** Prepares new content for a file. Rejects with Refused. Call `apply` or `discard` afterwards. */
  async put(path: string, mode: string, bytes: Uint8Array): Promise<void> {
    checkPath(path)
    if (goesWith(path, bytes)) {
      // If a step fails, the next ones find no file and fail too.
      await Promise.all(this.dialog.requests(3, "begin", path, mode, "put", String(bytes.length), bytes, "stage"))
      return
    }
    const content = await this.begin(path, mode)
    await content.write(bytes)
    await this.stage(content)
  }

  async discard(content?: FifoSink): Promise<void> {
    await content?.end()
    await this.dialog.request("discard")
  }

  /** Prepares the removal of a file. Rejects with Refused. */
  async doom(path: string): Promise<void> {
    checkPath(path)
    await this.dialog.request("doom", path)
  }

  /** Applies all prepared changes. Rejects with Refused, whose reason begins with the index of a file and a slash. */
  async apply(): Promise<void> {
    await this.dialog.request("apply")
  }

  /** Returns the link by which a relative path leads out of the caller's directory, or an empty string. */
  async exit(path: string): Promise<string> {
    checkPath(path)
    return await this.dialog.request("within", path)
  }

  /** Returns a file's mode in octal digits. Rejects with Refused. */
  async mode(path: string): Promise<string> {
    checkPath(path)
    return await this.dialog.request("mode", path)
  }

  /**
   * Makes the caller become a program, which ends this call.
   *
   * Rejects with Refused `missing` if there is no such program, or with a reason if only its file is missing. Rejects
   * with `denied` and the program's path if it can't be run.
   */
  async become({ args, file = "", names }: Program): Promise<void> {
    const words = ShellText.encode([String(names.length), file, ...names, ...args].map((word) => `${word}\0`).join(""))
    try {
      const sink = await this.pouring("become")
      // The caller replies only if it could not become the program.
      const refused = this.dialog.request()
      await Promise.all([refused, sink.write(words).then(() => sink.end())])
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    }
  }

  /** Writes to the caller's standard output at once. Rejects with Gone if nobody reads it any more. */
  async print(chunk: Uint8Array): Promise<void> {
    this.output ??= this.pour("stdout")
    const output = await this.output
    if (!(await output.write(chunk))) {
      this.broken = true
      throw new Gone()
    }
  }

  /** Writes the rest of the output and ends the caller with the exit code. */
  async finish(stdout: string, stderr: string, exitCode: number): Promise<void> {
    try {
      await this.say("stdout", stdout)
      await this.say("stderr", stderr)
      await this.dialog.request(
        "exit",
        String(this.broken ? ExitCode.brokenPipe : exitCode & 255 || (this.failed ? 1 : 0))
      )
    } catch {
      // The caller has ended, as it should.
    }
  }

  /** Closes the caller's side: it ends, and removes unfinished files. */
  dismiss(): void {
    this.dialog.dismiss()
  }

  /** Closes the dialog, whatever the caller does. */
  close(): void {
    this.dialog.close()
  }

  private async say(to: "stdout" | "stderr", text: string): Promise<void> {
    const bytes = Buffer.from(text)
    if (to === "stdout" && this.output !== undefined) {
      if (text !== "" && !this.broken) await this.print(bytes)
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
    if (status === String(ExitCode.brokenPipe)) this.broken = true
    else if (status !== "0") this.failed = true
  }

  /** Opens a FIFO that the caller copies to a descriptor. */
  private pour(to: keyof typeof targets): Promise<FifoSink> {
    return this.pouring("pour", targets[to])
  }

  /**
   * Opens a FIFO that the caller reads once it is told so. Opening both ends first keeps either side from waiting. Only
   * one can be open at a time.
   */
  private async pouring(...told: ReadonlyArray<string>): Promise<FifoSink> {
    if (this.dialog.isGone) throw new Gone()
    const both = Fifo.openBoth(this.path("down"))
    try {
      await this.dialog.request(...told)
      const close = () => sink.close()
      const sink = new FifoSink(Fifo.openToWrite(this.path("down")), () => this.closers.delete(close))
      this.closers.add(close)
      return sink
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
