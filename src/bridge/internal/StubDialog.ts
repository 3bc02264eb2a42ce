/** The dialog between the two sides of a call: the request, then what the caller is told to do, and its replies. */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Data from "effect/Data"
import * as ShellText from "../../bash/ShellText.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Fifo from "../../session/Fifo.js"
import { Gone } from "./Fifo.js"

/** A request: the name and the words of the call, and the directory that it comes from. */
export interface CallRequest {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** The mark of the line that the call comes from (`CommandMark`); undefined where it has none. */
  readonly mark: string | undefined
  /** True where there is a standard input other than `/dev/null`. */
  readonly hasInput: boolean
  /** True where its standard output goes into the result, and not on into a pipe or a file. */
  readonly isShown: boolean
}

/** The number of bytes that all incomplete requests together may still use. */
export interface Budget {
  left: number
}

/** The most words of a request; the system allows a program far fewer. */
const mostWords = 1_000_000

/** The bytes that a word takes besides its own. */
const wordSize = 48

/** The number of fields before the words: mark, directory, input, output and number of words. */
const headers = 5

/** Reads a request from the bytes as they come, each examined once. */
class RequestReader {
  private chunks: Array<Buffer> = []
  private length = 0
  private ended = 0
  private expected: number | undefined

  constructor(private readonly budget: Budget) {}

  /** Takes bytes; returns the request once it is complete, `refused` for what can't become one, and `excess` for too much. */
  read(chunk: Buffer): CallRequest | "refused" | "excess" | undefined {
    this.chunks.push(chunk)
    this.charge(chunk.length)
    if (this.budget.left < 0) return "excess"
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

  /** The name of the command, as far as it is read. */
  get name(): string {
    return this.ended > headers ? (this.fields(headers + 1)[headers] ?? "") : ""
  }

  /** Stops reading, and returns what was taken of the budget. */
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

/**
 * The error for a file that the caller could not open, create or write, with the system's reason; `kind` is one of
 * FileError's.
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly kind: string; readonly reason: string }> {}

/** A word that the caller is told, or bytes whose number it was told before. */
type Word = string | Uint8Array

/** A reply: `ok` and a detail, or `text` and the content of a file. */
export interface Reply {
  readonly kind: "ok" | "text"
  readonly detail: Buffer
}

/** Milliseconds that a caller has to complete its request. */
const patience = 10_000

/** The message for words that are too long, the same as in `call.bash`, for a caller that did not print it. */
const tooLong = "not run: its words are too long, more than 16 MiB at once: use a pipe, a here-document or a file"

/** The most bytes of incomplete replies; a caller that sends more is closed. */
const maxReply = 64 * 1024

/** The FIFOs `ask` and `answer` of a slot, from the host's side. */
export class StubDialog {
  /** Resolves when the caller can't be told anything any more: it has ended, or was dismissed. */
  readonly gone: Promise<void>
  /** Resolves when the caller has ended. */
  readonly ended: Promise<void>
  isGone = false
  private settleGone: () => void = () => {}
  private readonly ask: Net.Socket
  private readonly answer: number
  private replies = Buffer.alloc(0)
  /** Those who wait for a reply, in the order of the requests. */
  private waiting: Array<{ readonly take: (kind: string, detail: Buffer) => void; readonly fail: () => void }> = []
  private readonly late: NodeJS.Timeout
  /** True once the caller has said what it wants. */
  private hasAsked = false

  /** Opens the FIFOs; throws where they are missing. */
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
      // The rest is not kept; the caller hears why when it has said all.
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

  /**
   * Tells the caller to do something; throws Gone where nobody reads it. The text has to be short, so that the pipe has
   * room for it.
   */
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

  /** Tells the caller to do something, and returns its reply; rejects with Refused or Gone. */
  async request(...words: ReadonlyArray<Word>): Promise<string> {
    const [reply] = this.requests(1, ...words)
    return (await (reply as Promise<Reply>)).detail.toString()
  }

  /** Tells the caller to do something that it replies to several times; each rejects with Refused or Gone. */
  requests(count: number, ...words: ReadonlyArray<Word>): ReadonlyArray<Promise<Reply>> {
    if (this.isGone) return [Promise.reject(new Gone())]
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

  /** Tells the caller that its host has gone: it ends, and removes what it had begun. */
  dismiss(): void {
    if (this.isGone) return
    this.isGone = true
    clearTimeout(this.late)
    Fs.closeSync(this.answer)
    for (const { fail } of this.waiting.splice(0)) fail()
    this.settleGone()
    // It has begun nothing. Where it was ended before it opened its FIFO, nothing would tell of that.
    if (!this.hasAsked) this.close()
  }

  /** Closes the dialog, whatever becomes of the caller. */
  close(): void {
    this.ask.destroy()
  }

  /** Tells the caller, as soon as it listens, to say something and to end. */
  private refuse(said: string): void {
    // The caller has ended, or was dismissed.
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
