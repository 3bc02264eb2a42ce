/**
 * Files in memory, for testing commands without a shell or a disk. Paths are plain names and are not resolved. Modes
 * can be `+x`, `-x` or octal.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { FileError, type Files } from "./Files.js"
import * as Newlines from "./Newlines.js"

/**
 * Files in memory, which a test can inspect.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryFiles extends Files {
  /** Returns a file's bytes, or undefined if it does not exist. */
  readonly get: (path: string) => Buffer | undefined
  /** Returns the number of writes. */
  readonly writes: () => number
  /** Returns the number of bytes that were read. */
  readonly bytesRead: () => number
}

/**
 * The content of a file: text, bytes, or the error of every access to it.
 *
 * @since 0.1.0
 * @category models
 */
export type Content = string | Uint8Array | Pick<FileError, "kind" | "reason">

/**
 * Makes files with the given names and contents.
 *
 * @param sizes the sizes of the chunks that files are read in, used in turn; by default, 64 KiB
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  initial: Readonly<Record<string, Content>> = {},
  sizes: ReadonlyArray<number> = [64 * 1024]
): MemoryFiles => {
  const files = new Map<string, Buffer | Pick<FileError, "kind" | "reason">>(
    Object.entries(initial).map(([path, content]) => [path, toBytes(content)])
  )
  const modes = new Map<string, string>()
  const changing = Effect.unsafeMakeSemaphore(1)
  let writes = 0
  let bytesRead = 0

  function* chunksOf(bytes: Buffer): Generator<Uint8Array> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const chunk = bytes.subarray(at, at + Math.max(1, sizes[turn % sizes.length] ?? bytes.length))
      at += chunk.length
      bytesRead += chunk.length
      yield chunk
    }
  }

  const put = (path: string, content: Uint8Array, mode: string | undefined) => {
    writes++
    files.set(path, Buffer.from(content))
    if (mode !== undefined) modes.set(path, mode === "+x" ? "755" : mode === "-x" ? "644" : mode)
  }

  return {
    get: (path) => {
      const file = files.get(path)
      return Buffer.isBuffer(file) ? file : undefined
    },
    writes: () => writes,
    bytesRead: () => bytesRead,
    read: (path, { skipLines = 0 } = {}) =>
      Stream.suspend(() => {
        const file = files.get(path)
        if (file === undefined) return Stream.fail(missing(path))
        if (!Buffer.isBuffer(file)) return Stream.fail(new FileError({ path, ...file }))
        return Stream.fromIteratorSucceed(chunksOf(file.subarray(Newlines.skip(file, skipLines).index)), 1)
      }),
    write: Effect.fnUntraced(function* (path, content, { mode } = {}) {
      const file = files.get(path)
      if (file !== undefined && !Buffer.isBuffer(file)) return yield* new FileError({ path, ...file })
      const chunks = content instanceof Uint8Array ? [content] : yield* Stream.runCollect(content)
      put(path, Buffer.concat([...chunks]), mode)
    }),
    writeAll: Effect.fnUntraced(function* (changes) {
      for (const { content, path } of changes) {
        const file = files.get(path)
        if (file === undefined && content === undefined) return yield* missing(path)
        if (file !== undefined && !Buffer.isBuffer(file)) return yield* new FileError({ path, ...file })
      }
      for (const { content, mode, path } of changes) {
        if (content === undefined) {
          files.delete(path)
          modes.delete(path)
        } else put(path, content, mode)
      }
    }),
    exit: () => Effect.void as Effect.Effect<undefined>,
    mode: (path) => (files.has(path) ? Effect.succeed(modes.get(path) ?? "644") : missing(path)),
    exclusive: changing.withPermits(1)
  }
}

const toBytes = (content: Content): Buffer | Pick<FileError, "kind" | "reason"> =>
  typeof content === "string" || content instanceof Uint8Array ? Buffer.from(content as Uint8Array) : content

const missing = (path: string) => new FileError({ path, kind: "missing", reason: "No such file or directory" })
