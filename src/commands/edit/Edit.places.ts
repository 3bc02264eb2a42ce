/**
 * Finds the places of lines in a file.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"

/**
 * The number of lines between two places where the work may rest.
 *
 * @since 0.1.0
 */
export const stride = 20_000

/**
 * Returns a line as it is, to compare it with others.
 *
 * @since 0.1.0
 */
export const exact = (line: string): string => line

/**
 * Returns a line without its line end.
 *
 * @since 0.1.0
 */
export const loose = (line: string): string => line.replace(/\r?\n$/, "")

/**
 * Finds all places of the lines, which may overlap, in time proportional to the file (Knuth, Morris and Pratt).
 *
 * @since 0.1.0
 */
export function* matches(
  file: ReadonlyArray<string>,
  wanted: ReadonlyArray<string>,
  key: (line: string) => string
): Steps<ReadonlyArray<number>> {
  const table = [0]
  for (let at = 1, length = 0; at < wanted.length; at++) {
    while (length > 0 && wanted[length] !== wanted[at]) length = table[length - 1] as number
    if (wanted[length] === wanted[at]) length++
    table.push(length)
    if (at % stride === 0) yield
  }
  const found: Array<number> = []
  for (let at = 0, length = 0; at < file.length; at++) {
    const line = key(file[at] as string)
    while (length > 0 && wanted[length] !== line) length = table[length - 1] as number
    if (wanted[length] === line) length++
    if (length === wanted.length) {
      found.push(at + 1 - length)
      length = table[length - 1] as number
    }
    if (at % stride === stride - 1) yield
  }
  return found
}
