/**
 * The part of a terminal on which a line is edited.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { type Frame, widthOf } from "./EditorLayout.js"
import * as EditorUpdate from "./EditorUpdate.js"
import type { Terminal } from "./Terminal.js"

/**
 * Shows frames on a terminal, of which it writes what has changed. Where the terminal is slow, frames are left out.
 *
 * @since 0.1.0
 * @category models
 */
export class EditorScreen {
  private shown: Frame | undefined
  private columns = 0
  private waiting = ""
  private isDue = false
  private writing: Promise<void> | undefined

  constructor(
    private readonly terminal: Terminal["Type"],
    private readonly frame: (size: { readonly columns: number; readonly rows: number }) => Frame
  ) {}

  /** Shows the frame as it is now. */
  draw(): void {
    if (this.writing === undefined) this.show()
    else this.isDue = true
  }

  /** Shows the frame behind all that was written before, and leaves no frame out. */
  private show(): void {
    this.isDue = false
    const size = this.terminal.size()
    const columns = Math.max(size.columns, 2)
    let text = ""
    if (this.shown !== undefined && columns !== this.columns) {
      text = EditorUpdate.erased(this.shown, columns, this.terminal.reflow)
      this.shown = undefined
    }
    const next = this.frame(size)
    text += EditorUpdate.between(this.shown, next, columns)
    this.shown = next
    this.columns = columns
    this.write(text)
  }

  /** Writes lines below the frame, which is drawn again below them. */
  printBelow(lines: string): void {
    this.end(lines)
    this.show()
  }

  /** Clears the terminal. */
  clear(): void {
    this.shown = undefined
    this.write("\x1b[H\x1b[2J")
    this.show()
  }

  /** Leaves the frame on the terminal with a mark behind it, and goes on below it. */
  end(below: string, mark = ""): void {
    this.show()
    const { shown } = this
    const rows = shown?.rows ?? []
    const last = rows.at(-1) ?? []
    const down = shown === undefined ? 0 : rows.length - 1 - shown.row
    const right = down > 0 || widthOf(last) !== shown?.column ? `\r\x1b[${widthOf(last) + 1}G` : ""
    this.shown = undefined
    this.write(`${down > 0 ? `\x1b[${down}B` : ""}${mark === "" ? "" : right + mark}\r\n${below}`)
  }

  /** Writes a text as it is, behind all that was written before. */
  write(text: string): void {
    if (this.writing !== undefined) {
      this.waiting += text
      return
    }
    const slow = text === "" ? undefined : this.terminal.write(text)
    if (slow instanceof Promise) this.writing = slow.then(this.goOn, this.goOn)
  }

  private readonly goOn = (): void => {
    const { waiting } = this
    this.writing = undefined
    this.waiting = ""
    this.write(waiting)
    if (this.isDue) this.draw()
  }

  /** Waits until the terminal has taken all. */
  readonly settled: Effect.Effect<void> = Effect.suspend(() => {
    const { writing } = this
    return writing === undefined
      ? Effect.void
      : Effect.zipRight(
          Effect.promise(() => writing),
          this.settled
        )
  })
}
