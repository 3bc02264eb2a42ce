/**
 * Counts the lines of a file.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Files } from "../../files/Files.js"
import * as Newlines from "../../files/Newlines.js"

/** The most bytes that are looked at: a tenth of a second's work. */
const most = 64 * 1024 ** 2

/**
 * The number of lines of a file.
 *
 * @since 0.1.0
 */
export interface Total {
  readonly lines: number
  /** False where there are more. */
  readonly isAll: boolean
}

/**
 * Counts the lines behind the first `known` ones; undefined where the file is a pipe, or could not be read again.
 *
 * @since 0.1.0
 */
export const total = (files: Files, path: string, known: number): Effect.Effect<Total | undefined> =>
  files.read(path, { regular: true, skipLines: known }).pipe(
    Stream.runFoldWhile(
      { bytes: 0, lines: known, isInLine: false },
      ({ bytes }) => bytes < most,
      ({ bytes, lines }, chunk) => ({
        bytes: bytes + chunk.length,
        lines: lines + Newlines.count(chunk),
        isInLine: chunk[chunk.length - 1] !== 0x0a
      })
    ),
    Effect.map(({ bytes, isInLine, lines }) => ({ lines: lines + (isInLine ? 1 : 0), isAll: bytes < most })),
    Effect.orElseSucceed(() => undefined)
  )
