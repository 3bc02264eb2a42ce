/** One call of our commands by a program in the shell: the request, and what the caller is told to do for it. */
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

/** Looks up the commands that a shell calls, and runs them. */
export interface BridgeCommands {
  /** Returns the names of the commands; the same array until they change. */
  readonly names: () => ReadonlyArray<string>
  /** Returns the handlers whose name is a prefix, such as `mcp:*`; the same array until they change. */
  readonly prefixed: () => ReadonlyArray<Described>
  /** Runs the command of a call; `output` are the files of its session. */
  readonly run: (call: BridgeCall, request: CallRequest, around: CallerFacts, output: OutputFiles) => void
  /** Returns what the calls of the line of this mark have left (`ShellBridge`). */
  readonly takeCalls: (mark: string) => Calls
}

/** The most bytes that go in the dialog at once: a pipe has room for them. */
const piece = 3000

/**
 * Tests whether bytes can be handed over at once, with the path of their file: a pipe has room for both, and bash's
 * variables hold no zero bytes.
 */
const goesWith = (path: string, bytes: Uint8Array): boolean =>
  bytes.length > 0 && bytes.length + Buffer.byteLength(path) <= piece && !bytes.includes(0)

/**
 * The most bytes of a text that is handed over in the dialog itself, which bash reads byte by byte; a longer one goes
 * through a FIFO of its own.
 */
const short = 1000

/** The descriptors of the stub that output goes to. */
const targets = { stdout: "1", stderr: "2", file: String(Stub.temporaryFd) }

/** The most bytes of a path that the system takes. */
const longestPath = 4095

const io = (reason: string) => new Refused({ kind: "io", reason })

/** A call that is being answered: reads and writes files on behalf of the caller, with the caller's rights. */
export class BridgeCall {
  private readonly dialog: StubDialog
  /** Functions which close what else is open. */
  private readonly closers = new Set<() => void>()
  private output: Promise<FifoSink> | undefined
  /** True where nobody reads the output any more. */
  private broken = false
  /** True where a part of the output could not be written; the caller has reported that on standard error. */
  private failed = false

  /** Opens the dialog; throws where the slot's FIFOs are missing. */
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

  /** Resolves when the caller can't be told anything any more: it has ended, or was dismissed. */
  get gone(): Promise<void> {
    return this.dialog.gone
  }

  /** Resolves when the caller has ended. */
  get ended(): Promise<void> {
    return this.dialog.ended
  }

  /** Opens the caller's standard input. */
  input(): FifoSource {
    const source = this.reading("input")
    this.dialog.tell("input")
    return source
  }

  /**
   * Opens a file; rejects with Refused. A short one is returned as a whole. Whoever has read enough of a source closes it,
   * and calls `endRead`.
   */
  async read(path: string, { regular = false, skipLines = 0 }: ReadOptions): Promise<FifoSource | Uint8Array> {
    checkPath(path)
    const [reply] = this.dialog.requests(1, "open", path, String(skipLines), regular ? "regular" : "")
    const { detail, kind } = await (reply as Promise<Reply>)
    return kind === "text" ? detail : this.reading("up")
  }

  /** Ends the reading of a file; rejects with Refused where it failed before the end of the file. */
  async endRead(): Promise<void> {
    const status = await this.dialog.request("close")
    if (status !== "0" && status !== String(ExitCode.brokenPipe)) throw io("it could not be read to its end")
  }

  /**
   * Begins the new content of a file; rejects with Refused. `stage` must follow, or `discard`.
   *
   * @param mode the mode that it gets, as chmod takes it; empty to leave it
   */
  async begin(path: string, mode: string): Promise<FifoSink> {
    checkPath(path)
    await this.dialog.request("begin", path, mode)
    return this.pour("file")
  }

  /** Waits until the whole content is in the temporary file, and makes it ready; rejects with Refused. */
  async stage(content: FifoSink): Promise<void> {
    await content.end()
    await this.dialog.request("written")
    await this.dialog.request("stage")
  }

  /** Makes a new content ready; rejects with Refused. `apply` or `discard` must follow. */
  async put(path: string, mode: string, bytes: Uint8Array): Promise<void> {
    checkPath(path)
    if (goesWith(path, bytes)) {
      // Where a step fails, those after it find no file, and fail too.
      await Promise.all(this.dialog.requests(3, "begin", path, mode, "put", String(bytes.length), bytes, "stage"))
      return
    }
    const content = await this.begin(path, mode)
    await content.write(bytes)
    await this.stage(content)
  }

  /** Leaves all files as they were. */
  async discard(content?: FifoSink): Promise<void> {
    await content?.end()
    await this.dialog.request("discard")
  }

  /** Makes a file ready to be removed; rejects with Refused. */
  async doom(path: string): Promise<void> {
    checkPath(path)
    await this.dialog.request("doom", path)
  }

  /** Writes and removes what is ready; rejects with Refused, whose reason begins with the number of a file and a slash. */
  async apply(): Promise<void> {
    await this.dialog.request("apply")
  }

  /** Returns the link by which a relative path leads out of the caller's directory; empty where none does. */
  async exit(path: string): Promise<string> {
    checkPath(path)
    return await this.dialog.request("within", path)
  }

  /** Returns the mode of a file in octal digits; rejects with Refused. */
  async mode(path: string): Promise<string> {
    checkPath(path)
    return await this.dialog.request("mode", path)
  }

  /**
   * Makes the caller become a program, which ends this call; rejects with Refused where the program is not there
   * (`missing`; with the path of the file that it is to run where only that is not there), or can't be run (`denied`, with
   * its path).
   */
  async become({ args, file = "", names }: Program): Promise<void> {
    const words = ShellText.encode([String(names.length), file, ...names, ...args].map((word) => `${word}\0`).join(""))
    try {
      const sink = await this.pouring("become")
      // It replies only where it could not become the program.
      const refused = this.dialog.request()
      await Promise.all([refused, sink.write(words).then(() => sink.end())])
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    }
  }

  /** Writes to the caller's standard output at once; rejects with Gone where nobody reads it any more. */
  async print(chunk: Uint8Array): Promise<void> {
    this.output ??= this.pour("stdout")
    const output = await this.output
    if (!(await output.write(chunk))) {
      this.broken = true
      throw new Gone()
    }
  }

  /** Writes the rest of the output, and ends the caller with this exit code. */
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

  /** Tells the caller that its host has gone: it ends, and removes what it had begun. */
  dismiss(): void {
    this.dialog.dismiss()
  }

  /** Closes the dialog, whatever becomes of the caller. */
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
   * Opens a FIFO that the caller reads where it is told this. It is opened for both ends first, so that neither side
   * waits for the other; only one can be open at a time.
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
