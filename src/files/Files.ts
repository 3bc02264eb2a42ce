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
 * own where it has none. Of several files, `partial` says that some are changed.
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
  /** True to refuse pipes, too, that the caller hands over: one may keep the reader waiting forever. */
  readonly regular?: boolean
}

/**
 * The options of `write`.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteOptions {
  /** The file's mode, as chmod takes it: `755`, `+x`. By default, it stays; a new file's is what the umask leaves. */
  readonly mode?: string
}

/**
 * A change of one of several files.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileChange extends WriteOptions {
  readonly path: string
  /** The new content; undefined to remove the file. */
  readonly content: Uint8Array | undefined
}

/**
 * Reads and writes files. Paths are words as the shell takes them, which need not be UTF-8 (`ShellText`); relative ones
 * are relative to the directory that the command was called in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Files {
  /**
   * Reads the bytes of a regular file, or of a pipe that the caller hands over by its descriptor (`/dev/stdin`, `<(ls)`);
   * the rest is not read where the consumer stops. Named pipes and devices are refused, since they may have no end.
   */
  readonly read: (path: string, options?: ReadOptions) => Stream.Stream<Uint8Array, FileError>
  /**
   * Replaces the content of a file as a whole or not at all. Mode and owner stay, symbolic links are followed, missing
   * directories on the way to it are created. Where the content fails, the file stays as it was.
   */
  readonly write: <E>(
    path: string,
    content: Stream.Stream<Uint8Array, E> | Uint8Array,
    options?: WriteOptions
  ) => Effect.Effect<void, FileError | E>
  /**
   * Writes and removes several files, each as `write` does: all of them or none, also where it is interrupted. All contents
   * are complete before the first file changes. Only regular files are removed; their directories stay.
   */
  readonly writeAll: (changes: ReadonlyArray<FileChange>) => Effect.Effect<void, FileError>
  /** Returns the symbolic link by which a relative path leads out of the current directory; undefined where none does. */
  readonly exit: (path: string) => Effect.Effect<string | undefined, FileError>
  /** Returns the mode of a file in octal digits: `644`. */
  readonly mode: (path: string) => Effect.Effect<string, FileError>
  /**
   * Runs an effect that reads files and then writes them, while no other call of the session changes files by
   * `exclusive`, `write` and `writeAll`.
   */
  readonly exclusive: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}
