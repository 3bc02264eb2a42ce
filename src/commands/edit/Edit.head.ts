/**
 * Holds the beginning of a file that is edited.
 *
 * @since 0.1.0
 */
import * as BinaryText from "../../domain/BinaryText.js"
import type * as Slices from "../../domain/Slices.js"
import * as FileType from "../../files/FileType.js"
import * as Matches from "./Edit.matches.js"
import * as Nearest from "./Edit.nearest.js"
import * as Shown from "./Edit.shown.js"

/** The number of bytes at the beginning that tell whether a file is text. */
const examined = 8 * 1024

/**
 * The most bytes of a file that are held in memory: a longer file is read twice, once to find the text, and once to
 * write the file anew; and only so much of it is searched for what comes near to a text that it does not hold.
 */
const mostHeld = 64 * 1024 ** 2

/**
 * The beginning of a file, as it is read.
 *
 * @since 0.1.0
 * @category models
 */
export class Head {
  isWhole = true
  readonly chunks: Array<Uint8Array> = []
  size = 0

  push(chunk: Uint8Array): void {
    const room = mostHeld - this.size
    if (chunk.length > room) this.isWhole = false
    if (room <= 0) return
    const part = chunk.subarray(0, room)
    // A chunk may be a small part of a large buffer.
    this.chunks.push(part.length * 2 < part.buffer.byteLength ? new Uint8Array(part) : part)
    this.size += Math.min(chunk.length, room)
  }

  /** The kind of the file where it is no text; single bytes that are none may stand in a text. */
  get binary(): string | undefined {
    const bytes = this.around(0, examined).bytes
    const type = FileType.of(bytes)
    return type?.name ?? (BinaryText.find(Buffer.from(bytes).toString()) === undefined ? undefined : "binary file")
  }

  /** True where the file begins as UTF-16 text does, in which no text of another encoding is found. */
  get isUtf16(): boolean {
    const [first = new Uint8Array()] = this.chunks
    return FileType.of(first)?.name === FileType.utf16
  }

  /** Returns a match with some of the bytes around it, where these are held. */
  around(start: number, length: number): Shown.Place {
    const from = Math.max(0, start - Shown.margin)
    const end = Math.min(start + length + Shown.margin, this.size)
    const bytes = Buffer.alloc(Math.max(0, end - from))
    let at = 0
    for (const chunk of this.chunks) {
      if (at >= end) break
      if (at + chunk.length > from) {
        bytes.set(chunk.subarray(Math.max(0, from - at), end - at), Math.max(0, at - from))
      }
      at += chunk.length
    }
    return { bytes, start: start - from, length }
  }

  /** Reports what comes near to a text. */
  *nearest(old: string): Slices.Steps<string> {
    const bytes = Buffer.allocUnsafeSlow(this.size)
    let end = 0
    let rested = 0
    for (const chunk of this.chunks.splice(0)) {
      bytes.set(chunk, end)
      end += chunk.length
      if (end - rested < Matches.stride) continue
      rested = end
      yield
    }
    if (this.isWhole) return yield* Nearest.steps(bytes, old)
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1 || end)
    return `In its first ${mostHeld / 1024 ** 2} MiB, which alone were searched for what comes near:\n${yield* Nearest.steps(whole, old)}`
  }
}
