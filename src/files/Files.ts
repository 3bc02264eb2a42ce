/**
 * Files as the shell sees them: with the same names, rights and file system. Synapse commands access files only through
 * this interface. The shell's process does the work, so the kernel enforces the sandbox's policy.
 *
 * @since 0.1.0
 */

import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * The error for a file that can't be read or written. `reason` is the system's message (`Permission denied`), or
 * Synapse's. `kind` is `partial` if only some of several files were changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class FileError extends Schema.TaggedError<FileError>("synapse/FileError")("FileError", {
  /** The path as the command named it. */
  path: Schema.String,
  kind: Schema.Literal("missing", "directory", "denied", "special", "io", "partial"),
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
  /** True to also refuse pipes that the caller passes. A pipe can keep the reader waiting forever. */
  readonly regular?: boolean
}

/**
 * The options of `write`.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteOptions {
  /**
   * The file's mode, as chmod takes it: `755`, `+x`. By default it stays unchanged, and the umask decides that of a new
   * file.
   */
  readonly mode?: string
}

/**
 * A change to one of several files.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileChange extends WriteOptions {
  readonly path: string
  /** The new content. Undefined to remove the file. */
  readonly content: Uint8Array | undefined
}

/**
 * Reads and writes files. Paths are words as the shell takes them and need not be UTF-8 (`ShellText`). Relative paths
 * start at the directory that the command was called in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Files {
  /**
   * Reads the bytes of a regular file, or of a pipe that the caller passes by descriptor (`/dev/stdin`, `<(ls)`).
   * Reading ends when the consumer stops. Refuses named pipes and devices, which may never end.
   */
  readonly read: (path: string, options?: ReadOptions) => Stream.Stream<Uint8Array, FileError>
  /**
   * Replaces the whole content of a file, or leaves it unchanged if the content fails. Keeps mode and owner, follows
   * symbolic links and creates missing directories.
   */
  readonly write: <E>(
    path: string,
    content: Stream.Stream<Uint8Array, E> | Uint8Array,
    options?: WriteOptions
  ) => Effect.Effect<void, FileError | E>
  /**
   * Writes and removes several files, each as `write` does. Either all change or none, even if interrupted. All
   * contents are complete before the first file changes. Only regular files can be removed.
   */
  readonly writeAll: (changes: ReadonlyArray<FileChange>) => Effect.Effect<void, FileError>
  /** Returns the symbolic link by which a relative path leaves the current directory, or undefined. */
  readonly exit: (path: string) => Effect.Effect<string | undefined, FileError>
  /** Returns the mode of a file in octal digits: `644`. */
  readonly mode: (path: string) => Effect.Effect<string, FileError>
  /**
   * Runs an effect that reads files and then writes them. No other call of the session changes files by `exclusive`,
   * `write` or `writeAll` in the meantime.
   */
  readonly exclusive: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}
