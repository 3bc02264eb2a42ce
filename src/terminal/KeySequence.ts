/**
 * Reads the control sequences by which terminals tell of keys without a character.
 *
 * @since 0.1.0
 */
import { Key, modified, typed } from "./Key.js"

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
 * @since 0.1.0
 * @category conversions
 */
export const fromCsi = (body: string, final: string): Key | undefined => {
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

/**
 * Returns the key of a sequence that began with `ESC O`; undefined where it tells of none that is known.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromSs3 = (modifiers: string, final: string): Key | undefined => {
  // rxvt's way to tell of Ctrl.
  const isSmall = "abcd".includes(final)
  return press(
    letters[isSmall ? final.toUpperCase() : final],
    isSmall ? 4 : Math.max(Number(modifiers || 1) - 1, 0) & 7
  )
}
