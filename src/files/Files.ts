/**
 * Files as the shell sees them: with the same names, rights and file system. Our commands read and write files only
 * through this interface; the shell's process does the work, so that the kernel enforces the sandbox's policy on it.
 *
 * @since 0.1.0
 */

import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * The error for a file that can't be read or written. `reason` is the system's message (`Permission denied`), or our
 * own where it has none.
 *
 * @since 0.1.0
 * @category errors
 */
export class FileError extends Schema.TaggedError<FileError>("synapse/FileError")("FileError", {
  /** The path as the command named it. */
  path: Schema.String,
  kind: Schema.Literal("missing", "directory", "denied", "special", "io"),
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}

/**
 * The options of `read`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadOptions {
  /** The number of lines to skip at the beginning. */
  readonly skipLines?: number
  /** True to refuse all but regular files: a pipe may keep the reader waiting forever. */
  readonly regular?: boolean
}

/**
 * Reads and writes files. Paths are words as the shell takes them, which need not be UTF-8 (`ShellText`); relative ones
 * are relative to the directory that the command was called in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Files {
  /** Reads the bytes of a file; the rest is not read where the consumer stops. */
  readonly read: (path: string, options?: ReadOptions) => Stream.Stream<Uint8Array, FileError>
  /**
   * Replaces the content of a file as a whole or not at all. Mode and owner stay, symbolic links are followed, missing
   * directories on the way to it are created. Where the content fails, the file stays as it was.
   */
  readonly write: <E>(path: string, content: Stream.Stream<Uint8Array, E>) => Effect.Effect<void, FileError | E>
  /**
   * Runs an effect that reads a file and then writes it, while no other call's `exclusive` and `write` change that file,
   * whatever name they know it by. Its own writes take no turns: it must not write a file that another call may wait for.
   */
  readonly exclusive: <A, E>(path: string, effect: Effect.Effect<A, E>) => Effect.Effect<A, E | FileError>
}
