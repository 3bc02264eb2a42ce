/** The editing of a line on a live terminal. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import stringWidth from "string-width"
import * as ForeignText from "../../domain/ForeignText.js"
import * as TextCut from "../../domain/TextCut.js"
import type { History } from "../History.js"
import type { Keyboard } from "../Keyboard.js"
import type { Completions, Options } from "../LineEditor.js"
import type { Terminal } from "../Terminal.js"
import * as Columns from "./Columns.js"
import { atEnd, insert } from "./EditedText.js"
import type { Cell, Frame } from "./EditorLayout.js"
import * as EditorLayout from "./EditorLayout.js"
import { widthOf } from "./EditorLayout.js"
import { EditorState, type Request } from "./EditorState.js"
import { Entered } from "./Entered.js"
import type { Key } from "./Key.js"
import { KeyParser } from "./KeyParser.js"
import type { Reflow } from "./Reflow.js"

/** Matches the graphemes about whose width terminals agree: one character, and no emoji. */
const certain = /^(?:[\x20-\x7e]|[^\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{M}])$/u

const sameCell = (one: Cell | undefined, other: Cell | undefined): boolean =>
  one?.text === other?.text && one?.width === other?.width

class Writer {
  text = ""
  constructor(
    private row: number,
    private column: number,
    /** The number of rows that the terminal has below the first one. */
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
    // Behind the last column, terminals differ about where the cursor is.
    if (this.column >= columns) this.column = -1
  }
}

/**
 * Returns what to write, so that a terminal that shows one frame shows another. Without one, the cursor stands at the
 * beginning of an empty row, below which nothing is.
 */
const between = (shown: Frame | undefined, next: Frame, columns: number): string => {
  const before = shown ?? { rows: [[]], row: 0, column: 0 }
  const writer = new Writer(before.row, before.column, before.rows.length)
  next.rows.forEach((cells, row) => {
    const old = before.rows[row]
    let same = 0
    while (same < cells.length && sameCell(cells[same], old?.[same])) same++
    if (old !== undefined && same === cells.length && same === old.length) return
    // A style in the cells that are the same would be lost.
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
 * Returns what to write, so that nothing of a frame is left on a terminal whose width has changed, and the cursor stands
 * at the beginning of its first row.
 *
 * @param reflow the rows that the terminal has broken where it has become narrower
 */
export const erased = ({ column, row, rows }: Frame, columns: number, reflow: Reflow = "all"): string => {
  const rowsOf = (cells: ReadonlyArray<Cell>) =>
    Columns.rowsOfWidths(
      cells.map(({ width }) => width),
      columns
    )
  const broken = reflow === "none" ? row : rows.slice(0, row).reduce((sum, cells) => sum + rowsOf(cells), 0)
  const before = (rows[row] ?? []).filter((_, at, cells) => widthOf(cells.slice(0, at + 1)) <= column)
  const up = broken + (reflow === "all" ? rowsOf(before) - 1 : 0)
  return `${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`
}

/**
 * Shows frames on a terminal, of which it writes what has changed. Where the terminal is slow, frames are left out.
 */
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
      text = erased(this.shown, columns, this.terminal.reflow)
      this.shown = undefined
    }
    const next = this.frame(size)
    text += between(this.shown, next, columns)
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

/** Reads keys from a keyboard. Bytes are read to a key when it is taken, and not before: the others can go back. */
class KeyQueue {
  private readonly keys: Array<Key> = []
  private readonly parser = new KeyParser((key) => this.keys.push(key))
  private bytes = new Uint8Array()
  private at = 0
  private isOver = false
  private reading: Fiber.Fiber<Uint8Array | undefined> | undefined

  constructor(private readonly keyboard: Keyboard["Type"]) {}

  /** Takes the next key of those that have come; undefined where more has to be read. */
  take(): Key | undefined {
    while (this.keys.length === 0 && this.at < this.bytes.length) this.parser.push(this.bytes[this.at++] as number)
    return this.keys.shift()
  }

  /** Waits for bytes, or until what was begun can't go on; returns false where the input has ended. */
  readonly more: Effect.Effect<boolean> = Effect.suspend(() => {
    if (this.isOver) return Effect.succeed(false)
    const { patience } = this.parser
    return Effect.gen(this, function* () {
      // It goes on beyond the time, and beyond who waits for it, so that no byte is lost; `leave` ends it.
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

  /** Reads on while something else is done, until a Ctrl-C comes, which stays in the queue. */
  readonly interrupted: Effect.Effect<void> = Effect.suspend(() => {
    if (this.bytes.includes(3, this.at)) return Effect.void
    return Effect.flatMap(this.more, (goesOn) => (goesOn ? this.interrupted : Effect.never))
  })

  /** Gives the bytes back that were not taken, when nobody takes keys any more. */
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

/** The most rows of a list. */
const mostRows = 12

/**
 * Lays out words in columns, down and then right. Where there are too many, the first are shown, and the number of the
 * others.
 */
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

/** Cuts a word to so many columns. */
const cutTo = (word: string, most: number): string => {
  if (stringWidth(word) <= most) return word
  const characters = [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment)
  while (characters.length > 0 && stringWidth(characters.join("")) > most - 1) characters.pop()
  return `${characters.join("")}…`
}

/** Returns the longest text that all words, written for a shell, begin with. */
const commonStart = (words: ReadonlyArray<string>): string => {
  const [first = "", ...others] = words
  let length = first.length
  for (const other of others) {
    let same = 0
    while (same < length && other[same] === first[same]) same++
    length = same
  }
  const start = TextCut.startOf(first, length)
  // A backslash at the end has lost what it escapes, unless nothing differs.
  const backslashes = /\\*$/.exec(start)?.[0].length ?? 0
  return backslashes % 2 === 0 || others.length === 0 ? start : start.slice(0, -1)
}

/** Between these, terminals tell of pasted text by marks around it. */
const pasteOn = "\x1b[?2004h"
const pasteOff = "\x1b[?2004l"
const nextPrompt = "> "

/** The services and options of a line editor. */
export interface Parts {
  readonly terminal: Terminal["Type"]
  readonly keyboard: Keyboard["Type"]
  readonly history: History["Type"]
  readonly options: Options
}

/** Reads one text after the other from the keys, and shows it meanwhile. */
export class LineEditing {
  private readonly state: EditorState
  private readonly keys: KeyQueue
  private readonly screen: EditorScreen
  private prompt = ""
  /** True where the last key was Tab, and changed nothing: the next one shows the list. */
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

  /** Reads a text behind a prompt. Whatever ends it, the cursor is at the beginning of a line then. */
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
        // Of several lines, only the last is drawn again.
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

  /** Completes the word at the place as far as all completions agree; the second time, it shows them. */
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
