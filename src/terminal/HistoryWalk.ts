/**
 * The walk through the history by the arrows.
 *
 * @since 0.1.0
 */
import { atEnd, type EditedText } from "./EditedText.js"

/**
 * Walks through the commands that begin with what stands before the place.
 *
 * @since 0.1.0
 * @category models
 */
export class HistoryWalk {
  private at: number
  private readonly prefix: string

  constructor(
    private readonly entries: ReadonlyArray<string>,
    /** The text that is edited, which lies after the last command. */
    private readonly draft: EditedText
  ) {
    this.at = entries.length
    this.prefix = draft.text.slice(0, draft.place)
  }

  /** Returns the command before or after the one that is shown; undefined where there is none. */
  go(by: 1 | -1, shown: string): EditedText | undefined {
    for (let at = this.at + by; at >= 0 && at <= this.entries.length; at += by) {
      const entry = this.entries[at]
      if (entry !== undefined && (!entry.startsWith(this.prefix) || entry === shown)) continue
      this.at = at
      return entry === undefined ? this.draft : atEnd(entry)
    }
    return undefined
  }
}
