/**
 * Turns what a program writes for a terminal into the text that the terminal would show at the end: without colours,
 * and with the last state of a progress bar only.
 */

/** The column at which a cursor movement ends at the latest, as at the right edge of a terminal. */
const lastColumn = 200

/** The most lines that the cursor goes up, or down to a line that is not there yet: a terminal shows no more. */
const height = 60

const zeroWidth = /^[\p{Mark}\u200b-\u200d\ufeff]$/u
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u

const widthOf = (character: string): number =>
  character < "\u0300" ? 1 : zeroWidth.test(character) ? 0 : doubleWidth.test(character) ? 2 : 1

const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

/** Matches the sequences of ECMA-48, in their 7-bit and 8-bit forms. */
const sequence = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)([ -?]*)([@-~])?`,
    // A title or a link ends with its line at the latest; a picture, which may have lines, only where it has no end.
    String.raw`(?:\x1b\]|\x9d)[^\x07\x18\x1a\x1b\x9c\n]*(?:[\x07\x18\x1a\x9c]|\x1b\\)?`,
    String.raw`(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x07\x18\x1a\x1b\x9c\x90\x98\x9e\x9f]*(?:[\x07\x18\x1a\x9c]|\x1b\\)|[^\x1b\n]*)`,
    String.raw`\x1b[ -/]*[0-~]?|[\x80-\x9f]`
  ].join("|"),
  "g"
)

/** Writes a sequence that moves the cursor or erases as `ESC [ n X`, or as a newline; removes all others. */
const normalize = (all: string, parameters: string | undefined, final: string | undefined): string => {
  if (parameters === undefined) {
    if (all === "\x1bD" || all === "\x1bE" || all === "\x84" || all === "\x85") return "\n"
    return all === "\x1bM" || all === "\x8d" ? "\x1b[1A" : ""
  }
  if (final === undefined || !"ABCDEFGJK`".includes(final)) return ""
  const [first = 0] = parameters.split(";").map(Number)
  // A private sequence (`?25l`) has parameters that are no numbers.
  return Number.isInteger(first) ? `\x1b[${Math.min(first, 999)}${final}` : ""
}

/** Matches a normalized sequence, a control character, or the text up to the next of them. */
const token = /\x1b\[(\d+)(.)|[\0-\x08\x0a-\x1f\x7f]|[^\0-\x08\x0a-\x1f\x7f]+/g

/**
 * Returns the text that a terminal would show. Only newlines and tabs remain of the control characters; those that move
 * nothing are shown as their pictures (`␀`). A text without any is returned as it is.
 */
export const show = (text: string): string => {
  if (!control.test(text)) return text
  const plain = text.replace(sequence, normalize).replace(/\r(?=\n)|[\x07\x0e\x0f]/g, "")
  if (!control.test(plain)) return plain
  const screen = new Screen()
  for (const [written, first, name] of plain.matchAll(token)) {
    if (name === undefined) screen.write(written)
    else screen.carryOut(name, Number(first))
  }
  return screen.toString()
}

/** A line by its columns: a wide character or a tab stands in its first one, and its others are empty. */
interface Row {
  readonly cells: Array<string>
  /** True where something was overwritten or erased, so that blanks at its end are none of the text's. */
  isChanged: boolean
}

/** A screen and its cursor. */
class Screen {
  private readonly rows: Array<Row> = [{ cells: [], isChanged: false }]
  private row = 0
  private column = 0

  /** Writes text, or carries out a control character. */
  write(text: string): void {
    if (text === "\r") this.column = 0
    else if (text === "\b") this.moveBy(-1)
    else if (text === "\n" || text === "\v" || text === "\f") this.toPlace(this.row + 1, 0)
    else if (text === "\x7f") this.put("␡")
    else if (text < " " && text[0] !== "\t") this.put(String.fromCharCode(0x2400 + text.charCodeAt(0)))
    else for (const character of text) this.put(character)
  }

  carryOut(name: string, first: number): void {
    const count = Math.max(1, first)
    switch (name) {
      case "A":
        return this.moveByRows(-count)
      case "B":
        return this.moveByRows(count)
      case "C":
        return this.moveBy(count)
      case "D":
        return this.moveBy(-count)
      case "E":
      case "F":
        this.moveByRows(name === "E" ? count : -count)
        return this.toPlace(this.row, 0)
      case "G":
      case "`":
        return this.toPlace(this.row, count - 1)
      case "J":
        return this.eraseBelow(first)
      case "K":
        return this.eraseLine(first)
    }
  }

  toString(): string {
    return this.rows
      .map(({ cells, isChanged }) =>
        isChanged ? cells.slice(0, cells.findLastIndex((cell) => cell !== " ") + 1).join("") : cells.join("")
      )
      .join("\n")
  }
  private get line(): Row {
    return this.rows[this.row] as Row
  }

  private put(character: string): void {
    const { cells } = this.line
    const at = this.column
    const isTab = character === "\t"
    const width = isTab ? 8 - (at % 8) : widthOf(character)
    this.column += width
    if (width === 0) {
      let before = Math.min(at, cells.length) - 1
      while (cells[before] === "") before--
      if (before >= 0) cells[before] += character
      return
    }
    // A tab only moves, where something is there already.
    if (isTab && cells.length > at) return
    while (cells.length < at) cells.push(" ")
    for (let next = at; next < at + width; next++) {
      this.blank(next)
      cells[next] = next === at ? character : ""
    }
  }

  /** Makes a column blank, and with it the others that its character takes. */
  private blank(at: number): void {
    const { cells } = this.line
    if (at >= cells.length) return
    this.line.isChanged = true
    let first = at
    while (first > 0 && cells[first] === "") first--
    for (let next = first; next === first || cells[next] === ""; next++) cells[next] = " "
  }

  private moveBy(columns: number): void {
    const to = this.column + columns
    this.column = columns < 0 ? Math.max(0, to) : Math.max(this.column, Math.min(to, lastColumn))
  }

  /** Moves the cursor by lines, not past the edges of the screen. */
  private moveByRows(rows: number): void {
    const first = Math.max(0, this.rows.length - height)
    const last = Math.max(first + height, this.rows.length) - 1
    this.goTo(Math.max(Math.min(first, this.row), Math.min(this.row + rows, last)))
  }

  private toPlace(row: number, column: number): void {
    this.goTo(row)
    this.column = Math.min(column, lastColumn)
  }

  /** Erases the line: from the cursor (0), up to the cursor (1), or all of it (2). */
  private eraseLine(which: number): void {
    const { cells } = this.line
    if (which === 1) for (let at = 0; at <= Math.min(this.column, lastColumn); at++) this.blank(at)
    if (which === 2) this.column = Math.min(this.column, lastColumn)
    const from = which === 0 ? this.column : which === 2 ? 0 : cells.length
    if (from >= cells.length) return
    this.blank(from)
    cells.length = from
  }

  /** Erases the screen from the cursor on. */
  private eraseBelow(which: number): void {
    if (which !== 0) return
    this.eraseLine(0)
    this.rows.length = this.row + 1
  }

  private goTo(row: number): void {
    while (this.rows.length <= row) this.rows.push({ cells: [], isChanged: false })
    this.row = row
  }
}
