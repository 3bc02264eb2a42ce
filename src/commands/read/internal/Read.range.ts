/** The range of lines that a call asks for, by options or behind the file's name (`src/main.ts:72-90`). */
import * as FileFailure from "../../../files/FileFailure.js"

export interface Range {
  readonly path: string
  /** The number of lines before the range. */
  readonly offset: number
  /** The most lines, or undefined for the default. */
  readonly limit: number | undefined
  /** True if the range was written behind the file's name. */
  readonly isWritten: boolean
}

const written = /^([\s\S]+?):(\d{1,15})(?:(-)(\d{1,15})?|:\d{1,15})?$/

/** Returns the range behind a file's name: `f:72-90`, `f:72-`, `f:72`, `f:72:5`. */
export const parse = (operand: string): Range | undefined => {
  const [, path, first, dash, last] = written.exec(operand) ?? []
  if (path === undefined || first === undefined) return undefined
  const offset = Number(first) - 1
  const limit = dash === undefined ? 1 : last === undefined ? undefined : Number(last) - offset
  return offset < 0 || (limit !== undefined && limit < 1) ? undefined : { path, offset, limit, isWritten: true }
}

/** Returns the operand that was probably meant by a file and numbers: `f:72-90` for `f 72 90` and for `f 72-90`. */
export const meant = (file: string, more: ReadonlyArray<string>): string | undefined => {
  const lines = more.join("-")
  const isRange = /^\d{1,15}(?:-\d{1,15})?$/.test(lines) && parse(`${file}:${lines}`) !== undefined
  return isRange ? `${file}:${lines}` : undefined
}

/**
 * Returns the words of a call that shows the rest of a range after `line`.
 *
 * @param isFull true if the result's limit ended the lines, rather than the range's
 */
export const rest = ({ isWritten, limit, offset, path }: Range, line: number, isFull: boolean): string => {
  if (isWritten) return FileFailure.toWord(`${path}:${line + 1}-${limit === undefined ? "" : offset + limit}`)
  const left = limit === undefined || !isFull ? limit : limit - (line - offset)
  return `${FileFailure.toWord(path)} --offset ${line}${left === undefined ? "" : ` --limit ${left}`}`
}
