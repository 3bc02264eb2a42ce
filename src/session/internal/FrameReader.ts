/** Reads the frames by which a shell reports on its command, among whatever else the shell prints. */
import * as Crypto from "node:crypto"

/**
 * The secrets of one command. `begun` marks the frame for its start, and the command may learn it. `ended` marks the
 * last frame, and no trap, trace or prompt sees it before that frame is out.
 */
export interface Nonces {
  readonly begun: string
  readonly ended: string
}

/**
 * Makes a nonce of 64 random bits that a command can't guess, so it can't forge a frame. It has only 11 characters,
 * since bash takes time for each.
 *
 * The first 48 bits and the last 16 of a UUID are random, and node draws the bits of many UUIDs at once.
 */
export const make = (): string => {
  const random = Crypto.randomUUID()
  return Buffer.from(`${random.slice(0, 8)}${random.slice(9, 13)}${random.slice(-4)}`, "hex").toString("base64url")
}

export const makePair = (): Nonces => ({ begun: make(), ended: make() })

/** The most characters of a reported directory. */
export const maxCwd = 4096

/** The frame that reports the end of a command. */
export interface StatusFrame {
  readonly status: number
  /** False if the command's own line could not report: after an interrupt, or if it never ran. */
  readonly sure: boolean
  /** The shell's options, as in `$-`. */
  readonly options: string
  /** The shell's directory; empty if the shell does not know it or it is too long. */
  readonly cwd: string
  /** Aliases that were removed because they hid reserved words of the protocol. */
  readonly removed: ReadonlyArray<string>
  /** The exit codes of the last pipeline's parts; empty if it had only one. */
  readonly pipeline: ReadonlyArray<number>
  /** The exit codes of ended children by pid. A code that the shell does not know is undefined. */
  readonly ended: ReadonlyMap<number, number | undefined> | undefined
  /** The child that `&` started last, if any. */
  readonly left: number | undefined
}

/** The most characters that are kept while no frame comes. */
const maxPending = 8 * 1024 ** 2

/** The result for a chunk that is just the frame for the command's start, the usual case. */
const begun: ReadonlyArray<string> = ["A"]

const none: ReadonlyArray<never> = []

/** The exit code of `wait` for a process that is not a child of the shell. */
const unknown = 127

const codesIn = (text: string): ReadonlyMap<number, number | undefined> =>
  new Map(
    Array.from(text.matchAll(/ (\d{1,9}):(\d{1,3})/g), ([, pid, code]): [number, number | undefined] => [
      Number(pid),
      Number(code) === unknown ? undefined : Number(code)
    ])
  )

/** Finds one command's frames in the shell's own standard output. Drops everything else. */
export class FrameReader {
  private pending = ""
  private nonce = ""
  private beginning: string | undefined
  private opening = ""
  private closing = ""
  /** The last reported directory, raw and decoded. */
  private cwd = { latin1: "", text: "" }

  /** Accepts only frames with this nonce from now on. `begun` is the nonce of the first frame, for the start. */
  expect(nonce: string, begun?: string): void {
    this.nonce = nonce
    this.opening = `\x1e${nonce} `
    this.closing = ` ${nonce}\x1e`
    this.beginning = begun === undefined ? undefined : `\x1e${begun} A\x1e`
    this.pending = ""
  }

  /** Returns the bodies of the frames that the chunk completes; `A` for the frame of the command's start. */
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

  /** Parses the body of a status frame. Returns undefined for any other body. */
  status(body: string): StatusFrame | undefined {
    const [head = "", cwd, removed, pipeline = "", ended = "", left = ""] = body.split(` ${this.nonce} `)
    const match = /^(\??)(\d{1,3}) (\w*)$/.exec(head)
    if (match === null || cwd === undefined || removed === undefined) return undefined
    if (cwd !== this.cwd.latin1) {
      this.cwd = { latin1: cwd, text: cwd.length > maxCwd * 4 ? "" : Buffer.from(cwd, "latin1").toString() }
    }
    return {
      status: Number(match[2]),
      sure: match[1] === "",
      options: match[3] ?? "",
      cwd: this.cwd.text,
      removed: removed === "" ? none : removed.split(" ").filter((name) => name !== ""),
      // With an IFS of the user's own, the codes are not separated.
      pipeline: pipeline !== "" && /^\d{1,3}( \d{1,3})+$/.test(pipeline) ? pipeline.split(" ").map(Number) : none,
      ended: ended === "" ? undefined : codesIn(ended),
      left: /^\d+$/.test(left) ? Number(left) : undefined
    }
  }
}
