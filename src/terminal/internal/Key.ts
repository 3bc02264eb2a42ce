/** A key, as a terminal tells of it. */
import * as Data from "effect/Data"

/** A character to insert, a pasted text, or a key with a name: `enter`, `up`, `ctrl-a`, `alt-b`, `ctrl-alt-left`. */
export type Key = Data.TaggedEnum<{
  Text: { readonly text: string }
  /** A text between the marks of bracketed paste, with `\n` for each line break, and no other control but tabs. */
  Paste: { readonly text: string }
  Press: { readonly name: string }
}>

/** Constructors and matchers of keys. */
export const Key = Data.taggedEnum<Key>()

const named: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  10: "enter",
  13: "enter",
  27: "escape",
  127: "backspace"
}

/** Makes the key of a character that is typed with modifiers; undefined where it is none. */
export const typed = (code: number, modifiers = 0): Key | undefined => {
  const name = named[code]
  if (name !== undefined) return Key.Press({ name: modified(name, modifiers) })
  if (code < 32) return Key.Press({ name: modified(String.fromCharCode(code + 64).toLowerCase(), modifiers | control) })
  // Halves of characters, controls, and the keys without a character that kitty has here.
  if (code < 160 && code > 126) return undefined
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xf8ff)) return undefined
  const text = String.fromCodePoint(code)
  if ((modifiers & (alt | control)) === 0) return Key.Text({ text })
  return Key.Press({ name: modified((modifiers & control) === 0 ? text : text.toLowerCase(), modifiers & ~shift) })
}

/** The bits of the modifiers, as xterm and kitty count them. */
const shift = 1
const alt = 2
const control = 4

/** Puts modifiers before the name of a key. */
export const modified = (name: string, modifiers: number): string =>
  `${(modifiers & control) === 0 ? "" : "ctrl-"}${(modifiers & alt) === 0 ? "" : "alt-"}${(modifiers & shift) === 0 ? "" : "shift-"}${name}`

/** The modifier bit of Alt, which a terminal tells by an escape before the key. */
export const altBit = alt
