/**
 * Shows a replacement as a diff of at most three lines.
 *
 * @since 0.1.0
 */

/**
 * The number of bytes around a match that are looked at.
 *
 * @since 0.1.0
 */
export const margin = 2000

/** The most lines of a diff. */
const most = 3
/** The most characters of a line that are shown, and of those that stay before the first that differs. */
const longest = 160
const lead = 40

/**
 * A match in a file, with the bytes around it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place {
  readonly bytes: Uint8Array
  /** The index of the match in the bytes. */
  readonly start: number
  readonly length: number
}

/**
 * Tests whether the line of a match ends in CRLF, or the one before it, where it is the last.
 *
 * @since 0.1.0
 */
export const isCrlf = ({ bytes, length, start }: Place): boolean => {
  const next = bytes.indexOf(0x0a, start + length)
  const end = next < 0 ? bytes.subarray(0, start).lastIndexOf(0x0a) : next
  return end > 0 && bytes[end - 1] === 0x0d
}

/**
 * Writes the diff: a line before it where there is room, the lines that were taken away, and those that were put in; of more
 * lines than three, the last tells how many are not shown. It is empty where the match is not held.
 *
 * @param all true where all matches are replaced, on its last line too
 * @since 0.1.0
 */
export const diff = (place: Place, replacement: Uint8Array, all: boolean): string => {
  const { bytes, length, start } = place
  if (start + length > bytes.length) return ""
  const pattern = bytes.subarray(start, start + length)
  const lineStart = bytes.subarray(0, start).lastIndexOf(0x0a) + 1
  const [last] = pattern.subarray(-1)
  // Further matches in the rest of the line, which is shown only where they are seen there.
  const isCut = all && (length > margin / 2 || pattern.subarray(0, -1).includes(0x0a))
  const next = isCut || last === 0x0a ? start + length : bytes.indexOf(0x0a, start + length) + 1
  const lineEnd = next === 0 ? bytes.length : next
  const before = bytes.subarray(lineStart, start)
  const rest = bytes.subarray(start + length, lineEnd)
  const after = all ? replaced(rest, pattern, replacement) : rest
  const old = linesOf(bytes.subarray(lineStart, lineEnd))
  const current = linesOf(before, replacement, after)
  let [from, oldEnd, end] = [0, old.length, current.length]
  while (from < oldEnd && from < end && old[from] === current[from]) from++
  while (oldEnd > from && end > from && old[oldEnd - 1] === current[end - 1]) {
    oldEnd--
    end--
  }
  const [removed, added] = [old.slice(from, oldEnd), current.slice(from, end)]
  const context = from > 0 ? old[from - 1] : linesOf(bytes.subarray(0, lineStart)).at(-1)
  const rows = rowsOf(removed, added)
  if (rows.length < most && context !== undefined && context.trim() !== "") rows.unshift([" ", context])
  const shift = commonStart(removed[0] ?? "", added[0] ?? "")
  return rows.map(([kind, line]) => `${kind}${kind === "…" ? line : cut(line, shift)}\n`).join("")
}

/** Replaces a text in the rest of a line; its beginning is enough, for a long line is cut. */
const replaced = (rest: Uint8Array, pattern: Uint8Array, replacement: Uint8Array): Uint8Array => {
  const [text, old, current] = [rest, pattern, replacement.subarray(0, margin)].map((bytes) =>
    Buffer.from(bytes).toString("latin1")
  ) as [string, string, string]
  return Buffer.from(
    text.slice(0, margin).replaceAll(old, () => current),
    "latin1"
  )
}

type Row = readonly [kind: " " | "-" | "+" | "…", line: string]

/** Shows all lines where there is room; else the first of each side, or both ends of the one, and how many more there are. */
const rowsOf = (removed: ReadonlyArray<string>, added: ReadonlyArray<string>): Array<Row> => {
  const all = [...removed.map((line): Row => ["-", line]), ...added.map((line): Row => ["+", line])]
  const [first, last] = [all[0], all.at(-1)]
  if (all.length <= most || first === undefined || last === undefined) return all
  if (removed.length === 0 || added.length === 0) {
    return [first, ["…", ` ${counted(all.length - 2)} ${added.length === 0 ? "removed" : "added"}`], last]
  }
  const more = [
    ...(removed.length > 1 ? [`${counted(removed.length - 1)} removed`] : []),
    ...(added.length > 1 ? [`${counted(added.length - 1)} added`] : [])
  ]
  return [first, ["+", added[0] ?? ""], ["…", ` ${more.join(", ")}`]]
}

const counted = (count: number): string => `${count} more ${count === 1 ? "line" : "lines"}`

/** The most bytes of a text whose lines are compared; the beginning of a longer one is shown as what was changed. */
const mostCompared = 256 * 1024

const linesOf = (...parts: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, mostCompared))
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""))
  if (lines.at(-1) === "") lines.pop()
  return lines
}

const commonStart = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** Cuts a long line to the part where it differs. */
const cut = (line: string, shift: number): string => {
  if (line.length <= longest) return line
  const start = Math.max(0, Math.min(shift - lead, line.length - longest))
  return `${start > 0 ? "…" : ""}${line.slice(start, start + longest)}${start + longest < line.length ? "…" : ""}`
}
