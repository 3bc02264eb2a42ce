/** Collects the bytes of a stream up to a bound. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"

/** Collects all bytes of a stream; undefined where there are more than `most`, of which the rest is not read. */
export const bytes = <E, R>(
  stream: Stream.Stream<Uint8Array, E, R>,
  most: number
): Effect.Effect<Buffer | undefined, E, R> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    return Stream.runFoldWhile(
      stream,
      0,
      (size) => size <= most,
      (size, chunk) => {
        chunks.push(Uint8Array.from(chunk))
        return size + chunk.length
      }
    ).pipe(Effect.map((size) => (size > most ? undefined : Buffer.concat(chunks))))
  })

/** Decodes bytes as a text in UTF-8; on the left is the reason why they are none. */
export const toText = (bytes: Uint8Array): Either.Either<string, string> =>
  Either.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => "it is not UTF-8"
  })
