/** A text that is edited, and the place in it. */

/** A text, and the place in it, counted in UTF-16 units. */
export interface EditedText {
  readonly text: string
  readonly place: number
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The characters around a place that are enough to find where a grapheme ends. */
const around = 200

/** Returns a text with the place at its end. */
export const atEnd = (text: string): EditedText => ({ text, place: text.length })

/** Inserts a text at the place. */
export const insert = ({ place, text }: EditedText, added: string): EditedText => ({
  text: text.slice(0, place) + added + text.slice(place),
  place: place + added.length
})

/** Removes what lies between the place and another one. */
export const removeTo = ({ place, text }: EditedText, other: number): EditedText => {
  const start = Math.min(place, other)
  return { text: text.slice(0, start) + text.slice(Math.max(place, other)), place: start }
}

/** Returns the place behind the next grapheme. */
export const right = ({ place, text }: EditedText): number => {
  const [next] = graphemes.segment(text.slice(place, place + around))
  return place + (next?.segment.length ?? 0)
}

/** Returns the place before the last grapheme. */
export const left = ({ place, text }: EditedText): number => {
  const before = text.slice(Math.max(place - around, 0), place)
  if (before === "") return 0
  return place - (graphemes.segment(before).containing(before.length - 1)?.segment.length ?? 1)
}

/** Matches what is no word, and the word after it. */
const word = /[^\p{L}\p{N}\p{M}]*[\p{L}\p{N}\p{M}]*/uy

/** Returns the place behind the next word of letters and digits. */
export const wordRight = ({ place, text }: EditedText): number => {
  word.lastIndex = place
  return place + (word.exec(text)?.[0].length ?? 0)
}

/** Returns the place before the last word of letters and digits. */
export const wordLeft = ({ place, text }: EditedText): number => {
  let at = place
  while (at > 0 && !isWordAt(text, at)) at--
  while (at > 0 && isWordAt(text, at)) at--
  return at
}

const isWordAt = (text: string, end: number): boolean => {
  const code = text.charCodeAt(end - 1)
  if ((code & 0xfc00) === 0xdc00) return /[\p{L}\p{N}\p{M}]$/u.test(text.slice(Math.max(end - 2, 0), end))
  if ((code & 0xfc00) === 0xd800) return isWordAt(text, end + 1)
  return /[\p{L}\p{N}\p{M}]/u.test(text.charAt(end - 1))
}

/** Returns the place before the last word between white space. */
export const blankLeft = ({ place, text }: EditedText): number => {
  let at = place
  while (at > 0 && /\s/.test(text.charAt(at - 1))) at--
  while (at > 0 && !/\s/.test(text.charAt(at - 1))) at--
  return at
}

/** Returns the beginning of the line. */
export const lineStart = ({ place, text }: EditedText): number =>
  place <= 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1

/** Returns the end of the line. */
export const lineEnd = ({ place, text }: EditedText): number => {
  const end = text.indexOf("\n", place)
  return end < 0 ? text.length : end
}

/**
 * Returns the place in the line above or below, as many characters from its beginning; undefined where there is none.
 */
export const vertical = (edited: EditedText, by: 1 | -1): number | undefined => {
  const { place, text } = edited
  const start = lineStart(edited)
  const other = by === 1 ? lineEnd(edited) + 1 : lineStart({ text, place: start - 1 })
  if (by === 1 ? other > text.length : start === 0) return undefined
  const target = Math.min(other + place - start, lineEnd({ text, place: other }))
  // Not within a grapheme.
  const inside = right({ text, place: left({ text, place: target }) })
  return inside > target && target > other ? left({ text, place: target }) : target
}

/** Exchanges the graphemes around the place; at the end of a line, the last two. */
export const transpose = (edited: EditedText): EditedText => {
  const { text } = edited
  const place = edited.place === lineEnd(edited) ? left(edited) : edited.place
  const start = left({ text, place })
  const end = right({ text, place })
  if (place <= lineStart(edited) || end === place) return edited
  return {
    text: text.slice(0, start) + text.slice(place, end) + text.slice(start, place) + text.slice(end),
    place: end
  }
}
