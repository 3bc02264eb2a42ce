/**
 * Cuts bytes into lines of text. Characters and lines may be split across chunks at any place.
 *
 * @since 0.1.0
 */

const newline = 0x0a

/**
 * Holds the beginning of a line until its end has come.
 *
 * @since 0.1.0
 * @category models
 */
export class Lines {
  private parts: Array<Uint8Array> = []

  /** The lines that are complete with this chunk, without their ends. */
  push(chunk: Uint8Array): ReadonlyArray<string> {
    const lines: Array<string> = []
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.parts.push(chunk.subarray(start, end))
      lines.push(this.flush())
      start = end + 1
    }
    if (start < chunk.length) this.parts.push(chunk.slice(start))
    return lines
  }

  /** What is left of a last line without an end. */
  end(): ReadonlyArray<string> {
    return this.parts.length === 0 ? [] : [this.flush()]
  }

  private flush(): string {
    const line = Buffer.concat(this.parts).toString("utf8")
    this.parts = []
    return line.endsWith("\r") ? line.slice(0, -1) : line
  }
}
