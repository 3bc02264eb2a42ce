/** Reads the request that a caller begins with: the command that it calls, and its words. */
import * as ShellText from "../../bash/ShellText.js"

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
export class RequestReader {
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
