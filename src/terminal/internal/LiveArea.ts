/** The last lines of a terminal, which are drawn anew as they change. The lines above them are written once. */
import * as Columns from "./Columns.js"
import type { Reflow } from "./Reflow.js"

/** The end of a line: the terminal may be one that does not put the cursor into the first column by itself. */
const newline = "\r\n"

const up = (rows: number): string => (rows === 0 ? "" : `\x1b[${rows}A`)
/** To the next row, a newline is the shortest way: there is one. */
const down = (rows: number): string => (rows === 0 ? "" : rows === 1 ? "\n" : `\x1b[${rows}B`)

/** The signs of what runs, one after another; all of them take the same columns. */
export const spinner = ["◐", "◓", "◑", "◒"] as const

const isTurned = (line: string, before: string): boolean =>
  line.slice(1) === before.slice(1) && [line, before].every((one) => spinner.some((sign) => one.startsWith(sign)))

/** The terminal shows what stands between all at once, and wraps no line; what it does not know it leaves out. */
const framed = (text: string): string => `\x1b[?2026h\x1b[?7l${text}\x1b[?7h\x1b[?2026l`

/**
 * Keeps the lines that a terminal shows at its end, and returns what to write for others. The cursor rests on the empty
 * line behind them, so that a terminal that wraps them anew, as it becomes narrower, moves it along.
 */
export class LiveArea {
  private shown: ReadonlyArray<string> = []
  private columns = 0

  /** `reflow` are the rows that the terminal breaks where it becomes narrower; the cursor's is always empty. */
  constructor(private readonly reflow: Reflow = "all") {}

  /** True while lines are shown, and the cursor is not. */
  get isShown(): boolean {
    return this.shown.length > 0
  }

  /**
   * Returns what to write so that whole lines are added above, and these live lines stand below. Live lines have to be
   * narrower than the terminal.
   */
  draw(added: ReadonlyArray<string>, live: ReadonlyArray<string>, columns: number): string {
    const isSame = columns === this.columns && live.length === this.shown.length
    const text = added.length === 0 && isSame ? this.changed(live) : this.anew(added, live, columns)
    const wasShown = this.isShown
    this.shown = live
    this.columns = columns
    if (wasShown === this.isShown) return text
    return wasShown ? `${text}\x1b[?25h` : `\x1b[?25l${text}`
  }

  /** Draws the lines that have changed; the others stay. */
  private changed(live: ReadonlyArray<string>): string {
    let row = live.length
    let text = ""
    let isWhole = false
    live.forEach((line, at) => {
      const before = this.shown[at] ?? ""
      if (line === before) return
      text += `\r${row > at ? up(row - at) : down(at - row)}`
      row = at
      // Only the sign at its beginning turns, most of the time.
      if (isTurned(line, before)) text += line.slice(0, 1)
      else {
        text += `${line}\x1b[K`
        isWhole = true
      }
    })
    if (text === "") return ""
    text += `\r${down(live.length - row)}`
    return isWhole ? framed(text) : text
  }

  private anew(added: ReadonlyArray<string>, live: ReadonlyArray<string>, columns: number): string {
    const isWider = columns >= this.columns
    let first = 0
    // Lines at the beginning stay where nothing has to come above them.
    if (added.length === 0 && isWider) while (first < live.length && live[first] === this.shown[first]) first++
    const left = this.shown.slice(first)
    const rows =
      this.reflow === "none" ? left.length : left.reduce((sum, line) => sum + Columns.rowsOf(line, columns), 0)
    const erased = left.length === 0 ? "" : `\r${up(rows)}\x1b[J`
    const above = added.map((line) => line + newline).join("")
    const below = live.slice(first).map((line) => line + newline)
    if (erased === "" && above === "" && below.length === 0) return ""
    if (erased === "" && below.length === 0) return above
    return `\x1b[?2026h${erased}${above}${below.length === 0 ? "" : `\x1b[?7l${below.join("")}\x1b[?7h`}\x1b[?2026l`
  }
}
