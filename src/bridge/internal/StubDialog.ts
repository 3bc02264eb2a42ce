/** The dialog between the two sides of a call: the request, then instructions to the caller and its replies. */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Data from "effect/Data"
import * as ShellText from "../../bash/ShellText.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Fifo from "../../session/Fifo.js"
import { Gone } from "./Fifo.js"

export interface CallRequest {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** The mark of the line that makes the call (`ProcessTable.make`); undefined if it has none. */
  readonly mark: string | undefined
  /** True if its standard input is not `/dev/null`. */
  readonly hasInput: boolean
  /** True if its standard output goes into the result, not into a pipe or a file. */
  readonly isShown: boolean
}

/** How many bytes all incomplete requests together may still use. */
export interface Budget {
  left: number
}

/** The most words of a request. The system allows a program far fewer. */
const mostWords = 1_000_000

/** The overhead of a word, in bytes. */
const wordSize = 48

/** The number of fields before the words: mark, directory, input, output and number of words. */
const headers = 5

/** Reads a request as its bytes come, examining each byte once. */
class RequestReader {
  private chunks: Array<Buffer> = []
  private length = 0
  private ended = 0
  private expected: number | undefined

  constructor(private readonly budget: Budget) {}

  /** Takes bytes. Returns the complete request, `refused` for a malformed one, or `excess` for too large a one. */
  read(chunk: Buffer): CallRequest | "refused" | "excess" | undefined {
    this.chunks.push(chunk)
    this.charge(chunk.length)
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) this.ended++
    if (this.expected === undefined && this.ended >= headers) {
      const words = Number(this.fields(headers)[headers - 1] ?? "")
      if (!Number.isInteger(words) || words < 1 || words > mostWords) return "refused"
      this.expected = headers + words
      this.charge(words * wordSize)
    }
    if (this.budget.left < 0) return "excess"
    if (this.expected === undefined || this.ended < this.expected) return undefined
    const [mark = "", cwd = "", input, output, , name = "", ...args] = this.fields(this.expected)
    return {
      name,
      args,
      cwd,
      mark: /^\d{18}\n$/.test(mark) ? mark.trimEnd() : undefined,
      hasInput: input === "some",
      isShown: output === "shown"
    }
  }

  private charge(size: number): void {
    this.length += size
    this.budget.left -= size
  }

  /** The command's name, if it was read already. */
  get name(): string {
    return this.ended > headers ? (this.fields(headers + 1)[headers] ?? "") : ""
  }

  /** Stops reading and returns the budget. */
  close(): void {
    this.budget.left += this.length
    this.length = 0
    this.chunks = []
  }

  private fields(count: number): ReadonlyArray<string> {
    const bytes = Buffer.concat(this.chunks)
    this.chunks = [bytes]
    const fields: Array<string> = []
    for (let at = 0; fields.length < count; ) {
      const end = bytes.indexOf(0, at)
      fields.push(ShellText.decode(bytes.subarray(at, end)))
      at = end + 1
    }
    return fields
  }
}

/** The error for a file that the caller can't open, create or write. `kind` is one of FileError's. */
export class Refused extends Data.TaggedError("Refused")<{ readonly kind: string; readonly reason: string }> {}

/** A word for the caller, or bytes whose number it was told before. */
type Word = string | Uint8Array

/** A reply: `ok` and a detail, or `text` and a file's content. */
export interface Reply {
  readonly kind: "ok" | "text"
  readonly detail: Buffer
}

/** Milliseconds that a caller has to complete its request. */
const patience = 10_000

/** The message for words that are too long, if the caller did not print it. `call.bash` has the same. */
const tooLong = "not run: its words are too long, more than 16 MiB at once: use a pipe, a here-document or a file"

/** The most bytes of an incomplete reply. A caller that sends more is cut off. */
const maxReply = 64 * 1024

/** The Synapse side of a slot's FIFOs `ask` and `answer`. */
export class StubDialog {
  /** Resolves when the caller has ended or was dismissed, so that it can't be told anything. */
  readonly gone: Promise<void>
  /** Resolves when the caller has ended. */
  readonly ended: Promise<void>
  isGone = false
  private settleGone: () => void = () => {}
  private readonly ask: Net.Socket
  private readonly answer: number
  private replies = Buffer.alloc(0)
  /** The waiting requests, in order. */
  private waiting: Array<{ readonly take: (kind: string, detail: Buffer) => void; readonly fail: () => void }> = []
  private readonly late: NodeJS.Timeout
  /** True once the caller has sent its request. */
  private hasAsked = false

  /** Opens the FIFOs. Throws if they are missing. */
  constructor(askPath: string, answerPath: string, budget: Budget, onRequest: (request: CallRequest) => void) {
    this.gone = new Promise((resolve) => {
      this.settleGone = resolve
    })
    this.answer = Fifo.openBoth(answerPath)
    try {
      this.ask = new Net.Socket({ fd: Fifo.openToRead(askPath), readable: true, writable: false })
    } catch (error) {
      Fs.closeSync(this.answer)
      throw error
    }
    this.late = setTimeout(() => this.close(), patience).unref()
    let reader: RequestReader | undefined = new RequestReader(budget)
    let isExcess = false
    this.ask.on("data", (chunk: Buffer) => {
      // The rest is dropped. The caller is told why once it has said everything.
      if (isExcess) return
      if (reader === undefined) return this.takeReplies(chunk)
      const request = reader.read(chunk)
      if (request === "refused") return this.close()
      if (request === undefined) return
      if (request === "excess") {
        isExcess = true
        const { name } = reader
        reader.close()
        return this.refuse(`${name.slice(0, 100)}: ${tooLong}\n`)
      }
      reader.close()
      reader = undefined
      clearTimeout(this.late)
      this.hasAsked = true
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

  /** Sends the caller an instruction. Throws Gone if nobody reads it. The text must be short enough for the pipe. */
  tell(...words: ReadonlyArray<Word>): void {
    if (this.isGone) throw new Gone()
    const bytes = Buffer.concat(words.map((word) => (typeof word === "string" ? ShellText.encode(`${word}\0`) : word)))
    try {
      if (Fs.writeSync(this.answer, bytes) === bytes.length) return
    } catch {
      // The caller has ended.
    }
    this.close()
    throw new Gone()
  }

  /** Sends an instruction and returns the reply. Rejects with Refused or Gone. */
  async request(...words: ReadonlyArray<Word>): Promise<string> {
    const [reply] = this.requests(1, ...words)
    return (await (reply as Promise<Reply>)).detail.toString()
  }

  /** Sends an instruction with several replies, which may reject with Refused or Gone. Throws Gone if nobody reads it. */
  requests(count: number, ...words: ReadonlyArray<Word>): ReadonlyArray<Promise<Reply>> {
    this.tell(...words)
    return Array.from(
      { length: count },
      () =>
        new Promise((resolve, reject) => {
          this.waiting.push({
            take: (kind, detail) =>
              kind === "ok" || kind === "text"
                ? resolve({ kind, detail })
                : reject(new Refused({ kind, reason: detail.toString() })),
            fail: () => reject(new Gone())
          })
        })
    )
  }

  /** Closes Synapse's side. The caller then ends and removes unfinished files. */
  dismiss(): void {
    if (this.isGone) return
    this.isGone = true
    clearTimeout(this.late)
    Fs.closeSync(this.answer)
    for (const { fail } of this.waiting.splice(0)) fail()
    this.settleGone()
    // A caller without a request has begun nothing. If it was ended before it opened its FIFO, nothing would report
    // that.
    if (!this.hasAsked) this.close()
  }

  /** Closes the dialog, whatever the caller does. */
  close(): void {
    this.ask.destroy()
  }

  /** Makes the caller print a message and end, as soon as it listens. */
  private refuse(said: string): void {
    // Ignores that the caller has ended or was dismissed.
    Attempt.ignore(() => {
      this.tell("say", "2", said)
      this.tell("exit", "1")
    })
  }

  private takeReplies(chunk: Buffer): void {
    const bytes = Buffer.concat([this.replies, chunk])
    let at = 0
    for (;;) {
      const middle = bytes.indexOf(0, at)
      const end = middle < 0 ? -1 : bytes.indexOf(0, middle + 1)
      if (end < 0) break
      this.waiting.shift()?.take(bytes.toString("utf8", at, middle), bytes.subarray(middle + 1, end))
      at = end + 1
    }
    this.replies = bytes.subarray(at)
    if (this.replies.length > maxReply) this.close()
  }
}
