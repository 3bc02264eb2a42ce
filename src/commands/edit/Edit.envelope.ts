/**
 * Parses patches between `*** Begin Patch` and `*** End Patch`, the format of the tool `apply_patch`. Where the first line
 * is missing, the last one may be, too.
 *
 * @since 0.1.0
 */
import type { Steps } from "../../domain/Slices.js"
import { excerpt, type FileChange, type Hunk, type Line, PatchFlaw } from "./Edit.change.js"

const begin = "*** Begin Patch"
const end = "*** End Patch"

const file = /^\*\*\* (Add|Update|Delete) File:(.*)$/

/**
 * Tests whether lines are a patch of this format.
 *
 * @since 0.1.0
 */
export const isOne = (lines: ReadonlyArray<string>): boolean => {
  const first = lines.find((line) => line.trim() !== "") ?? ""
  return first.trimEnd() === begin || file.test(first)
}

/**
 * Parses the lines of a patch, which have no line feeds.
 *
 * @since 0.1.0
 */
export function* parse(lines: ReadonlyArray<string>): Steps<ReadonlyArray<FileChange> | PatchFlaw> {
  const parser = new Parser(lines)
  const changes: Array<FileChange> = []
  for (;;) {
    const change = parser.next()
    if (change instanceof PatchFlaw) return change
    if (change === undefined) return changes
    changes.push(change)
    yield
  }
}

class Parser {
  private at: number
  /** True where the first line says that a last one follows. */
  private readonly hasBegin: boolean

  constructor(private readonly lines: ReadonlyArray<string>) {
    const first = lines.findIndex((line) => line.trim() !== "")
    this.hasBegin = lines[first]?.trimEnd() === begin
    this.at = this.hasBegin ? first + 1 : first
  }

  private get line(): string {
    return this.lines[this.at] ?? ""
  }

  private get isMarker(): boolean {
    return this.at >= this.lines.length || this.line.startsWith("*** ")
  }

  private flaw(reason: string): PatchFlaw {
    return new PatchFlaw({ line: this.at + 1, reason })
  }

  /** Parses the change of the next file; undefined at the end. */
  next(): FileChange | PatchFlaw | undefined {
    this.skipEmpty()
    if (this.at >= this.lines.length) return this.hasBegin ? this.flaw(`the patch ends without ${end}`) : undefined
    if (this.line.trimEnd() === end) {
      this.at++
      this.skipEmpty()
      return this.at < this.lines.length ? this.flaw(`${excerpt(this.line)} stands below ${end}`) : undefined
    }
    const at = this.at + 1
    const [, verb, name = ""] = file.exec(this.line) ?? []
    const path = name.trim()
    if (verb === undefined || path === "") {
      return this.flaw(`${excerpt(this.line)} is where a file must be named (*** Update File: <file>)`)
    }
    this.at++
    if (verb === "Delete") return { kind: "delete", at, paths: [path], hunks: [], isWhole: true }
    if (verb === "Add") return this.added(at, path)
    const [, to] = /^\*\*\* Move to:(.*)$/.exec(this.line) ?? []
    if (to !== undefined) this.at++
    const hunks = this.hunks()
    if (hunks instanceof PatchFlaw) return hunks
    if (hunks.length === 0 && to === undefined) return this.flaw(`nothing of ${excerpt(path)} is changed`)
    return { kind: "update", at, paths: [path], hunks, ...(to === undefined ? {} : { to: to.trim() }) }
  }

  private skipEmpty(): void {
    while (this.at < this.lines.length && this.line.trim() === "") this.at++
  }

  private added(at: number, path: string): FileChange | PatchFlaw {
    const lines: Array<Line> = []
    for (; this.line.startsWith("+"); this.at++) lines.push({ kind: "+", text: `${this.line.slice(1)}\n` })
    this.skipEmpty()
    if (!this.isMarker) return this.flaw(`${excerpt(this.line)}: each line of a new file begins with +`)
    const hunks = lines.length === 0 ? [] : [{ at, start: 0, anchors: [], lines, isLast: false }]
    return { kind: "add", at, paths: [path], hunks }
  }

  private hunks(): ReadonlyArray<Hunk> | PatchFlaw {
    const hunks: Array<Hunk> = []
    for (;;) {
      this.skipEmpty()
      if (this.isMarker) return hunks
      const hunk = this.hunk()
      if (hunk instanceof PatchFlaw) return hunk
      hunks.push(hunk)
    }
  }

  private hunk(): Hunk | PatchFlaw {
    const at = this.at + 1
    const anchors: Array<string> = []
    let start: number | undefined
    for (; this.line.startsWith("@@"); this.at++) {
      const header = /^@@ -(\d+)(,0)?/.exec(this.line)
      if (header !== null) start = Math.max(0, Number(header[1]) - (header[2] === undefined ? 1 : 0))
      const anchor = header === null ? this.line.slice(2).trim() : ""
      if (anchor !== "") anchors.push(anchor)
    }
    const lines: Array<Line> = []
    for (; !this.isMarker && !this.line.startsWith("@@"); this.at++) {
      const kind = this.line === "" ? " " : this.line[0]
      if (kind !== " " && kind !== "-" && kind !== "+") {
        return this.flaw(`${excerpt(this.line)}: each line of a hunk begins with a blank, - or +`)
      }
      lines.push({ kind, text: `${this.line.slice(1)}\n` })
    }
    // Empty lines between two hunks belong to neither.
    for (let last = this.at - 1; this.lines[last] === ""; last--) lines.pop()
    const isLast = this.line.trimEnd() === "*** End of File"
    if (isLast) this.at++
    if (lines.every(({ kind }) => kind === " ")) {
      return new PatchFlaw({ line: at, reason: "a hunk that takes no line away and adds none" })
    }
    return { at, start, anchors, lines, isLast }
  }
}
