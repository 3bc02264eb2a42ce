/**
 * Splits bytes into lines of text. Characters and lines may be split across chunks at any place.
 *
 * @since 0.1.0
 */

const newline = 0x0a

/**
 * Collects chunks, and returns each line once its end has come.
 *
 * @since 0.1.0
 * @category models
 */
export class Lines {
  private parts: Array<Uint8Array> = []

  /** Takes a chunk; returns the lines that it completes, without their ends. */
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

  /** Returns the last line, where it has no end. */
  end(): ReadonlyArray<string> {
    return this.parts.length === 0 ? [] : [this.flush()]
  }

  private flush(): string {
    const line = Buffer.concat(this.parts).toString("utf8")
    this.parts = []
    return line.endsWith("\r") ? line.slice(0, -1) : line
  }
}
