/**
 * What a caller says first: which command it calls, with which words.
 *
 * @since 0.1.0
 */
import * as ShellText from "../bash/ShellText.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface CallRequest {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** Whether there is a standard input besides `/dev/null`. */
  readonly hasInput: boolean
}

/**
 * Bytes that all callers together may say before they have said what they call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Budget {
  left: number
}

/** More words than the system gives a program, by far. */
const mostWords = 1_000_000

/** Directory, input and number of words come before the words. */
const headers = 3

/**
 * Takes the bytes as they come, each looked at once.
 *
 * @since 0.1.0
 * @category models
 */
export class RequestReader {
  private chunks: Array<Buffer> = []
  private length = 0
  private ended = 0
  private expected: number | undefined

  constructor(private readonly budget: Budget) {}

  /** The request, once it is whole; `refused` for what can't become one. */
  read(chunk: Buffer): CallRequest | "refused" | undefined {
    this.chunks.push(chunk)
    this.length += chunk.length
    this.budget.left -= chunk.length
    if (this.budget.left < 0) return "refused"
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) this.ended++
    if (this.expected === undefined && this.ended >= headers) {
      const words = Number(this.fields(headers)[headers - 1] ?? "")
      if (!Number.isInteger(words) || words < 1 || words > mostWords) return "refused"
      this.expected = headers + words
    }
    if (this.expected === undefined || this.ended < this.expected) return undefined
    const [cwd = "", input, , name = "", ...args] = this.fields(this.expected)
    return { name, args, cwd, hasInput: input === "some" }
  }

  /** Nothing more is read: what it took of the budget is there for others. */
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
