/**
 * Reads the frames in which a shell reports on the command that it runs, from among all else that it may print.
 *
 * @since 0.1.0
 */

/**
 * The most characters of REPLY that are kept from one command to the next; a longer REPLY is dropped.
 *
 * @since 0.1.0
 */
export const maxReply = 65_536

/**
 * The frame that reports the end of a command.
 *
 * @since 0.1.0
 * @category frames
 */
export interface StatusFrame {
  readonly status: number
  /** False where an alias with the name of a reserved word of the protocol may hide the command's own exit code. */
  readonly sure: boolean
  /** The shell's directory; empty where the shell does not know it. */
  readonly cwd: string
  /** The value of REPLY, byte for byte as Latin-1. */
  readonly reply: string
}

/** The most characters without a frame that are kept. */
const maxPending = 8 * 1024 ** 2

const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString()

/**
 * Finds the frames of one nonce in what a shell prints on its own standard output; anything else there is dropped.
 *
 * @since 0.1.0
 * @category frames
 */
export class FrameReader {
  private pending = ""
  private nonce = ""

  /** Accepts only frames of this nonce from now on. */
  expect(nonce: string): void {
    this.nonce = nonce
    this.pending = ""
  }

  /** Returns the bodies of the frames that the chunk completes. */
  read(chunk: Buffer): Array<string> {
    this.pending += chunk.toString("latin1")
    const opening = `\x1e${this.nonce} `
    const closing = ` ${this.nonce}\x1e`
    const bodies: Array<string> = []
    for (;;) {
      const start = this.pending.indexOf(opening)
      const end = start < 0 ? -1 : this.pending.indexOf(closing, start + opening.length - 1)
      if (end < 0) break
      bodies.push(this.pending.slice(start + opening.length, end))
      this.pending = this.pending.slice(end + closing.length)
    }
    if (this.pending.length > maxPending) this.pending = this.pending.slice(-maxPending / 2)
    return bodies
  }

  /**
   * Parses the body of a status frame; undefined for any other body. The body `A` reports that the command has begun.
   */
  status(body: string): StatusFrame | undefined {
    const match = /^(\??)(\d{1,3}) /.exec(body)
    const middle = body.indexOf(` ${this.nonce} `)
    if (match === null || middle < 0) return undefined
    const reply = body.slice(middle + this.nonce.length + 2)
    return {
      status: Number(match[2]),
      sure: match[1] === "",
      cwd: utf8(body.slice(match[0].length, middle)),
      reply: reply.length > maxReply ? "" : reply
    }
  }
}
