/** Reads keys from the bytes that a terminal sends. */
import { altBit, Key, modified, typed } from "./Key.js"

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

/** The event that kitty tells of when a key is let go. */
const released = 3

const press = (name: string | undefined, modifiers: number): Key | undefined =>
  name === undefined ? undefined : Key.Press({ name: modified(name, modifiers) })

/**
 * Returns the key of a sequence that began with `ESC [`; undefined where it tells of none that is known.
 *
 * @param body the characters between `[` and the final one
 */
const fromCsi = (body: string, final: string): Key | undefined => {
  if (!/^[\d;:]*$/.test(body)) return undefined
  const fields = body.split(";").map((field) => field.split(":").map(Number))
  const [code = 0, shifted] = fields[0] ?? []
  const [modifier = 1, event] = fields[1] ?? []
  if (event === released) return undefined
  // Caps lock and num lock are modifiers too, and change nothing.
  const modifiers = Math.max(modifier - 1, 0) & 7
  if (final === "Z") return press("tab", 1)
  if (final === "u") return typed((modifiers & 1) === 0 ? code : shifted || upper(code), modifiers)
  if (final === "~") {
    if (code === 27 && fields.length === 3) return typed(fields[2]?.[0] ?? 0, modifiers)
    return press(numbers[code], modifiers)
  }
  // rxvt's way to tell of Ctrl.
  if (final === "^") return press(numbers[code], 4)
  return final === "M" ? undefined : press(letters[final], modifiers)
}

const upper = (code: number): number => (code >= 97 && code <= 122 ? code - 32 : code)

/** Returns the key of a sequence that began with `ESC O`; undefined where it tells of none that is known. */
const fromSs3 = (modifiers: string, final: string): Key | undefined => {
  // rxvt's way to tell of Ctrl.
  const isSmall = "abcd".includes(final)
  return press(
    letters[isSmall ? final.toUpperCase() : final],
    isSmall ? 4 : Math.max(Number(modifiers || 1) - 1, 0) & 7
  )
}

const escape = 0x1b
/** The most bytes of a sequence that tells of a key; a longer one tells of nothing. */
const longestSequence = 64
const endOfPaste = [escape, 0x5b, 0x32, 0x30, 0x31, 0x7e]

/** Milliseconds after which a sequence that does not go on is none. */
const sequencePatience = 50
/** Milliseconds without a byte after which a pasted text is over, though its end was not seen. */
const pastePatience = 1000

/** The reading of keys, a byte at a time. Whatever the bytes are, it goes on. */
export class KeyParser {
  /** The place in what is read: between two keys, behind an escape, in one of the kinds of sequences. */
  private state: "ground" | "escape" | "csi" | "console" | "ss3" | "string" | "string end" | "paste" | "character" =
    "ground"
  private bytes: Array<number> = []
  private wanted = 0
  private modifiers = 0

  constructor(private readonly emit: (key: Key) => void) {}

  /** The milliseconds to wait for the next byte before `flush`; undefined where the next one may come any time. */
  get patience(): number | undefined {
    if (this.state === "ground" || this.state === "character") return undefined
    return this.state === "paste" ? pastePatience : sequencePatience
  }

  /** Takes the next byte. */
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

  /** Takes what was begun as it is: no byte has followed in time. */
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
    // Bytes that are no character count as one, whatever their number.
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

  /** Reads over what a terminal answers to a question that somebody asked it. */
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

  /** Drops a sequence that this byte can't be a part of. */
  private broken(byte: number): void {
    this.begin("ground")
    this.ground(byte)
  }
}
