/**
 * The search in the history by a part of a command.
 *
 * @since 0.1.0
 */
import type { EditedText } from "./EditedText.js"

/**
 * Searches backwards, a character more at a time.
 *
 * @since 0.1.0
 * @category models
 */
export class HistorySearch {
  query = ""
  /** True where no command holds the query; what was found before is still shown. */
  hasFailed = false
  private at: number

  constructor(
    private readonly entries: ReadonlyArray<string>,
    /** The text that was edited before the search. */
    readonly draft: EditedText,
    /** The entry that was found last. */
    public found: EditedText = draft
  ) {
    this.at = entries.length
  }

  /** The words in the prompt's place. */
  get prompt(): string {
    return `(${this.hasFailed ? "no such command" : "history"}: ${this.query}) `
  }

  /** Searches with another query, from the last command on. */
  search(query: string): void {
    this.query = query
    this.found = this.draft
    this.find(this.entries.length - 1)
  }

  /** Narrows the query, which what was found may hold too. */
  narrow(added: string): void {
    this.query += added
    this.find(Math.min(this.at, this.entries.length - 1))
  }

  /** Searches on, for another command. */
  older(): void {
    this.find(this.at - 1, this.found.text)
  }

  private find(from: number, except?: string): void {
    this.hasFailed = false
    if (this.query === "") return
    for (let at = from; at >= 0; at--) {
      const entry = this.entries[at] ?? ""
      const place = entry.lastIndexOf(this.query)
      if (place < 0 || entry === except) continue
      this.at = at
      this.found = { text: entry, place }
      return
    }
    this.hasFailed = true
  }
}
