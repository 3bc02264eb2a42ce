/**
 * Turns what a program writes for a terminal into the text that the terminal would show at the end: without colours,
 * and with the last state of a progress bar only.
 *
 * @since 0.1.0
 */
import { TerminalScreen } from "./TerminalScreen.js"

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
 *
 * @since 0.1.0
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
