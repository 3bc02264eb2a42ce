/**
 * Turns a run's events into lines.
 *
 * @since 0.1.0
 */
import type { RunEvent } from "./RunEvent.js"

/**
 * Turns a run's events into lines, which are written once, and into live lines, which show what runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface View {
  /** Takes an event at a time in milliseconds; returns the lines that are to be written, whole. */
  readonly take: (event: RunEvent, now: number, columns: number) => ReadonlyArray<string>
  /** Returns the lines of what runs: at most so many, none wider than the columns. */
  readonly live: (now: number, columns: number, most: number) => ReadonlyArray<string>
  /** True where the live lines change with time alone. */
  readonly isMoving: () => boolean
}
