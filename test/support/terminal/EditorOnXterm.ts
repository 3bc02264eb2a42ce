/** A line editor whose keys a test presses, and whose terminal is xterm.js. */
import { assert } from "@effect/vitest"
import Xterm from "@xterm/headless"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import stringWidth from "string-width"
import { vi } from "vitest"
import * as History from "../../../src/terminal/History.js"
import type { Entered } from "../../../src/terminal/internal/Entered.js"
import * as Keyboard from "../../../src/terminal/Keyboard.js"
import * as LineEditor from "../../../src/terminal/LineEditor.js"
import * as OpenText from "../../../src/terminal/OpenText.js"
import { Terminal } from "../../../src/terminal/Terminal.js"

export interface Given {
  readonly columns?: number
  readonly rows?: number
  readonly complete?: LineEditor.Options["complete"]
  /** True for a terminal that takes a while for each text. */
  readonly isSlow?: boolean
}

const none = () => Effect.succeed({ start: 0, words: [] })
const joiner = 0x200d

/** The widths of today's terminals, which join the parts of an emoji. */
const widths = {
  version: "now",
  wcwidth: (code: number) => Math.min(stringWidth(String.fromCodePoint(code)), 2) as 0 | 1 | 2,
  charProperties(code: number, before: number): number {
    const width = widths.wcwidth(code)
    const isJoined = before !== 0 && (width === 0 || before >> 3 === 1)
    return (Number(code === joiner) << 3) | ((isJoined ? (before >> 1) & 3 : width) << 1) | Number(isJoined)
  }
}

export class EditorOnXterm {
  readonly xterm: Xterm.Terminal
  private readonly keys = Keyboard.memory()
  private readonly listeners = new Set<() => void>()
  /** All that was written to the terminal, each time as one. */
  readonly written: Array<string> = []
  private readonly fibers: Array<Fiber.RuntimeFiber<unknown>> = []
  private readonly editor: Promise<LineEditor.LineEditor>

  constructor({ columns = 80, complete = none, isSlow = false, rows = 24 }: Given = {}) {
    this.xterm = new Xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
    this.xterm.unicode.register(widths)
    this.xterm.unicode.activeVersion = widths.version
    const terminal: Terminal["Type"] = {
      isLive: true,
      reflow: "others",
      size: () => ({ columns: this.xterm.cols, rows: this.xterm.rows }),
      onResize: (listener) => {
        this.listeners.add(listener)
        return () => this.listeners.delete(listener)
      },
      write: (text) => {
        this.written.push(text)
        if (!isSlow) return this.xterm.write(text)
        return new Promise((resolve) => setTimeout(() => this.xterm.write(text, resolve), 20))
      }
    }
    const live = Layer.mergeAll(
      Layer.succeed(Terminal, terminal),
      Layer.succeed(Keyboard.Keyboard, this.keys.keyboard),
      History.layerMemory
    )
    this.editor = Effect.runPromise(Effect.provide(LineEditor.make({ complete, isOpen: OpenText.isOpen }), live))
  }

  /** Begins to read a text. */
  read(prompt = "$ "): Promise<Entered> {
    const entered = this.editor.then((editor) => {
      const fiber = Effect.runFork(editor.read(prompt))
      this.fibers.push(fiber)
      return Effect.runPromise(Fiber.join(fiber))
    })
    // A test that has failed awaits it no more.
    entered.catch(() => {})
    return entered
  }

  /** Interrupts who reads. */
  async interrupt(): Promise<void> {
    await Effect.runPromise(Fiber.interruptAll(this.fibers))
  }

  type(...texts: ReadonlyArray<string>): void {
    for (const text of texts) this.keys.typed.push(Buffer.from(text))
  }

  end(): void {
    this.keys.typed.end()
  }

  resize(columns: number, rows = this.xterm.rows): void {
    this.xterm.resize(columns, rows)
    for (const listener of this.listeners) listener()
  }

  /** The rows of the terminal and its scroll-back, as far as something is in them. */
  get rows(): ReadonlyArray<string> {
    const { active } = this.xterm.buffer
    const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
    return rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1).map((row) => row.trimEnd())
  }

  /** The row and column of the cursor, from 0 on, counted from the first row of the scroll-back. */
  get cursor(): readonly [number, number] {
    const { active } = this.xterm.buffer
    return [active.baseY + active.cursorY, active.cursorX]
  }

  /** Waits until the terminal shows these rows, and the cursor there. */
  shows(rows: ReadonlyArray<string>, cursor?: readonly [number, number]): Promise<void> {
    return vi.waitFor(
      () => {
        assert.deepStrictEqual(this.rows, rows)
        if (cursor !== undefined) assert.deepStrictEqual(this.cursor, cursor)
      },
      { timeout: 30_000, interval: 5 }
    )
  }

  /** Waits until a row of the terminal is this. */
  hasRow(row: string): Promise<void> {
    return vi.waitFor(() => assert.include(this.rows, row), { timeout: 30_000, interval: 5 })
  }

  async close(): Promise<void> {
    await this.interrupt()
    this.xterm.dispose()
  }
}

/** Runs a test with an editor, which is gone afterwards. */
export const using = async (given: Given, test: (editor: EditorOnXterm) => Promise<void>): Promise<void> => {
  const editor = new EditorOnXterm(given)
  try {
    await test(editor)
  } finally {
    await editor.close()
  }
}
