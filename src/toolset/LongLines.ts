/**
 * Cuts the long lines of a text.
 *
 * @since 0.1.0
 */
import * as KeptOutput from "../domain/KeptOutput.js"
import * as TextCut from "../domain/TextCut.js"

/**
 * A text without long lines.
 *
 * @since 0.1.0
 * @category models
 */
export interface Cut {
  readonly text: string
  /** The index in the first mark at which more can be said; undefined where no line was cut. */
  readonly place: number | undefined
}

/**
 * Cuts lines that are longer than `KeptOutput.longestLine`; a mark at the end of each tells what was left out, and
 * counts as part of the line.
 *
 * @param reserve the number of characters that will be added to the first mark
 * @since 0.1.0
 */
export const cut = (text: string, reserve: number): Cut => {
  if (text.length <= KeptOutput.longestLine) return { text, place: undefined }
  const parts: Array<string> = []
  let place: number | undefined
  let length = 0
  let copied = 0
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start)
    const end = newline < 0 ? text.length : newline
    if (end - start > KeptOutput.longestLine) {
      const line = text.slice(start, end)
      // As long as the mark can be.
      const most = KeptOutput.longestLine - mark(line.length).length - (place === undefined ? reserve : 0)
      const begin = TextCut.startOf(line, Math.max(0, most))
      const said = mark(line.length - begin.length)
      parts.push(text.slice(copied, start), begin, said)
      length += start - copied + begin.length + said.length
      place ??= length - markEnd.length
      copied = end
    }
    start = end + 1
  }
  return parts.length === 0 ? { text, place } : { text: `${parts.join("")}${text.slice(copied)}`, place }
}

const markEnd = " …]"

const mark = (left: number): string => `[… ${left} characters left out${markEnd}`
