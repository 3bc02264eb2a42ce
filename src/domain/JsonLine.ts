/** Writes values as lines of JSON that are harmless wherever they are shown. */
import * as Invisible from "./Invisible.js"

/** Writes each unit of a character as JSON may have it in a string. */
const escaped = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Returns a value as JSON on one line, without a newline at its end. Control characters and characters that nobody sees
 * are escaped in it; whoever parses it gets them back as they were.
 */
export const of = (value: unknown): string =>
  // Outside of strings, JSON has none of these characters.
  Invisible.replace(JSON.stringify(value), escaped).replace(/[\x7f-\x9f]/g, escaped)
