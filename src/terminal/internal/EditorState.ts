/** The state of a line editor. */

import * as EditedText from "./EditedText.js"
import type { Key } from "./KeyParser.js"

/** Incremental backward search. */
class HistorySearch {
  query = ""
  /** True if no command matches; the last match is still shown. */
  hasFailed = false
  private at: number

  constructor(
    private readonly entries: ReadonlyArray<string>,
    readonly draft: EditedText.EditedText,
    public found: EditedText.EditedText = draft
  ) {
    this.at = entries.length
  }

  get prompt(): string {
    return `(${this.hasFailed ? "no such command" : "history"}: ${this.query}) `
  }

  search(query: string): void {
    this.query = query
    this.found = this.draft
    this.find(this.entries.length - 1)
  }

  narrow(added: string): void {
    this.query += added
    this.find(Math.min(this.at, this.entries.length - 1))
  }

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

/** Walks through commands with the prefix before the cursor. */
class HistoryWalk {
  private at: number
  private readonly prefix: string

  constructor(
    private readonly entries: ReadonlyArray<string>,
    private readonly draft: EditedText.EditedText
  ) {
    this.at = entries.length
    this.prefix = draft.text.slice(0, draft.place)
  }

  go(by: 1 | -1, shown: string): EditedText.EditedText | undefined {
    for (let at = this.at + by; at >= 0 && at <= this.entries.length; at += by) {
      const entry = this.entries[at]
      if (entry !== undefined && (!entry.startsWith(this.prefix) || entry === shown)) continue
      this.at = at
      return entry === undefined ? this.draft : EditedText.atEnd(entry)
    }
    return undefined
  }
}

/** A request of a key beyond a change of the text. */
export type Request = "enter" | "complete" | "clear" | "interrupt" | "end"

const mostUndone = 500

export class EditorState {
  search: HistorySearch | undefined
  private current: EditedText.EditedText = { text: "", place: 0 }
  private undone: Array<EditedText.EditedText> = []
  private killed = ""
  private walk: HistoryWalk | undefined
  /** Consecutive inserts are undone together, consecutive kills are joined. */
  private last: "insert" | "kill" | "other" = "other"

  constructor(private readonly history: () => ReadonlyArray<string>) {}

  get edited(): EditedText.EditedText {
    return this.search?.found ?? this.current
  }

  clear(): void {
    this.current = { text: "", place: 0 }
    this.undone = []
    this.walk = undefined
    this.search = undefined
    this.last = "other"
  }

  change(next: EditedText.EditedText, kind: "insert" | "kill" | "other" = "other"): void {
    if (next.text !== this.current.text) {
      if (kind !== "insert" || this.last !== "insert") this.undone.push(this.current)
      if (this.undone.length > mostUndone) this.undone.shift()
    }
    this.current = next
    this.walk = undefined
    this.last = kind
  }

  press(key: Key): Request | undefined {
    if (this.search !== undefined) return this.pressInSearch(this.search, key)
    if (key._tag === "Text") {
      this.change(EditedText.insert(this.current, key.text), "insert")
      return undefined
    }
    if (key._tag === "Paste") {
      this.change(EditedText.insert(this.current, key.text))
      return undefined
    }
    const { name } = key
    if (name === "ctrl-c") return "interrupt"
    if (name === "enter") return "enter"
    if (name === "tab") return "complete"
    if (name === "ctrl-l") return "clear"
    if (name === "ctrl-d" && this.current.text === "") return "end"
    if (!this.go(name) && !this.edit(name)) this.last = "other"
    return undefined
  }

  private pressInSearch(search: HistorySearch, key: Key): Request | undefined {
    if (key._tag !== "Press") {
      search.narrow(key.text.replaceAll("\n", " "))
      return undefined
    }
    const { name } = key
    if (name === "ctrl-r") search.older()
    else if (name === "backspace") search.search(search.query.slice(0, EditedText.left(EditedText.atEnd(search.query))))
    else {
      this.search = undefined
      if (name === "ctrl-g") return undefined
      if (name === "ctrl-c") return "interrupt"
      this.change(search.found)
      return name === "escape" ? undefined : this.press(key)
    }
    return undefined
  }

  private go(name: string): boolean {
    const place = this.placeAfter(name)
    if (place === undefined) return false
    this.change({ text: this.current.text, place })
    return true
  }

  private placeAfter(name: string): number | undefined {
    const { current } = this
    switch (name) {
      case "left":
      case "ctrl-b":
        return EditedText.left(current)
      case "right":
      case "ctrl-f":
        return EditedText.right(current)
      case "home":
      case "ctrl-a":
        return EditedText.lineStart(current)
      case "end":
      case "ctrl-e":
        return EditedText.lineEnd(current)
      case "ctrl-left":
      case "alt-left":
      case "alt-b":
        return EditedText.wordLeft(current)
      case "ctrl-right":
      case "alt-right":
      case "alt-f":
        return EditedText.wordRight(current)
      case "ctrl-home":
      case "alt-<":
        return 0
      case "ctrl-end":
      case "alt->":
        return current.text.length
      default:
        return undefined
    }
  }

  private edit(name: string): boolean {
    const { current } = this
    switch (name) {
      case "backspace":
      case "shift-backspace":
        this.change(EditedText.removeTo(current, EditedText.left(current)))
        return true
      case "delete":
      case "ctrl-d":
        this.change(EditedText.removeTo(current, EditedText.right(current)))
        return true
      case "ctrl-k": {
        // At the end of a line, the line break.
        const end = EditedText.lineEnd(current)
        return this.kill(end === current.place ? EditedText.right(current) : end)
      }
      case "ctrl-u": {
        const start = EditedText.lineStart(current)
        return this.kill(start === current.place ? EditedText.left(current) : start)
      }
      case "ctrl-w":
        return this.kill(EditedText.blankLeft(current))
      case "alt-backspace":
      case "ctrl-backspace":
        return this.kill(EditedText.wordLeft(current))
      case "alt-d":
      case "ctrl-delete":
        return this.kill(EditedText.wordRight(current))
      case "ctrl-y":
        this.change(EditedText.insert(current, this.killed))
        return true
      case "ctrl-t":
        this.change(EditedText.transpose(current))
        return true
      case "alt-enter":
      case "shift-enter":
      case "ctrl-enter":
        this.change(EditedText.insert(current, "\n"))
        return true
      case "ctrl-_":
        this.undo()
        return true
      case "ctrl-r":
        this.search = new HistorySearch(this.history(), current)
        return true
      case "up":
      case "down":
        this.vertical(name === "up" ? -1 : 1, true)
        return true
      case "ctrl-p":
      case "ctrl-n":
        this.vertical(name === "ctrl-p" ? -1 : 1, false)
        return true
      default:
        return false
    }
  }

  private kill(other: number): boolean {
    const { place, text } = this.current
    const removed = text.slice(Math.min(place, other), Math.max(place, other))
    if (this.last !== "kill") this.killed = removed
    else this.killed = other < place ? removed + this.killed : this.killed + removed
    this.change(EditedText.removeTo(this.current, other), "kill")
    return true
  }

  private undo(): void {
    this.current = this.undone.pop() ?? this.current
    this.walk = undefined
    this.last = "other"
  }

  private vertical(by: 1 | -1, isWithin: boolean): void {
    const place = isWithin && this.walk === undefined ? EditedText.vertical(this.current, by) : undefined
    if (place !== undefined) return this.change({ text: this.current.text, place })
    const walk = this.walk ?? new HistoryWalk(this.history(), this.current)
    const found = walk.go(by, this.current.text)
    if (found !== undefined) this.change(found)
    this.walk = walk
    this.last = "other"
  }
}
