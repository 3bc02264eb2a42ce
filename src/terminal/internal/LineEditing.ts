/** The editing of a line on a live terminal. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import stringWidth from "string-width"
import * as ForeignText from "../../domain/ForeignText.js"
import * as TextCut from "../../domain/TextCut.js"
import * as WordWrap from "../Columns.js"
import type { History } from "../History.js"
import type { Keyboard } from "../Keyboard.js"
import type { Completions, Options } from "../LineEditor.js"
import type { Reflow, Terminal } from "../Terminal.js"
import { atEnd, insert } from "./EditedText.js"
import type { Cell, Frame } from "./EditorLayout.js"
import * as EditorLayout from "./EditorLayout.js"
import { widthOf } from "./EditorLayout.js"
import { EditorState, type Request } from "./EditorState.js"
import { Entered } from "./Entered.js"
import type { Key } from "./KeyParser.js"
import { KeyParser } from "./KeyParser.js"

/** Matches graphemes whose width terminals agree on. */
const certain = /^(?:[\x20-\x7e]|[^\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{M}])$/u

const sameCell = (one: Cell | undefined, other: Cell | undefined): boolean =>
  one?.text === other?.text && one?.width === other?.width

class Writer {
  text = ""
  constructor(
    private row: number,
    private column: number,
    private rows: number
  ) {}

  goTo(row: number, column: number): void {
    const last = Math.min(row, this.rows - 1)
    if (last < this.row) this.text += `\x1b[${this.row - last}A`
    if (last > this.row) this.text += `\x1b[${last - this.row}B`
    this.row = last
    for (; this.row < row; this.row++) {
      this.text += "\r\n"
      this.column = 0
      this.rows++
    }
    if (column === this.column) return
    this.text += column === 0 ? "\r" : column === this.column - 1 ? "\b" : `\x1b[${column + 1}G`
    this.column = column
  }

  cells(cells: ReadonlyArray<Cell>, columns: number): void {
    for (const { text, width } of cells) {
      this.text += text
      this.column += width
      if (width > 0 && !certain.test(text) && this.column < columns) this.text += `\x1b[${this.column + 1}G`
    }
    // After the last column, terminals disagree about the cursor.
    if (this.column >= columns) this.column = -1
  }
}

/** Returns what turns one frame into another. Without a frame, the cursor is at the start of an empty row. */
const between = (shown: Frame | undefined, next: Frame, columns: number): string => {
  const before = shown ?? { rows: [[]], row: 0, column: 0 }
  const writer = new Writer(before.row, before.column, before.rows.length)
  next.rows.forEach((cells, row) => {
    const old = before.rows[row]
    let same = 0
    while (same < cells.length && sameCell(cells[same], old?.[same])) same++
    if (old !== undefined && same === cells.length && same === old.length) return
    if (cells.slice(0, same).some(({ width }) => width === 0) && cells.slice(same).some(({ width }) => width === 0)) {
      same = 0
    }
    writer.goTo(row, widthOf(cells.slice(0, same)))
    writer.cells(cells.slice(same), columns)
    if (old !== undefined && widthOf(old) > widthOf(cells)) writer.text += "\x1b[K"
  })
  if (before.rows.length > next.rows.length) {
    writer.goTo(next.rows.length, 0)
    writer.text += "\x1b[J"
  }
  writer.goTo(next.row, next.column)
  return writer.text
}

/**
 * Returns what erases a frame after the terminal's width has changed.
 *
 * @param reflow the rows that a narrower terminal wraps
 */
export const erased = ({ column, row, rows }: Frame, columns: number, reflow: Reflow = "all"): string => {
  const rowsOf = (cells: ReadonlyArray<Cell>) =>
    WordWrap.rowsOfWidths(
      cells.map(({ width }) => width),
      columns
    )
  const broken = reflow === "none" ? row : rows.slice(0, row).reduce((sum, cells) => sum + rowsOf(cells), 0)
  const before = (rows[row] ?? []).filter((_, at, cells) => widthOf(cells.slice(0, at + 1)) <= column)
  const up = broken + (reflow === "all" ? rowsOf(before) - 1 : 0)
  return `${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`
}

/** Shows frames, writing only what changed. A slow terminal skips frames. */
class EditorScreen {
  private shown: Frame | undefined
  private columns = 0
  private waiting = ""
  private isDue = false
  private writing: Promise<void> | undefined

  constructor(
    private readonly terminal: Terminal["Type"],
    private readonly frame: (size: { readonly columns: number; readonly rows: number }) => Frame
  ) {}

  draw(): void {
    if (this.writing === undefined) this.show()
    else this.isDue = true
  }

  /** Shows the frame after all earlier writes, without skipping it. */
  private show(): void {
    this.isDue = false
    const size = this.terminal.size()
    const columns = Math.max(size.columns, 2)
    let text = ""
    if (this.shown !== undefined && columns !== this.columns) {
      text = erased(this.shown, columns, this.terminal.reflow)
      this.shown = undefined
    }
    const next = this.frame(size)
    text += between(this.shown, next, columns)
    this.shown = next
    this.columns = columns
    this.write(text)
  }

  /** Writes lines and draws the frame again below them. */
  printBelow(lines: string): void {
    this.end(lines)
    this.show()
  }

  clear(): void {
    this.shown = undefined
    this.write("\x1b[H\x1b[2J")
    this.show()
  }

  /** Leaves the frame with a mark and goes on below it. */
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

/** Reads keys from a keyboard. Bytes become keys only when taken, so that the others can be put back. */
class KeyQueue {
  private readonly keys: Array<Key> = []
  private readonly parser = new KeyParser((key) => this.keys.push(key))
  private bytes = new Uint8Array()
  private at = 0
  private isOver = false
  private reading: Fiber.Fiber<Uint8Array | undefined> | undefined

  constructor(private readonly keyboard: Keyboard["Type"]) {}

  /** Takes the next key, or undefined if more bytes are needed. */
  take(): Key | undefined {
    while (this.keys.length === 0 && this.at < this.bytes.length) this.parser.push(this.bytes[this.at++] as number)
    return this.keys.shift()
  }

  /** Waits for bytes or the end of an open sequence; false at the end of the input. */
  readonly more: Effect.Effect<boolean> = Effect.suspend(() => {
    if (this.isOver) return Effect.succeed(false)
    const { patience } = this.parser
    return Effect.gen(this, function* () {
      // The read outlives the wait, so that no byte is lost; `leave` ends it.
      this.reading ??= yield* Effect.forkDaemon(this.keyboard.read)
      const wait = Fiber.join(this.reading)
      const read = patience === undefined ? Option.some(yield* wait) : yield* Effect.timeoutOption(wait, patience)
      if (Option.isNone(read)) {
        this.parser.flush()
        return true
      }
      this.reading = undefined
      this.add(read.value)
      return true
    })
  })

  /** Reads until a Ctrl-C comes, which stays in the queue. */
  readonly interrupted: Effect.Effect<void> = Effect.suspend(() => {
    if (this.bytes.includes(3, this.at)) return Effect.void
    return Effect.flatMap(this.more, (goesOn) => (goesOn ? this.interrupted : Effect.never))
  })

  /** Puts unused bytes back. */
  readonly leave: Effect.Effect<void> = Effect.gen(this, function* () {
    const { reading } = this
    this.reading = undefined
    if (reading !== undefined) {
      const exit = yield* Fiber.interrupt(reading)
      if (Exit.isSuccess(exit)) this.add(exit.value)
    }
    const left = this.bytes.subarray(this.at)
    this.bytes = new Uint8Array()
    this.at = 0
    if (left.length > 0) yield* this.keyboard.unread(left)
  })

  private add(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.isOver = true
      this.parser.flush()
    } else {
      this.bytes = new Uint8Array(Buffer.concat([this.bytes.subarray(this.at), bytes]))
      this.at = 0
    }
  }
}

const mostRows = 12

/** Lays out words in columns, with the number of those left out. */
const inColumns = (words: ReadonlyArray<string>, size: { readonly columns: number; readonly rows: number }): string => {
  const room = Math.max(size.columns - 1, 1)
  const most = Math.max(1, Math.min(mostRows, size.rows - 3))
  const shown = words.slice(0, most * room).map((word) => cutTo(ForeignText.escape(word), room))
  const width = Math.min(Math.max(...shown.map((word) => stringWidth(word))) + 2, room)
  const columns = Math.max(Math.floor((room + 2) / width), 1)
  const rows = Math.min(Math.ceil(shown.length / columns), most)
  const listed = shown.slice(0, rows * columns)
  const lines = Array.from({ length: rows }, (_, row) =>
    listed
      .filter((_, at) => at % rows === row)
      .map((word) => word + " ".repeat(Math.max(width - stringWidth(word), 0)))
      .join("")
      .trimEnd()
  )
  const left = words.length - listed.length
  return [...lines, ...(left > 0 ? [`… ${left} more`] : [])].map((line) => `${line}\r\n`).join("")
}

const cutTo = (word: string, most: number): string => {
  if (stringWidth(word) <= most) return word
  const characters = [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment)
  while (characters.length > 0 && stringWidth(characters.join("")) > most - 1) characters.pop()
  return `${characters.join("")}…`
}

/** Returns the longest common beginning of quoted words. */
const commonStart = (words: ReadonlyArray<string>): string => {
  const [first = "", ...others] = words
  let length = first.length
  for (const other of others) {
    let same = 0
    while (same < length && other[same] === first[same]) same++
    length = same
  }
  const start = TextCut.startOf(first, length)
  // A backslash at the end has lost what it escapes.
  const backslashes = /\\*$/.exec(start)?.[0].length ?? 0
  return backslashes % 2 === 0 || others.length === 0 ? start : start.slice(0, -1)
}

/** Bracketed paste on and off. */
const pasteOn = "\x1b[?2004h"
const pasteOff = "\x1b[?2004l"
const nextPrompt = "> "

export interface Parts {
  readonly terminal: Terminal["Type"]
  readonly keyboard: Keyboard["Type"]
  readonly history: History["Type"]
  readonly options: Options
}

export class LineEditing {
  private readonly state: EditorState
  private readonly keys: KeyQueue
  private readonly screen: EditorScreen
  private prompt = ""
  /** True after a Tab that changed nothing: the next one shows the list. */
  private hasAsked = false

  constructor(private readonly parts: Parts) {
    this.state = new EditorState(parts.history.entries)
    this.keys = new KeyQueue(parts.keyboard)
    this.screen = new EditorScreen(parts.terminal, (size) =>
      EditorLayout.layout(
        { prompt: this.state.search?.prompt ?? this.prompt, next: nextPrompt, edited: this.state.edited },
        size
      )
    )
  }

  /** Reads a text. Afterwards the cursor is at the beginning of a line. */
  read(prompt: string): Effect.Effect<Entered> {
    const { keyboard, terminal } = this.parts
    const { screen } = this
    let isDone = false
    const end = (text: string) => {
      isDone = true
      this.finish(text)
    }
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.state.clear()
        this.hasAsked = false
        const last = prompt.lastIndexOf("\n") + 1
        this.prompt = prompt.slice(last)
        screen.write(pasteOn + prompt.slice(0, last).replaceAll("\n", "\r\n"))
        screen.draw()
        return terminal.onResize(() => screen.draw())
      }),
      () => keyboard.attended(this.untilEntered(end)),
      (unlisten) =>
        Effect.suspend(() => {
          unlisten()
          if (!isDone) this.finish("")
          return Effect.zipRight(this.keys.leave, screen.settled)
        })
    )
  }

  private finish(text: string): void {
    this.state.search = undefined
    this.screen.end(pasteOff, text)
  }

  private untilEntered(end: (text: string) => void): Effect.Effect<Entered> {
    return Effect.gen(this, function* () {
      for (;;) {
        const key = this.keys.take()
        if (key === undefined) {
          this.screen.draw()
          yield* this.screen.settled
          if (yield* this.keys.more) continue
          end("")
          return Entered.Ended()
        }
        const { hasAsked } = this
        this.hasAsked = false
        const request = this.state.press(key)
        if (request === "complete") yield* this.complete(hasAsked)
        const entered = this.answer(request)
        if (entered === undefined) continue
        end(entered._tag === "Interrupted" ? "^C" : "")
        return entered
      }
    })
  }

  private answer(request: Request | undefined): Entered | undefined {
    if (request === "interrupt") return Entered.Interrupted()
    if (request === "end") return Entered.Ended()
    if (request === "clear") this.screen.clear()
    if (request !== "enter") return undefined
    const { text } = this.state.edited
    if (!this.parts.options.isOpen(text)) return Entered.Text({ text })
    this.state.change(insert(atEnd(text), "\n"))
    return undefined
  }

  /** Completes the word as far as all completions agree; the second Tab lists them. */
  private complete(hasAsked: boolean): Effect.Effect<void> {
    const { edited } = this.state
    const search = this.parts.options.complete(edited.text, edited.place)
    return Effect.raceFirst(Effect.asSome(search), Effect.as(this.keys.interrupted, Option.none<Completions>())).pipe(
      Effect.map(Option.match({ onNone: () => {}, onSome: (found) => this.take(found, hasAsked) }))
    )
  }

  private take({ start, words }: Completions, hasAsked: boolean): void {
    const { edited } = this.state
    const written = edited.text.slice(start, edited.place)
    const common = commonStart(words.map(({ text }) => text))
    if (words.length === 1 || (common.length > written.length && common !== written)) {
      const text = edited.text.slice(0, start) + edited.text.slice(edited.place)
      this.state.change(insert({ text, place: start }, common))
    } else if (words.length > 0) {
      this.hasAsked = true
      if (!hasAsked) return
      const size = this.parts.terminal.size()
      this.screen.printBelow(
        inColumns(
          words.map(({ shown }) => shown),
          size
        )
      )
    }
  }
}
