/**
 * Files as the shell sees them: the same names, the same rights, the same file system. What a command of ours does to files,
 * it does through this; whoever carries it out is held to the sandbox's policy by the kernel.
 *
 * @since 0.1.0
 */

import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * What is wrong with a file. `reason` is the system's own word for it (`Permission denied`), or ours where it has none.
 *
 * @since 0.1.0
 * @category errors
 */
export class FileError extends Schema.TaggedError<FileError>("synapse/FileError")("FileError", {
  /** As the command named it. */
  path: Schema.String,
  kind: Schema.Literal("missing", "directory", "denied", "special", "io"),
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}

/**
 * What is read of a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadOptions {
  /** Lines at the beginning that are passed over. */
  readonly skipLines?: number
  /** Whether it must be a regular file: no pipe, which may keep one waiting for ever, and no device. */
  readonly regular?: boolean
}

/**
 * Reads and writes files. Paths are words as the shell takes them, which need not be UTF-8 (`ShellText`); relative ones start
 * from the directory that the command was called in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Files {
  /**
   * The bytes of a file. Whoever needs no more of them stops reading: the rest of the file is not read.
   */
  readonly read: (path: string, options?: ReadOptions) => Stream.Stream<Uint8Array, FileError>
  /**
   * Gives a file a new content, all of it or none: mode and owner stay, symbolic links are followed to their target,
   * directories that are missing on the way to it are made. Where the content fails, the file is as it was.
   */
  readonly write: <E>(path: string, content: Stream.Stream<Uint8Array, E>) => Effect.Effect<void, FileError | E>
}
