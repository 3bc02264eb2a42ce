/**
 * The model of a patch, in either format: the changes of each file, and their hunks. Texts hold one character for
 * each byte (Latin-1), so that they come back byte for byte.
 */
import * as Data from "effect/Data"

/** A line of a hunk: one that stays, one that is taken away, or one that is added. */
export interface Line {
  readonly kind: " " | "-" | "+"
  /** The line with its line feed; without one, it is the last of a file that does not end in one. */
  readonly text: string
}

/** A change of adjacent lines. */
export interface Hunk {
  /** The number of the patch's line where it begins. */
  readonly at: number
  /** The index of the file's line where it says that it belongs; undefined where it does not say. */
  readonly start: number | undefined
  /** Lines of the file, in their order, below which it belongs (`@@ class A`). */
  readonly anchors: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  /** True where it belongs at the end of the file. */
  readonly isLast: boolean
}

/** The change of one file. */
export interface FileChange {
  readonly kind: "add" | "update" | "delete"
  /** The number of the patch's line where it begins. */
  readonly at: number
  /** The names that the file may have, the likeliest first: two headers may name two. */
  readonly paths: readonly [string, ...ReadonlyArray<string>]
  /** The new name of a file that is moved or copied. */
  readonly to?: string
  /** True where the file stays under its old name as well. */
  readonly isCopy?: boolean
  /** True to make the file executable, false to make it not; undefined leaves its mode. */
  readonly isExecutable?: boolean
  /** True for a file that is deleted whatever it holds; else the hunks must leave nothing of it. */
  readonly isWhole?: boolean
  /** True where an update may make a file that is not there. */
  readonly mayBeNew?: boolean
  readonly hunks: ReadonlyArray<Hunk>
}

/** The error for a text that is no patch: the number of the line, and what is wrong there. */
export class PatchFlaw extends Data.TaggedError("PatchFlaw")<{ readonly line: number; readonly reason: string }> {
  override get message(): string {
    return this.line === 0 ? this.reason : `line ${this.line} of the patch: ${this.reason}`
  }
}

/**
 * The error for a change that does not fit the files as they are: the file as the patch names it, the hunk from 1 on (0
 * for the file as a whole), and the reason, which names the nearest place.
 */
export class PatchRefused extends Data.TaggedError("PatchRefused")<{
  readonly path: string
  readonly hunk: number
  readonly reason: string
}> {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** Quotes a part of a line of the patch for a message. */
export const excerpt = (line: string): string => {
  const text = Buffer.from(line.slice(0, 80), "latin1").toString()
  return JSON.stringify(line.length > 80 ? `${text}…` : text)
}
