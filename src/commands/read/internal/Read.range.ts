/** The lines of a file that a call asks for: by options, or by a range behind its name (`src/main.ts:72-90`). */
import * as FileFailure from "../../../files/FileFailure.js"

/** A part of a file. */
export interface Range {
  readonly path: string
  /** The number of lines before it. */
  readonly offset: number
  /** The most lines of it; undefined for the default. */
  readonly limit: number | undefined
  /** True where it was written behind the file's name. */
  readonly isWritten: boolean
}

const written = /^([\s\S]+?):(\d{1,15})(?:(-)(\d{1,15})?|:\d{1,15})?$/

/**
 * Returns the range that is written behind a file's name: `f:72-90`, `f:72-`, `f:72`, `f:72:5`; undefined where there is none.
 */
export const parse = (operand: string): Range | undefined => {
  const [, path, first, dash, last] = written.exec(operand) ?? []
  if (path === undefined || first === undefined) return undefined
  const offset = Number(first) - 1
  const limit = dash === undefined ? 1 : last === undefined ? undefined : Number(last) - offset
  return offset < 0 || (limit !== undefined && limit < 1) ? undefined : { path, offset, limit, isWritten: true }
}

/** Returns the operand that was probably meant by a file with numbers behind it: `f:72-90` for `f 72 90`, and for `f 72-90`. */
export const meant = (file: string, more: ReadonlyArray<string>): string | undefined => {
  const lines = more.join("-")
  const isRange = /^\d{1,15}(?:-\d{1,15})?$/.test(lines) && parse(`${file}:${lines}`) !== undefined
  return isRange ? `${file}:${lines}` : undefined
}

/**
 * Returns the words that show the rest of a range, of which the lines up to `line` were shown.
 *
 * @param isFull true where the lines were too many for the result, and not for the range
 */
export const rest = ({ isWritten, limit, offset, path }: Range, line: number, isFull: boolean): string => {
  if (isWritten) return FileFailure.toWord(`${path}:${line + 1}-${limit === undefined ? "" : offset + limit}`)
  const left = limit === undefined || !isFull ? limit : limit - (line - offset)
  return `${FileFailure.toWord(path)} --offset ${line}${left === undefined ? "" : ` --limit ${left}`}`
}
