/** The last lines of a terminal, which are redrawn as they change. */
import * as Columns from "../Columns.js"
import type { Reflow } from "../Terminal.js"

/** Not every terminal returns to the first column by itself. */
const newline = "\r\n"

const up = (rows: number): string => (rows === 0 ? "" : `\x1b[${rows}A`)
const down = (rows: number): string => (rows === 0 ? "" : rows === 1 ? "\n" : `\x1b[${rows}B`)

/** The signs of the spinner, all equally wide. */
export const spinner = ["◐", "◓", "◑", "◒"] as const

const isTurned = (line: string, before: string): boolean =>
  line.slice(1) === before.slice(1) && [line, before].every((one) => spinner.some((sign) => one.startsWith(sign)))

/** Wraps a text in synchronized output, with line wrapping off. */
const framed = (text: string): string => `\x1b[?2026h\x1b[?7l${text}\x1b[?7h\x1b[?2026l`

/**
 * Redraws the last lines. The cursor rests on the empty line below them, and moves along when a narrower terminal
 * rewraps.
 */
export class LiveArea {
  private shown: ReadonlyArray<string> = []
  private columns = 0

  constructor(private readonly reflow: Reflow = "all") {}

  get isShown(): boolean {
    return this.shown.length > 0
  }

  /** Returns the text that adds lines above and shows `live` below. Live lines must be narrower than the terminal. */
  draw(added: ReadonlyArray<string>, live: ReadonlyArray<string>, columns: number): string {
    const isSame = columns === this.columns && live.length === this.shown.length
    const text = added.length === 0 && isSame ? this.changed(live) : this.anew(added, live, columns)
    const wasShown = this.isShown
    this.shown = live
    this.columns = columns
    if (wasShown === this.isShown) return text
    return wasShown ? `${text}\x1b[?25h` : `\x1b[?25l${text}`
  }

  private changed(live: ReadonlyArray<string>): string {
    let row = live.length
    let text = ""
    let isWhole = false
    live.forEach((line, at) => {
      const before = this.shown[at] ?? ""
      if (line === before) return
      text += `\r${row > at ? up(row - at) : down(at - row)}`
      row = at
      // Mostly only the spinner turns.
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
    if (added.length === 0 && isWider) while (first < live.length && live[first] === this.shown[first]) first++
    const left = this.shown.slice(first)
    const rows =
      this.reflow === "none" ? left.length : left.reduce((sum, line) => sum + Columns.rowsOf(line, columns), 0)
    // Do not start at the first row: tmux reads ESC[J at the origin as clearing the screen, and keeps its lines in the
    // scrollback.
    const erased = left.length === 0 ? "" : `\r${up(rows)}\x1b[K${down(1)}\x1b[J${up(1)}`
    const above = added.map((line) => line + newline).join("")
    const below = live.slice(first).map((line) => line + newline)
    if (erased === "" && above === "" && below.length === 0) return ""
    if (erased === "" && below.length === 0) return above
    return `\x1b[?2026h${erased}${above}${below.length === 0 ? "" : `\x1b[?7l${below.join("")}\x1b[?7h`}\x1b[?2026l`
  }
}
