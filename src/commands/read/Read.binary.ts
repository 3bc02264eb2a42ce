/**
 * Shows a file that is no text: an image, or what is known of another.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Advice from "../../domain/Advice.js"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import type { Image } from "../../domain/CommandResult.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { Files } from "../../files/Files.js"
import * as FileType from "../../files/FileType.js"
import * as ImageSize from "../../files/ImageSize.js"

const megabyte = 1024 ** 2

/** The most megabytes of a file that are counted. */
const mostCounted = 64

/**
 * The text about an image, and the image where it can be shown.
 *
 * @since 0.1.0
 */
export interface Described {
  readonly text: string
  readonly image?: Image
}

/**
 * Describes an image; fails for any other file that is no text, and says what it is.
 *
 * @since 0.1.0
 */
export const describe = Effect.fnUntraced(function* (
  files: Files,
  path: string
): Effect.fn.Return<Described, ExecutionFailed> {
  const { bytes, size } = yield* beginning(files, path)
  const type = FileType.of(bytes)
  const { mediaType, name, program = "od -A d -c -N 256" } = type ?? { name: "binary file" }
  const sized = size > mostCounted * megabyte ? `more than ${mostCounted} MiB` : `${size} bytes`
  const dimensions = mediaType === undefined ? undefined : ImageSize.of(mediaType, bytes)
  if (mediaType === undefined || dimensions === undefined) {
    const what = mediaType === undefined ? name : `${name} with a broken header`
    return yield* FileFailure.make("read", path, size === 0 ? what : `${what}, ${sized}`, {
      advice: [
        Advice.line`${FileFailure.run(program, path)} shows ${type?.program === undefined ? "its beginning" : "it"}.`
      ]
    })
  }
  const text = `${FileFailure.printable(path)}: ${name}, ${dimensions.width}x${dimensions.height}, ${sized}`
  if (size > ImageSize.largestImage * megabyte)
    return { text: `${text}, too large to be shown (${ImageSize.largestImage} MiB)\n` }
  if (Math.max(dimensions.width, dimensions.height) > ImageSize.largestSide) {
    return { text: `${text}, too large to be shown (${ImageSize.largestSide}x${ImageSize.largestSide})\n` }
  }
  return { text: `${text}\n`, image: { path, mediaType, base64: bytes.toString("base64") } }
})

/** Reads a file: its size, and as many of its first bytes as an image may have. A pipe can't be read twice. */
const beginning = (files: Files, path: string): Effect.Effect<{ readonly bytes: Buffer; readonly size: number }> => {
  const chunks: Array<Uint8Array> = []
  return files.read(path, { regular: true }).pipe(
    Stream.runFoldWhile(
      0,
      (size) => size <= mostCounted * megabyte,
      (size, chunk) => {
        if (size <= ImageSize.largestImage * megabyte) chunks.push(Uint8Array.from(chunk))
        return size + chunk.length
      }
    ),
    Effect.orElseSucceed(() => 0),
    Effect.map((size) => ({ bytes: Buffer.concat(chunks), size }))
  )
}
