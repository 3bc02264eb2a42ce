/**
 * Turns what a program writes for a terminal into the text that the terminal would show at the end: without colours,
 * and with the last state of a progress bar only.
 */

/** The column at which a cursor movement ends at the latest, as at the right edge of a terminal. */
const lastColumn = 200

const zeroWidth = /^[\p{Mark}\u200b-\u200d\ufeff]$/u
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u

const widthOf = (character: string): number =>
  character < "\u0300" ? 1 : zeroWidth.test(character) ? 0 : doubleWidth.test(character) ? 2 : 1

/** A line that is written. As long as all text comes at its end, it is kept as it is. */
class TerminalRow {
  private plain = ""
  /**
   * The columns, once something was overwritten. A wide character or a tab stands in its first column; the others that it
   * takes are empty.
   */
  private cells: Array<string> | undefined

  /** Writes text at a column, or at the end where that is undefined; returns the column after it. */
  write(text: string, column: number | undefined): number | undefined {
    if (this.cells === undefined && (column === undefined || (column === 0 && this.plain === ""))) {
      this.plain += text
      return undefined
    }
    const cells = this.toCells()
    let at = column ?? cells.length
    for (const character of text) at = character === "\t" ? this.tab(cells, at) : this.put(cells, at, character)
    return at
  }

  /** Returns the column at its end. */
  get end(): number {
    return this.toCells().length
  }

  /** Erases from a column to the end. */
  eraseFrom(column: number): void {
    if (column === 0) {
      this.plain = ""
      this.cells = undefined
      return
    }
    const cells = this.toCells()
    if (column >= cells.length) return
    this.blank(cells, column)
    cells.length = column
  }

  /** Erases from the beginning up to and with a column. */
  eraseTo(column: number): void {
    const cells = this.toCells()
    const last = Math.min(column, cells.length - 1, lastColumn)
    for (let at = 0; at <= last; at++) this.blank(cells, at)
  }

  toString(): string {
    if (this.cells === undefined) return this.plain
    let end = this.cells.length
    while (end > 0 && this.cells[end - 1] === " ") end--
    return this.cells.slice(0, end).join("")
  }

  private toCells(): Array<string> {
    if (this.cells !== undefined) return this.cells
    const cells: Array<string> = []
    this.cells = cells
    let at = 0
    for (const character of this.plain) at = character === "\t" ? this.tab(cells, at) : this.put(cells, at, character)
    this.plain = ""
    return cells
  }

  private put(cells: Array<string>, at: number, character: string): number {
    const width = widthOf(character)
    if (width === 0) {
      let before = Math.min(at, cells.length) - 1
      while (cells[before] === "") before--
      if (before >= 0) cells[before] += character
      return at
    }
    while (cells.length < at) cells.push(" ")
    this.blank(cells, at)
    cells[at] = character
    if (width === 1) return at + 1
    this.blank(cells, at + 1)
    cells[at + 1] = ""
    return at + 2
  }

  /** Moves to the next tab stop; the tab itself is kept where nothing is there yet. */
  private tab(cells: Array<string>, at: number): number {
    const next = at - (at % 8) + 8
    if (cells.length > at) return next
    while (cells.length < at) cells.push(" ")
    cells.push("\t")
    while (cells.length < next) cells.push("")
    return next
  }

  /** Makes a column blank, and with it the others that its character takes. */
  private blank(cells: Array<string>, at: number): void {
    if (at >= cells.length) return
    let first = at
    while (first > 0 && cells[first] === "") first--
    for (let next = first; next === first || cells[next] === ""; next++) cells[next] = " "
  }
}

/** The most lines that the cursor goes up, or down to a line that is not there yet: a terminal shows no more. */
const height = 60

/** A screen and its cursor. */
class TerminalScreen {
  private current = new TerminalRow()
  private rows = [this.current]
  private row = 0
  /** The cursor's column; undefined at the end of its line. */
  private column: number | undefined
  /** The first line of the screen that a program has cleared; what stands above it stays. */
  private top: number | undefined

  write(text: string): void {
    this.column = this.current.write(text, this.column)
  }

  newline(): void {
    this.goTo(this.row + 1)
    this.column = 0
  }

  /** Moves the cursor to a column, counted from 0. */
  toColumn(column: number): void {
    this.column = Math.max(0, Math.min(column, lastColumn))
  }

  /** Moves the cursor by columns, to the right for a positive number. */
  moveBy(columns: number): void {
    const at = this.column ?? this.current.end
    this.column = columns < 0 ? Math.max(0, at + columns) : Math.max(at, Math.min(at + columns, lastColumn))
  }

  /** Moves the cursor by lines, up for a negative number; not past the edges of the screen. */
  moveByRows(rows: number): void {
    this.column ??= this.current.end
    const first = Math.max(this.top ?? 0, this.rows.length - height)
    const last = Math.max(first + height, this.rows.length) - 1
    this.goTo(Math.max(Math.min(first, this.row), Math.min(this.row + rows, last)))
  }

  /** Moves the cursor to a place on the screen, counted from 0. */
  toPlace(row: number, column: number): void {
    this.goTo(this.begin() + Math.max(0, Math.min(row, height - 1)))
    this.toColumn(column)
  }

  /** Erases the line: from the cursor (0), up to the cursor (1), or all of it (2). */
  eraseLine(which: number): void {
    if (which === 1) this.current.eraseTo(this.column ?? this.current.end)
    else if (which === 2) {
      this.column = Math.min(this.column ?? this.current.end, lastColumn)
      this.current.eraseFrom(0)
    } else if (which === 0 && this.column !== undefined) this.current.eraseFrom(this.column)
  }

  /** Erases the screen: from the cursor (0), or all of it (2 or 3). */
  eraseScreen(which: number): void {
    if (which === 0) {
      this.eraseLine(0)
      this.rows.length = this.row + 1
    } else if (which === 2 || which === 3) {
      const top = this.begin()
      const row = Math.max(top, Math.min(this.row, top + height - 1))
      const column = this.row < top ? 0 : (this.column ?? this.current.end)
      this.rows.length = top
      this.goTo(row)
      this.toColumn(column)
    }
  }

  toString(): string {
    return this.rows.join("\n")
  }

  /** Returns the first line of the screen; the first time, that is the one below all that there is. */
  private begin(): number {
    if (this.top === undefined) {
      const last = this.rows.length - 1
      this.top = this.rows[last]?.toString() === "" ? last : last + 1
    }
    return this.top
  }

  private goTo(row: number): void {
    while (this.rows.length <= row) this.rows.push(new TerminalRow())
    this.row = row
    this.current = this.rows[row] as TerminalRow
  }
}

const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

const isControl = (code: number): boolean =>
  code < 0x20 ? code !== tab : code === del || (code >= 0x80 && code <= 0x9f)

const [bell, backspace, tab, newline, formFeed, carriageReturn] = [0x07, 0x08, 0x09, 0x0a, 0x0c, 0x0d]
const [shiftOut, shiftIn, cancel, substitute, escape, del] = [0x0e, 0x0f, 0x18, 0x1a, 0x1b, 0x7f]
const [csi, stringEnd, osc] = [0x9b, 0x9c, 0x9d]
/** The 8-bit forms of DCS, SOS, OSC, PM and APC, each of which begins a string for the terminal. */
const strings = [0x90, 0x98, osc, 0x9e, 0x9f]

/**
 * Returns the text that a terminal would show. Only newlines and tabs remain of the control characters; those that move
 * nothing are shown as their pictures (`␀`). A text without any is returned as it is.
 */
export const show = (text: string): string => (control.test(text) ? new Reader(text).read() : text)

class Reader {
  private readonly screen = new TerminalScreen()
  private at = 0
  /** No string that begins before this index ends before it. */
  private searched = 0

  constructor(private readonly text: string) {}

  read(): string {
    const { screen, text } = this
    while (this.at < text.length) {
      const start = this.at
      while (this.at < text.length && !isControl(text.charCodeAt(this.at))) this.at++
      if (this.at > start) screen.write(text.slice(start, this.at))
      if (this.at < text.length) this.control(text.charCodeAt(this.at++))
    }
    return screen.toString()
  }

  /** Carries out a control character, which has been read. */
  private control(code: number): void {
    const { screen } = this
    if (code === escape) return this.escape()
    if (code >= 0x80) return this.control8(code)
    if (code === carriageReturn) return screen.toColumn(0)
    if (code === backspace) return screen.moveBy(-1)
    if (code >= newline && code <= formFeed) return screen.newline()
    if (code === bell || code === shiftIn || code === shiftOut) return
    screen.write(code === del ? "␡" : String.fromCharCode(0x2400 + code))
  }

  private control8(code: number): void {
    if (code === csi) return this.sequence()
    if (strings.includes(code)) return this.string(code !== osc)
    if (code === 0x84 || code === 0x85) this.screen.newline()
    else if (code === 0x8d) this.screen.moveByRows(-1)
  }

  /** Reads what follows an escape character. */
  private escape(): void {
    let code = this.text.charCodeAt(this.at)
    if (code >= 0x40 && code <= 0x5f) {
      this.at++
      return this.control8(code + 0x40)
    }
    while (code >= 0x20 && code <= 0x2f) code = this.text.charCodeAt(++this.at)
    if (code >= 0x30 && code <= 0x7e) this.at++
  }

  /** Reads the parameters and the final character of a control sequence, and carries it out. */
  private sequence(): void {
    const start = this.at
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code >= 0x40 && code <= 0x7e) {
        // No sequence that moves the cursor is longer.
        const parameters = this.text.slice(start, Math.min(this.at, start + 24))
        this.at++
        return this.carryOut(String.fromCharCode(code), parameters)
      }
      if (code < 0x20 || code > 0x7e) return
    }
  }

  private carryOut(name: string, parameters: string): void {
    const { screen } = this
    const [first = 0, second = 0] = parameters.split(";").map(Number)
    // A private sequence (`?25l`) has parameters that are no numbers.
    if (!Number.isInteger(first) || !Number.isInteger(second)) return
    const count = Math.max(1, first)
    switch (name) {
      case "A":
        return screen.moveByRows(-count)
      case "B":
        return screen.moveByRows(count)
      case "C":
        return screen.moveBy(count)
      case "D":
        return screen.moveBy(-count)
      case "E":
        screen.moveByRows(count)
        return screen.toColumn(0)
      case "F":
        screen.moveByRows(-count)
        return screen.toColumn(0)
      case "G":
      case "`":
        return screen.toColumn(count - 1)
      case "H":
      case "f":
        return screen.toPlace(count - 1, Math.max(1, second) - 1)
      case "J":
        return screen.eraseScreen(first)
      case "K":
        return screen.eraseLine(first)
    }
  }

  /**
   * Skips a string for the terminal: a title, a link, a picture. One without an end is taken to end with its line, so
   * that it does not swallow what follows.
   */
  private string(mayHaveLines: boolean): void {
    const { text } = this
    for (let at = mayHaveLines ? Math.max(this.at, this.searched) : this.at; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isEnd(code)) {
        this.at = at + 1
        return
      }
      if (code === escape && text[at + 1] === "\\") {
        this.at = at + 2
        return
      }
      if (code === escape || (code === newline && !mayHaveLines)) break
      if (mayHaveLines) this.searched = at + 1
    }
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at)
      if (code === newline || code === escape) return
      this.at++
    }
  }
}

/** Tests for the characters that end a string, or break it off. */
const isEnd = (code: number): boolean => code === bell || code === stringEnd || code === cancel || code === substitute
