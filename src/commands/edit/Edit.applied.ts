/**
 * Tells of a hunk that does not fit whether it was applied before.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"
import type { Hunk } from "./Edit.change.js"
import * as Places from "./Edit.places.js"

/**
 * Says where the lines are that a hunk leaves, if it was applied before; undefined where they are not, or where they may
 * be there by chance: they are sure at the line that the hunk names, or by their context.
 *
 * @param drift the number of lines by which the hunk before was off
 * @since 0.1.0
 */
export function* find(file: ReadonlyArray<string>, { lines, start }: Hunk, drift: number): Steps<string | undefined> {
  const added = lines.filter(({ kind }) => kind === "+")
  if (!added.some(({ text }) => telling.test(text))) return undefined
  const left = lines.flatMap(({ kind, text }) => (kind === "-" ? [] : [Places.loose(text)]))
  const places = yield* Places.matches(file, left, Places.loose)
  const isStated = start !== undefined && places.includes(start + drift)
  const at = isStated ? start + drift : places.length === 1 ? places[0] : undefined
  if (at === undefined) return undefined
  const isSure =
    isStated ||
    (yield* isOnlyBy(
      file,
      lines.flatMap(({ kind, text }) => (kind === " " ? [Places.loose(text)] : []))
    ))
  return isSure ? `is applied already: its new text is at line ${at + 1}` : undefined
}

/** Matches lines that say something: a bracket is there by chance. */
const telling = /[\p{L}\p{N}]/u

/** Tests whether a line of a context is in the file once only. */
function* isOnlyBy(file: ReadonlyArray<string>, context: ReadonlyArray<string>): Steps<boolean> {
  const counts = new Map(context.filter((line) => telling.test(line)).map((line) => [line, 0]))
  for (const [at, line] of file.entries()) {
    if (at % Places.stride === Places.stride - 1) yield
    const key = Places.loose(line)
    const count = counts.get(key)
    if (count !== undefined) counts.set(key, count + 1)
  }
  return [...counts.values()].includes(1)
}
