/**
 * One call of a command of ours by what runs in the shell: what was called, and what the caller can be told to do for it.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Data from "effect/Data"
import * as ShellText from "../bash/ShellText.js"
import type { ReadOptions } from "../files/Files.js"
import { type Budget, type CallRequest, RequestReader } from "./CallRequest.js"
import * as Fifo from "./Fifo.js"
import { FifoSink, Gone } from "./FifoSink.js"
import { FifoSource } from "./FifoSource.js"
import * as Stub from "./Stub.js"

/**
 * What the caller says of a file that it can't open, make or write; `kind` is one of FileError's.
 *
 * @since 0.1.0
 * @category errors
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly kind: string; readonly reason: string }> {}

/** Milliseconds for a caller to say what it calls. */
const patience = 10_000

/** Texts up to this many bytes are handed over as they are; bash reads them byte by byte, and longer ones are copied. */
const short = 1000

/** The exit code of what was ended by SIGPIPE, for writing to nobody. */
const brokenPipe = 141

/** The stub's descriptors. */
const targets = { stdout: "1", stderr: "2", file: String(Stub.fd.temporary) }

/** The longest path that the system takes. */
const longestPath = 4095

/** Of replies that are not whole yet: more is none. */
const maxReply = 64 * 1024

const io = (reason: string) => new Refused({ kind: "io", reason })

/**
 * @since 0.1.0
 * @category models
 */
export class BridgeCall {
  /** Settled when nothing can be told to the caller any more: it has gone, or was dismissed. */
  readonly gone: Promise<void>
  /** Settled when the caller has gone: by itself, or because it was told to. */
  readonly ended: Promise<void>
  private isGone = false
  private settleGone: () => void = () => {}
  private readonly ask: Net.Socket
  private readonly answer: number
  private replies = Buffer.alloc(0)
  /** Whoever waits for a reply, in the order of what was asked. */
  private waiting: Array<{ readonly take: (kind: string, detail: string) => void; readonly fail: () => void }> = []
  /** What is open besides. */
  private readonly closers = new Set<() => void>()
  private output: Promise<FifoSink> | undefined
  /** Whether nobody takes its output any more. */
  private broken = false
  /** Whether some of it could not be put out, which whoever tried has said on standard error. */
  private failed = false
  private readonly late: NodeJS.Timeout

  /** Throws where the slot's FIFOs are not there any more. */
  constructor(
    private readonly directory: string,
    readonly slot: string,
    budget: Budget,
    onRequest: (request: CallRequest) => void
  ) {
    this.gone = new Promise((resolve) => {
      this.settleGone = resolve
    })
    this.answer = Fifo.openBoth(this.path("answer"))
    try {
      this.ask = Fifo.reader(this.path("ask"))
    } catch (error) {
      Fs.closeSync(this.answer)
      throw error
    }
    this.late = setTimeout(() => this.close(), patience).unref()
    let reader: RequestReader | undefined = new RequestReader(budget)
    this.ask.on("data", (chunk: Buffer) => {
      if (reader === undefined) return this.takeReplies(chunk)
      const request = reader.read(chunk)
      if (request === "refused") return this.close()
      if (request === undefined) return
      reader.close()
      reader = undefined
      clearTimeout(this.late)
      onRequest(request)
    })
    this.ask.on("error", () => {})
    this.ended = new Promise((resolve) => {
      this.ask.once("close", () => {
        reader?.close()
        this.dismiss()
        resolve()
      })
    })
  }

  /** Standard input, to its end. */
  input(): FifoSource {
    const source = this.reading("input")
    this.tell("input")
    return source
  }

  /**
   * A file's bytes; rejects with Refused. Whoever has read enough closes it, and says so with `endRead`.
   */
  async read(path: string, { regular = false, skipLines = 0 }: ReadOptions): Promise<FifoSource> {
    checkPath(path)
    const source = this.reading("up")
    try {
      await this.request("open", path, String(skipLines), regular ? "regular" : "")
      return source
    } catch (error) {
      source.close()
      throw error
    }
  }

  /** Rejects with Refused where what was read did not come to its end by itself, or by whoever had read enough. */
  async endRead(): Promise<void> {
    const status = await this.request("close")
    if (status !== "0" && status !== String(brokenPipe)) throw io("it could not be read to its end")
  }

  /** Begins to give a file a new content; rejects with Refused. It is to be told `commit` or `discard`. */
  async begin(path: string): Promise<FifoSink> {
    checkPath(path)
    await this.request("begin", path)
    return this.pour("file")
  }

  /** The file that was begun has its new content from now on; rejects with Refused. */
  async commit(content: FifoSink): Promise<void> {
    await content.end()
    await this.request("written")
    await this.request("commit")
  }

  /** It stays as it was. */
  async discard(content: FifoSink): Promise<void> {
    await content.end()
    await this.request("discard")
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
      await this.request("exit", String(this.broken ? brokenPipe : exitCode & 255 || (this.failed ? 1 : 0)))
    } catch {
      // It has gone, as it should.
    }
  }

  /** Nothing more is told: the caller hears that its host has gone, ends, and takes away what it had begun. */
  dismiss(): void {
    if (this.isGone) return
    this.isGone = true
    clearTimeout(this.late)
    Fs.closeSync(this.answer)
    for (const close of this.closers) close()
    for (const { fail } of this.waiting.splice(0)) fail()
    this.settleGone()
  }

  /** Lets the caller go, whatever becomes of it. */
  close(): void {
    this.ask.destroy()
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
    } else if (text !== "") this.tell("say", targets[to], text)
  }

  private async waitPoured(): Promise<void> {
    const status = await this.request("poured")
    if (status === String(brokenPipe)) this.broken = true
    else if (status !== "0") this.failed = true
  }

  /** Opened for both ends first, so that nobody waits for the other. One at a time. */
  private async pour(to: keyof typeof targets): Promise<FifoSink> {
    if (this.isGone) throw new Gone()
    const both = Fifo.openBoth(this.path("down"))
    try {
      await this.request("pour", targets[to])
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
    if (this.isGone) throw new Gone()
    const source = new FifoSource(Fifo.openToRead(this.path(channel)))
    const close = () => source.close()
    this.closers.add(close)
    source.onClose = () => void this.closers.delete(close)
    return source
  }

  /** What is told is little, and read at once: the pipe has room for it. */
  private tell(...words: ReadonlyArray<string>): void {
    if (this.isGone) throw new Gone()
    const bytes = ShellText.encode(words.map((word) => `${word}\0`).join(""))
    try {
      if (Fs.writeSync(this.answer, bytes) === bytes.length) return
    } catch {
      // Nobody reads it.
    }
    this.close()
    throw new Gone()
  }

  private request(...words: ReadonlyArray<string>): Promise<string> {
    return new Promise((resolve, reject) => {
      this.tell(...words)
      this.waiting.push({
        take: (kind, detail) => (kind === "ok" ? resolve(detail) : reject(new Refused({ kind, reason: detail }))),
        fail: () => reject(new Gone())
      })
    })
  }

  private takeReplies(chunk: Buffer): void {
    const bytes = Buffer.concat([this.replies, chunk])
    let at = 0
    for (;;) {
      const middle = bytes.indexOf(0, at)
      const end = middle < 0 ? -1 : bytes.indexOf(0, middle + 1)
      if (end < 0) break
      this.waiting.shift()?.take(bytes.toString("utf8", at, middle), bytes.toString("utf8", middle + 1, end))
      at = end + 1
    }
    this.replies = bytes.subarray(at)
    if (this.replies.length > maxReply) this.close()
  }
}

const checkPath = (path: string) => {
  if (ShellText.encode(path).length > longestPath) throw io("File name too long")
}
