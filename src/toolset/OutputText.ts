/**
 * The output of a command as a model reads it: both streams within one limit, as a terminal would show them.
 *
 * @since 0.1.0
 */
import * as BinaryText from "../domain/BinaryText.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as KeptOutput from "../domain/KeptOutput.js"
import * as TextCut from "../domain/TextCut.js"
import * as Interleaving from "./Interleaving.js"
import * as LongLines from "./LongLines.js"
import * as TerminalText from "./TerminalText.js"

/**
 * Returns the text of both streams, line by line in the order in which they came, where it is known; otherwise the second
 * after the first. Long lines, binary parts and the middle of what exceeds
 * the limit are left out; a mark tells how much that is, and where all of it is.
 *
 * @since 0.1.0
 */
export const of = (output: Pick<CommandResult, "stdout" | "stderr" | "kept" | "order">): string => {
  const { kept } = output
  const limit = kept?.limit ?? KeptOutput.defaultLimit
  const stdout = shown(output.stdout, kept?.stdout)
  const stderr = shown(output.stderr, kept?.stderr)
  const first = cut(stdout, KeptOutput.roomBeside(lengthOf(stderr), limit))
  const second = cut(stderr, KeptOutput.roomBeside(lengthOf(stdout), limit))
  // What moves the cursor to another line, or is no text, has other lines than those whose order is known.
  if (output.order === undefined || !stdout.hasLines || !stderr.hasLines) return joined(textOf(first), textOf(second))
  return Interleaving.of({ stdout: first, stderr: second }, output, output.order)
}

/**
 * Joins two texts; the second begins on a line of its own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const joined = (first: string, second: string): string =>
  first === "" || second === "" || first.endsWith("\n") ? first + second : `${first}\n${second}`

/** The text of a stream, with a gap of so many bytes between head and tail, or none. */
interface Shown {
  readonly head: string
  readonly tail: string
  readonly left: number
  readonly where: string
  /** True where its lines are those of the stream. */
  readonly hasLines: boolean
  /** The index in the head at which `where` is said, unless a gap says it. */
  readonly place: number | undefined
}

const lengthOf = ({ head, tail }: Shown): number => head.length + tail.length

const unkept = "not kept: redirect it to a file"

const shown = (text: string, kept: KeptOutput.KeptStream | undefined): Shown => {
  const where = kept?.where ?? unkept
  const { bytes, end, start } = kept?.gap ?? { bytes: 0, end: text.length, start: text.length }
  const whole = bytes === 0 ? text : text.slice(0, start) + text.slice(end)
  const binary = BinaryText.find(whole)
  if (binary === undefined) {
    return bytes === 0 ? complete(text, where) : withGap(text.slice(0, start), text.slice(end), bytes, where)
  }
  // The gap belongs to the binary part. The text around it is UTF-8, so that its bytes can be counted.
  const before = whole.slice(0, Math.min(binary.start, start))
  const after = whole.slice(bytes === 0 ? binary.end : Math.max(binary.end, start))
  const size = (kept?.bytes ?? Buffer.byteLength(whole)) - Buffer.byteLength(before) - Buffer.byteLength(after)
  const type = binary.type === undefined ? "" : ` of ${binary.type}`
  const mark = `[binary output: ${size} bytes${type}; ${where}]\n`
  return { ...complete(`${joined(before, mark)}${after}`, where), hasLines: false }
}

const complete = (text: string, where: string): Shown => {
  const view = TerminalText.show(text)
  const { place, text: head } = LongLines.cut(view, where.length + separator.length)
  return { head, tail: "", left: 0, where, hasLines: isSameLines(text, view), place }
}

const isSameLines = (text: string, view: string): boolean =>
  text === view || Interleaving.newlinesIn(text) === Interleaving.newlinesIn(view)

/** Shows the parts around a gap. A long line that it interrupts is cut there, not at its end. */
const withGap = (first: string, second: string, bytes: number, where: string): Shown => {
  const [head, tail] = [TerminalText.show(first), TerminalText.show(second)]
  const lineEnd = tail.indexOf("\n")
  const start = Math.max(0, (lineEnd < 0 ? tail.length : lineEnd) - KeptOutput.longestLine)
  const before = TextCut.headOf(head, head.lastIndexOf("\n") + 1 + KeptOutput.longestLine)
  const after = TextCut.tailOf(tail, tail.length - start)
  const left = bytes + bytesBetween(head + tail, before + after)
  const hasLines = isSameLines(first, head) && isSameLines(second, tail)
  const [shownHead, shownTail] = [LongLines.cut(before, 0).text, LongLines.cut(after, 0).text]
  return { head: shownHead, tail: shownTail, left, where, hasLines, place: undefined }
}

const bytesBetween = (all: string, part: string): number => Buffer.byteLength(all) - Buffer.byteLength(part)

/** Cuts a text in the middle so that it fits, and writes the mark of its gap. */
const cut = (text: Shown, room: number): Interleaving.Part => {
  const { head, left, place, tail, where } = text
  if (lengthOf(text) <= room) {
    if (left > 0) return marked(head, tail, left, where)
    const whole = place === undefined ? head : `${head.slice(0, place)}${separator}${where}${head.slice(place)}`
    return { head: whole, mark: "", tail: "" }
  }
  const half = Math.ceil(room / 2)
  const before = TextCut.headOf(head, left === 0 ? half : Math.max(half, room - tail.length))
  const after =
    left === 0 ? TextCut.tailOf(head, room - half) : TextCut.tailOf(tail, Math.max(room - half, room - head.length))
  return marked(before, after, left + bytesBetween(head + tail, before + after), where)
}

const separator = "; "

const marked = (head: string, tail: string, left: number, where: string): Interleaving.Part => ({
  head,
  mark: KeptOutput.gapLine(left, where),
  tail
})

const textOf = ({ head, mark, tail }: Interleaving.Part): string => joined(head, `${mark}${tail}`)
