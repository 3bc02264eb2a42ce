/**
 * What a shell says of the command that it runs, among all else that it may print.
 *
 * @since 0.1.0
 */

/**
 * Characters of REPLY that are carried from frame to frame; of more, none.
 *
 * @since 0.1.0
 */
export const maxReply = 65_536

/**
 * How a command ended.
 *
 * @since 0.1.0
 * @category frames
 */
export interface StatusFrame {
  readonly status: number
  /** Whether that is the command's own: an alias named like a reserved word of the protocol's hides it. */
  readonly sure: boolean
  /** Empty where the shell does not know it. */
  readonly cwd: string
  /** The shell's REPLY, byte for byte as Latin-1. */
  readonly reply: string
}

/** A shell that says this much without a frame says nothing to us. */
const maxPending = 8 * 1024 ** 2

const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString()

/**
 * Finds the frames of one nonce in what a shell prints on its own standard output. Anything else there is dropped.
 *
 * @since 0.1.0
 * @category frames
 */
export class FrameReader {
  private pending = ""
  private nonce = ""

  /** From here on, only frames of this nonce count. */
  expect(nonce: string): void {
    this.nonce = nonce
    this.pending = ""
  }

  /** The bodies of the frames that the chunk completes. */
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

  /** What a body other than `A` says. */
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
