/** A terminal emulator as the renderer's terminal: tests see what a person would see. */
import Xterm from "@xterm/headless"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Terminal } from "../../../src/terminal/Terminal.js"

export interface Screen {
  readonly layer: Layer.Layer<Terminal>
  /** All that was written, as it was written. */
  readonly written: () => string
  /** The chunks in which it was written. */
  readonly chunks: ReadonlyArray<string>
  /** The lines of the scroll-back and the screen, without empty ones at the end; wrapped rows are one line. */
  readonly lines: () => Promise<ReadonlyArray<string>>
  /** The same, a row each. */
  readonly rows: () => Promise<ReadonlyArray<string>>
  readonly resize: (columns: number, rows?: number) => void
  /** The terminal takes nothing until it is released. */
  readonly stop: () => void
  readonly release: () => void
  /** Whether the terminal shows its cursor, whether it holds its picture, and its title. */
  readonly state: () => { readonly cursor: boolean; readonly held: boolean; readonly title: string }
}

export const make = (columns = 80, rows = 24, isLive = true): Screen => {
  const xterm = new Xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
  const chunks: Array<string> = []
  const listeners = new Set<() => void>()
  let stopped: { readonly promise: Promise<void>; readonly release: () => void } | undefined
  let title = ""
  xterm.onTitleChange((text) => {
    title = text
  })
  const settled = () => new Promise<void>((resolve) => xterm.write("", resolve))
  const read = async (join: boolean): Promise<ReadonlyArray<string>> => {
    await settled()
    const { active } = xterm.buffer
    const lines: Array<string> = []
    for (let at = 0; at < active.length; at++) {
      const line = active.getLine(at)
      const isJoined = join && line?.isWrapped === true && lines.length > 0
      const next = active.getLine(at + 1)
      const wraps = join && next?.isWrapped === true
      // A wide character that did not fit leaves an empty cell.
      const gap = wraps && line?.getCell(xterm.cols - 1)?.getCode() === 0 ? 1 : 0
      const text = line?.translateToString(!wraps, 0, xterm.cols - gap) ?? ""
      if (isJoined) lines.push(`${lines.pop()}${text}`)
      else lines.push(text)
    }
    while (lines.at(-1)?.trim() === "") lines.pop()
    return lines.map((line) => line.trimEnd())
  }
  return {
    chunks,
    written: () => chunks.join(""),
    lines: () => read(true),
    rows: () => read(false),
    resize: (columns, rows = xterm.rows) => {
      xterm.resize(columns, rows)
      for (const listener of listeners) listener()
    },
    stop: () => {
      let release = () => {}
      const promise = new Promise<void>((resolve) => {
        release = resolve
      })
      stopped = { promise, release }
    },
    release: () => {
      const { release } = stopped ?? { release: () => {} }
      stopped = undefined
      release()
    },
    state: () => {
      const written = chunks.join("")
      return {
        cursor: written.lastIndexOf("\x1b[?25h") >= written.lastIndexOf("\x1b[?25l"),
        held: xterm.modes.synchronizedOutputMode,
        title
      }
    },
    layer: Layer.scoped(
      Terminal,
      Effect.acquireRelease(
        Effect.succeed(
          Terminal.of({
            isLive,
            size: () => ({ columns: xterm.cols, rows: xterm.rows }),
            onResize: (listener) => {
              listeners.add(listener)
              return () => listeners.delete(listener)
            },
            write: (text) => {
              chunks.push(text)
              // Without a device in between, which would put the cursor into the first column.
              xterm.write(isLive ? text : text.replaceAll("\n", "\r\n"))
              return stopped?.promise
            }
          })
        ),
        () => Effect.void
      )
    )
  }
}
