/**
 * Converts terminal output to the text that a terminal would finally show: without colours, and with only the last
 * state of a progress bar.
 */

/** The rightmost column that a cursor movement can reach. */
const lastColumn = 200

/** The height of the screen in lines, which limits vertical cursor movements. */
const height = 60

const zeroWidth = /^[\p{Mark}\u200b-\u200d\ufeff]$/u
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u

const widthOf = (character: string): number =>
  character < "\u0300" ? 1 : zeroWidth.test(character) ? 0 : doubleWidth.test(character) ? 2 : 1

const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

/** Matches ECMA-48 sequences in their 7-bit and 8-bit forms. */
const sequence = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)([ -?]*)([@-~])?`,
    // An unterminated title or link ends at its line's end. A picture may span lines if it is terminated.
    String.raw`(?:\x1b\]|\x9d)[^\x07\x18\x1a\x1b\x9c\n]*(?:[\x07\x18\x1a\x9c]|\x1b\\)?`,
    String.raw`(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x07\x18\x1a\x1b\x9c\x90\x98\x9e\x9f]*(?:[\x07\x18\x1a\x9c]|\x1b\\)|[^\x1b\n]*)`,
    String.raw`\x1b[ -/]*[0-~]?|[\x80-\x9f]`
  ].join("|"),
  "g"
)

/** Rewrites a sequence that moves the cursor or erases as `ESC [ n X` or a newline, and removes any other. */
const normalize = (all: string, parameters: string | undefined, final: string | undefined): string => {
  if (parameters === undefined) {
    if (all === "\x1bD" || all === "\x1bE" || all === "\x84" || all === "\x85") return "\n"
    return all === "\x1bM" || all === "\x8d" ? "\x1b[1A" : ""
  }
  if (final === undefined || !"ABCDEFGJK`".includes(final)) return ""
  const [first = 0] = parameters.split(";").map(Number)
  // Private sequences such as `?25l` have parameters that are not numbers.
  return Number.isInteger(first) ? `\x1b[${Math.min(first, 999)}${final}` : ""
}

/** Matches a normalized sequence, a control character, or the text before the next of them. */
const token = /\x1b\[(\d+)(.)|[\0-\x08\x0a-\x1f\x7f]|[^\0-\x08\x0a-\x1f\x7f]+/g

/**
 * Returns the text that a terminal would show. Newlines and tabs remain. Control characters that move nothing become
 * their pictures (`␀`).
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

/** A line by columns. A wide character or a tab is in its first column, and its other columns are empty strings. */
interface Row {
  readonly cells: Array<string>
  /** True if something was overwritten or erased. Blanks at the end are then not part of the text. */
  isChanged: boolean
}

class Screen {
  private readonly rows: Array<Row> = [{ cells: [], isChanged: false }]
  private row = 0
  private column = 0

  /** Writes text or one control character. */
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
    // Over existing text, a tab only moves the cursor.
    if (isTab && cells.length > at) return
    while (cells.length < at) cells.push(" ")
    for (let next = at; next < at + width; next++) {
      this.blank(next)
      cells[next] = next === at ? character : ""
    }
  }

  /** Blanks a column and the other columns of its character. */
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

  /** Moves the cursor vertically, within the screen. */
  private moveByRows(rows: number): void {
    const first = Math.max(0, this.rows.length - height)
    const last = Math.max(first + height, this.rows.length) - 1
    this.goTo(Math.max(Math.min(first, this.row), Math.min(this.row + rows, last)))
  }

  private toPlace(row: number, column: number): void {
    this.goTo(row)
    this.column = Math.min(column, lastColumn)
  }

  /** Erases from the cursor (0), up to the cursor (1), or the whole line (2). */
  private eraseLine(which: number): void {
    const { cells } = this.line
    if (which === 1) for (let at = 0; at <= Math.min(this.column, lastColumn); at++) this.blank(at)
    if (which === 2) this.column = Math.min(this.column, lastColumn)
    const from = which === 0 ? this.column : which === 2 ? 0 : cells.length
    if (from >= cells.length) return
    this.blank(from)
    cells.length = from
  }

  /** Erases the screen after the cursor, the only mode (0) that is supported. */
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
