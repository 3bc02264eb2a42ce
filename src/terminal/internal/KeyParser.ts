/** Reads keys from the bytes of a terminal. */
import * as Data from "effect/Data"

/** A character, a pasted text, or a named key: `enter`, `up`, `ctrl-a`, `alt-b`, `ctrl-alt-left`. */
export type Key = Data.TaggedEnum<{
  Text: { readonly text: string }
  /** A bracketed paste, with `\n` for line breaks and no other control characters but tabs. */
  Paste: { readonly text: string }
  Press: { readonly name: string }
}>

export const Key = Data.taggedEnum<Key>()

const named: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  10: "enter",
  13: "enter",
  27: "escape",
  127: "backspace"
}

/** Makes the key of a character typed with modifiers, or undefined. */
const typed = (code: number, modifiers = 0): Key | undefined => {
  const name = named[code]
  if (name !== undefined) return Key.Press({ name: modified(name, modifiers) })
  if (code < 32) return Key.Press({ name: modified(String.fromCharCode(code + 64).toLowerCase(), modifiers | control) })
  // Surrogates, controls, and kitty's keys without a character.
  if (code < 160 && code > 126) return undefined
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xf8ff)) return undefined
  const text = String.fromCodePoint(code)
  if ((modifiers & (alt | control)) === 0) return Key.Text({ text })
  return Key.Press({ name: modified((modifiers & control) === 0 ? text : text.toLowerCase(), modifiers & ~shift) })
}

/** Modifier bits of xterm and kitty. */
const shift = 1
const alt = 2
const control = 4

const modified = (name: string, modifiers: number): string =>
  `${(modifiers & control) === 0 ? "" : "ctrl-"}${(modifiers & alt) === 0 ? "" : "alt-"}${(modifiers & shift) === 0 ? "" : "shift-"}${name}`

/** Alt is an escape before the key. */
const altBit = alt

const letters: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  M: "enter"
}
const numbers: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "page-up",
  6: "page-down",
  7: "home",
  8: "end"
}

/** kitty's event for a released key. */
const released = 3

const press = (name: string | undefined, modifiers: number): Key | undefined =>
  name === undefined ? undefined : Key.Press({ name: modified(name, modifiers) })

/**
 * Returns the key of a sequence that began with `ESC [`, or undefined.
 *
 * @param body the characters between `[` and the final one
 */
const fromCsi = (body: string, final: string): Key | undefined => {
  if (!/^[\d;:]*$/.test(body)) return undefined
  const fields = body.split(";").map((field) => field.split(":").map(Number))
  const [code = 0, shifted] = fields[0] ?? []
  const [modifier = 1, event] = fields[1] ?? []
  if (event === released) return undefined
  // Caps lock and num lock are ignored.
  const modifiers = Math.max(modifier - 1, 0) & 7
  if (final === "Z") return press("tab", 1)
  if (final === "u") return typed((modifiers & 1) === 0 ? code : shifted || upper(code), modifiers)
  if (final === "~") {
    if (code === 27 && fields.length === 3) return typed(fields[2]?.[0] ?? 0, modifiers)
    return press(numbers[code], modifiers)
  }
  // rxvt's Ctrl.
  if (final === "^") return press(numbers[code], 4)
  return final === "M" ? undefined : press(letters[final], modifiers)
}

const upper = (code: number): number => (code >= 97 && code <= 122 ? code - 32 : code)

/** Returns the key of a sequence that began with `ESC O`, or undefined. */
const fromSs3 = (modifiers: string, final: string): Key | undefined => {
  // rxvt's Ctrl.
  const isSmall = "abcd".includes(final)
  return press(
    letters[isSmall ? final.toUpperCase() : final],
    isSmall ? 4 : Math.max(Number(modifiers || 1) - 1, 0) & 7
  )
}

const escape = 0x1b
/** Longer sequences are dropped. */
const longestSequence = 64
const endOfPaste = [escape, 0x5b, 0x32, 0x30, 0x31, 0x7e]

/** How long to wait for the rest of an escape sequence, in ms. */
const sequencePatience = 50
/** How long to wait for the end of a paste, in ms. */
const pastePatience = 1000

/** Reads keys byte by byte, and survives any bytes. */
export class KeyParser {
  private state: "ground" | "escape" | "csi" | "console" | "ss3" | "string" | "string end" | "paste" | "character" =
    "ground"
  private bytes: Array<number> = []
  private wanted = 0
  private modifiers = 0

  constructor(private readonly emit: (key: Key) => void) {}

  /** How long to wait for the next byte before `flush`, in ms; undefined for ever. */
  get patience(): number | undefined {
    if (this.state === "ground" || this.state === "character") return undefined
    return this.state === "paste" ? pastePatience : sequencePatience
  }

  push(byte: number): void {
    switch (this.state) {
      case "ground":
        return this.ground(byte)
      case "character":
        return this.character(byte)
      case "escape":
        return this.escape(byte)
      case "csi":
        return this.csi(byte)
      case "console":
        return this.begin("ground")
      case "ss3":
        return this.ss3(byte)
      case "paste":
        return this.paste(byte)
      case "string":
      case "string end":
        return this.string(byte)
    }
  }

  /** Ends an unfinished sequence. */
  flush(): void {
    const { bytes, state } = this
    this.begin("ground")
    if (state === "escape") this.emit(Key.Press({ name: "escape" }))
    else if (state === "paste") this.pasted(bytes)
    else if (state === "csi" && bytes.length === 0) this.emit(Key.Press({ name: "alt-[" }))
    else if (state === "ss3" && bytes.length === 0) this.emit(Key.Press({ name: "alt-O" }))
  }

  private begin(state: KeyParser["state"]): void {
    this.state = state
    this.bytes = []
  }

  private type(code: number): void {
    const key = typed(code, this.modifiers)
    this.modifiers = 0
    if (key !== undefined) this.emit(key)
  }

  private ground(byte: number): void {
    if (byte === escape) return this.begin("escape")
    if (byte < 0x80) return this.type(byte)
    this.begin("character")
    this.bytes.push(byte)
    this.wanted =
      byte >= 0xc2 && byte < 0xe0 ? 2 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xf0 && byte < 0xf5 ? 4 : 1
    if (this.wanted === 1) this.endCharacter()
  }

  private character(byte: number): void {
    const isPart = byte >= 0x80 && byte < 0xc0
    if (isPart) this.bytes.push(byte)
    if (!isPart || this.bytes.length === this.wanted) this.endCharacter()
    if (!isPart) this.push(byte)
  }

  private endCharacter(): void {
    const text = Buffer.from(this.bytes).toString()
    this.begin("ground")
    // Invalid bytes count as one character.
    this.type(text.includes("\ufffd") ? 0xfffd : (text.codePointAt(0) ?? 0))
  }

  private escape(byte: number): void {
    if (byte === escape) return this.emit(Key.Press({ name: "escape" }))
    const character = String.fromCharCode(byte)
    if (character === "[") return this.begin("csi")
    if (character === "O") return this.begin("ss3")
    if ("PX]^_".includes(character)) return this.begin("string")
    this.begin("ground")
    this.modifiers = altBit
    this.ground(byte)
  }

  private csi(byte: number): void {
    if (byte < 0x20 || byte > 0x7e) return this.broken(byte)
    const character = String.fromCharCode(byte)
    if (byte < 0x40) {
      if (this.bytes.length < longestSequence) this.bytes.push(byte)
      return
    }
    if (character === "[" && this.bytes.length === 0) return this.begin("console")
    const isWhole = this.bytes.length < longestSequence
    const body = String.fromCharCode(...this.bytes)
    if (body === "200" && character === "~") return this.begin("paste")
    this.begin("ground")
    const key = isWhole ? fromCsi(body, character) : undefined
    if (key !== undefined) this.emit(key)
  }

  private ss3(byte: number): void {
    if (byte < 0x20 || byte > 0x7e) return this.broken(byte)
    if (byte >= 0x30 && byte < 0x3a && this.bytes.length < 2) {
      this.bytes.push(byte)
      return
    }
    const key = fromSs3(String.fromCharCode(...this.bytes), String.fromCharCode(byte))
    this.begin("ground")
    if (key !== undefined) this.emit(key)
  }

  /** Skips a terminal's answer to a query. */
  private string(byte: number): void {
    const isEnd = byte === 7 || byte === 0x18 || byte === 0x1a || (this.state === "string end" && byte === 0x5c)
    if (isEnd) this.begin("ground")
    else this.state = byte === escape ? "string end" : "string"
  }

  private paste(byte: number): void {
    const { bytes } = this
    bytes.push(byte)
    const start = bytes.length - endOfPaste.length
    if (byte !== endOfPaste.at(-1) || !endOfPaste.every((each, at) => bytes[start + at] === each)) return
    bytes.length = start
    this.begin("ground")
    this.pasted(bytes)
  }

  private pasted(bytes: ReadonlyArray<number>): void {
    const text = Buffer.from(bytes)
      .toString()
      .replace(/\r\n?/g, "\n")
      .replace(/[^\P{Cc}\n\t]/gu, "")
    if (text !== "") this.emit(Key.Paste({ text }))
  }

  private broken(byte: number): void {
    this.begin("ground")
    this.ground(byte)
  }
}
