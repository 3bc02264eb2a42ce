import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"

/** Collects all bytes of a stream. Stops and returns undefined once there are more than `most`. */
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

/** Decodes UTF-8, or returns the reason why it can't on the left. */
export const toText = (bytes: Uint8Array): Either.Either<string, string> =>
  Either.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => "it is not UTF-8"
  })
