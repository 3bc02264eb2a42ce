/**
 * Makes visible what a reader of a line would not see: control characters, which a terminal obeys, and invisible ones,
 * which can hide words or change their order.
 *
 * @since 0.1.0
 */

import * as Invisible from "../../domain/Invisible.js"

/**
 * Replaces the invisible characters of a line by their numbers, as `<U+200B>`; returns the line itself where it has
 * none. A joiner in an emoji is none, nor one between letters that it joins.
 *
 * @since 0.1.0
 */
export const markInvisible = (line: string): string => Invisible.replace(line, numbered)

const numbered = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`

/**
 * Replaces the control characters of a line by their pictures: a CR could hide what stands before it.
 *
 * @since 0.1.0
 */
export const picture = (line: string): string =>
  line.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
  })
