/** Reads the frames in which a shell reports on the command that it runs, from among all else that it may print. */
import * as Crypto from "node:crypto"

/**
 * The secrets of one command. `begun` marks the frame that reports its begin, and may become known to it; `ended` marks
 * the last one, and stands where no trap, trace or prompt sees it before that frame is out.
 */
export interface Nonces {
  readonly begun: string
  readonly ended: string
}

/**
 * Makes a nonce, which a command can't guess and so can't forge a frame with: 64 random bits in 11 characters, since
 * bash takes a time for each. The first 48 bits of an identifier and its last 16 hold no version; node draws the bits
 * of many at once.
 */
export const make = (): string => {
  const random = Crypto.randomUUID()
  return Buffer.from(`${random.slice(0, 8)}${random.slice(9, 13)}${random.slice(-4)}`, "hex").toString("base64url")
}

/** Makes the secrets of one command. */
export const makePair = (): Nonces => ({ begun: make(), ended: make() })

/** The most characters of a directory that are reported. */
export const maxCwd = 4096

/** The frame that reports the end of a command. */
export interface StatusFrame {
  readonly status: number
  /** False where the command's own line could not report: after an interrupt, or where it has not run at all. */
  readonly sure: boolean
  /** The shell's options, as in `$-`. */
  readonly options: string
  /** The shell's directory; empty where the shell does not know it, or it is too long to be one. */
  readonly cwd: string
  /** The aliases that were removed, because they are reserved words of the protocol. */
  readonly removed: ReadonlyArray<string>
  /** The exit codes of the last pipeline's parts, where it had several. */
  readonly pipeline: ReadonlyArray<number>
  /** The exit codes of children that have ended, by their pids; undefined where the shell does not know one. */
  readonly ended: ReadonlyMap<number, number | undefined> | undefined
  /** The child that `&` has started last; undefined where there is none. */
  readonly left: number | undefined
}

/** The most characters without a frame that are kept. */
const maxPending = 8 * 1024 ** 2

/** The bodies in a chunk that reports a begin and nothing else, as it mostly does. */
const begun: ReadonlyArray<string> = ["A"]

const none: ReadonlyArray<never> = []

/** The exit code of `wait` for a process that is no child of the shell. */
const unknown = 127

const utf8 = (latin1: string) => Buffer.from(latin1, "latin1").toString()

const codesIn = (text: string): ReadonlyMap<number, number | undefined> =>
  new Map(
    Array.from(text.matchAll(/ (\d{1,9}):(\d{1,3})/g), ([, pid, code]): [number, number | undefined] => [
      Number(pid),
      Number(code) === unknown ? undefined : Number(code)
    ])
  )

/** Returns the text; empty where it is longer. */
const within = (text: string, most: number): string => (text.length > most ? "" : text)

/**
 * Finds the frames of one command in what a shell prints on its own standard output; anything else there is dropped.
 */
export class FrameReader {
  private pending = ""
  private nonce = ""
  private beginning: string | undefined
  private opening = ""
  private closing = ""
  /** The directory that was reported last, as it came and decoded. */
  private cwd = { latin1: "", text: "" }

  /**
   * Accepts only frames of this nonce from now on; the one that reports a begin may have another nonce, and comes first.
   */
  expect(nonce: string, begun?: string): void {
    this.nonce = nonce
    this.opening = `\x1e${nonce} `
    this.closing = ` ${nonce}\x1e`
    this.beginning = begun === undefined ? undefined : `\x1e${begun} A\x1e`
    this.pending = ""
  }

  /** Returns the bodies of the frames that the chunk completes; `A` for the frame that reports a begin. */
  read(chunk: Buffer): ReadonlyArray<string> {
    const text = chunk.toString("latin1")
    if (text === this.beginning && this.pending === "") {
      this.beginning = undefined
      return begun
    }
    this.pending += text
    const { closing, opening } = this
    const bodies: Array<string> = []
    const begin = this.beginning === undefined ? -1 : this.pending.indexOf(this.beginning)
    if (begin >= 0) {
      bodies.push("A")
      this.pending = this.pending.slice(begin + (this.beginning?.length ?? 0))
      this.beginning = undefined
    }
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
   * Parses the body of a status frame; undefined for any other body.
   */
  status(body: string): StatusFrame | undefined {
    const [head = "", cwd, removed, pipeline = "", ended = "", left = ""] = body.split(` ${this.nonce} `)
    const match = /^(\??)(\d{1,3}) (\w*)$/.exec(head)
    if (match === null || cwd === undefined || removed === undefined) return undefined
    if (cwd !== this.cwd.latin1) this.cwd = { latin1: cwd, text: utf8(within(cwd, maxCwd * 4)) }
    return {
      status: Number(match[2]),
      sure: match[1] === "",
      options: match[3] ?? "",
      cwd: this.cwd.text,
      removed: removed === "" ? none : removed.split(" ").filter((name) => name !== ""),
      // With an IFS of the user's own, they are not apart.
      pipeline: pipeline !== "" && /^\d{1,3}( \d{1,3})+$/.test(pipeline) ? pipeline.split(" ").map(Number) : none,
      ended: ended === "" ? undefined : codesIn(ended),
      left: /^\d+$/.test(left) ? Number(left) : undefined
    }
  }
}
