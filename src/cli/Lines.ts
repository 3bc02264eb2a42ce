/**
 * Splits bytes into lines. Lines may be split across chunks at any place.
 *
 * @since 0.1.0
 */

const newline = 0x0a
const carriageReturn = 0x0d

/**
 * The bytes of a line without its end; undefined for a line that was too long to be kept.
 *
 * @since 0.1.0
 * @category models
 */
export type Line = Uint8Array | undefined

/**
 * Collects chunks, and returns each line once its end has come.
 *
 * @since 0.1.0
 * @category models
 */
export class Lines {
  private parts: Array<Uint8Array> = []
  private length = 0

  /** Keeps lines of up to so many bytes. */
  constructor(private readonly limit: number) {}

  /** Takes a chunk; returns the lines that it completes. They are valid as long as the chunk's bytes are. */
  push(chunk: Uint8Array): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.add(chunk.subarray(start, end))
      lines.push(this.flush())
      start = end + 1
    }
    if (start < chunk.length) this.add(Uint8Array.from(chunk.subarray(start)))
    return lines
  }

  /** Returns the last line, where it has no end. */
  end(): ReadonlyArray<Line> {
    return this.length === 0 ? [] : [this.flush()]
  }

  private add(part: Uint8Array): void {
    this.length += part.length
    if (this.length <= this.limit) this.parts.push(part)
    else this.parts = []
  }

  private flush(): Line {
    const [first = new Uint8Array(), ...others] = this.parts
    const line = others.length === 0 ? first : Buffer.concat(this.parts)
    const isKept = this.length <= this.limit
    this.parts = []
    this.length = 0
    if (!isKept) return undefined
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  }
}
