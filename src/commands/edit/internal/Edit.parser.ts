/**
 * Parses patches: `*** Begin Patch`, and unified diffs as `diff -u`, `git diff` and models write them. Hunks without
 * line numbers or with wrong counts belong where their lines are found. The `diff` library silently skips hunks with a
 * flawed header and binary files, and does not tell a hunk's line.
 */
import type { Steps } from "../../../domain/Yield.js"
import { excerpt, type FileChange, type Hunk, type Line, PatchFlaw } from "./Edit.hunks.js"

/** The name that diffs use for a missing file. */
const none = "/dev/null"

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\"
}

/** Matches a name in quotes, as git and GNU diff write it. */
const quoted = /^"((?:[^"\\]|\\[0-3][0-7]{2}|\\[abtnvfr"\\])*)"/

/** Removes the quotes and escapes of a name, if it has any. */
const unquoted = (name: string): string => {
  const inner = quoted.exec(name)?.[1]
  return inner === undefined
    ? name
    : inner.replace(
        /\\([0-3][0-7]{2}|[abtnvfr"\\])/g,
        (_, escape: string) => escapes[escape] ?? String.fromCharCode(Number.parseInt(escape, 8))
      )
}

interface Header {
  readonly name: string
  /** True for the time 1970-01-01, which GNU diff writes for a file that does not exist. */
  readonly isEpoch: boolean
}

/** Reads a `--- ` or `+++ ` line. */
const ofHeader = (line: string): Header => {
  const text = line.slice(4)
  const quotes = quoted.exec(text)
  const tab = text.indexOf("\t")
  const name = quotes !== null ? unquoted(quotes[0]) : tab < 0 ? text.trimEnd() : text.slice(0, tab)
  const time = /\t(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0*)? ([+-]\d\d)(\d\d)$/.exec(text)
  return { name, isEpoch: time !== null && Date.parse(`${time[1]}T${time[2]}${time[3]}:${time[4]}`) === 0 }
}

/** Reads the name in a `diff --git` line, or returns undefined if the line names two files. */
const ofGit = (line: string): string | undefined => {
  const text = line.slice("diff --git ".length)
  const first = quoted.exec(text)?.[0]
  const half = first?.length ?? (text.length - 1) / 2
  if (text[half] !== " ") return undefined
  const [old, current] = [unquoted(text.slice(0, half)), unquoted(text.slice(half + 1))]
  if (old === current) return old
  const isPrefixed = old[1] === "/" && current[1] === "/" && old.slice(2) === current.slice(2)
  return isPrefixed && old.length > 2 ? old.slice(2) : undefined
}

/**
 * Returns the possible names of a file from the two headers of its diff, the likeliest first. Names with `a/` and `b/`
 * lose that prefix. Of others, as in GNU patch, the one with the fewest directories comes first, and the one without
 * its first directory last.
 */
const candidates = (old: string, current: string): ReadonlyArray<string> => {
  if (old === none && current === none) return []
  const isOld = old === none || old.startsWith("a/")
  if (isOld && (current === none || current.startsWith("b/"))) {
    return [old === none ? current.slice(2) : old.slice(2)]
  }
  const names = [...new Set([old, current])].filter((name) => name !== none)
  const depth = (name: string) => name.split("/").length
  const base = (name: string) => name.length - name.lastIndexOf("/")
  const sorted = names.toSorted((a, b) => depth(a) - depth(b) || base(a) - base(b) || a.length - b.length)
  const inner = names.map((name) => name.slice(name.indexOf("/") + 1))
  return names.length === 2 && inner[0] === inner[1] ? [...sorted, inner[0] as string] : sorted
}

/** Matches a hunk's header with or without line counts. */
const hunkHeader = /^@@ -(\d+)(?:,(\d+))?(?: \+\d+(?:,(\d+))? (@@))?/
const binary = /^(GIT binary patch|(?:Binary files|Files) .* differ)$/
/** Matches the header lines between `diff --git` and the hunks. */
const extended =
  /^(?:(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) (.*)|(?:dis)?similarity index .*|index .*)$/

const begin = "*** Begin Patch"
const end = "*** End Patch"
const file = /^\*\*\* (Add|Update|Delete) File:(.*)$/

/** Parses the lines of a patch, given without line feeds. */
export function* parse(lines: ReadonlyArray<string>): Steps<ReadonlyArray<FileChange> | PatchFlaw> {
  const first = lines.findIndex((line) => line.trim() !== "")
  const hasBegin = lines[first]?.trimEnd() === begin
  const parser = new Parser(lines, hasBegin ? first + 1 : Math.max(first, 0))
  const isEnvelope = hasBegin || file.test(lines[first] ?? "")
  const changes: Array<FileChange> = []
  try {
    while (isEnvelope ? parser.isWithin(hasBegin) : !parser.isAtEnd) {
      const change = isEnvelope ? parser.inEnvelope() : parser.next()
      if (change !== undefined) changes.push(change)
      yield
    }
    return changes
  } catch (flaw) {
    if (flaw instanceof PatchFlaw) return flaw
    throw flaw
  }
}

/** Parses one change after the other. Throws PatchFlaw. */
class Parser {
  /** True if the header says that the old file does not exist. */
  private isNewFile = false

  constructor(
    private readonly lines: ReadonlyArray<string>,
    private at: number
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.lines.length
  }

  private get line(): string {
    return this.lines[this.at] ?? ""
  }

  private get isHeader(): boolean {
    return this.line.startsWith("--- ") && this.lines[this.at + 1]?.startsWith("+++ ") === true
  }

  private flaw(reason: string, at = this.at): never {
    throw new PatchFlaw({ line: at + 1, reason })
  }

  /** Parses the next change, or skips a line that belongs to none. */
  next(): FileChange | undefined {
    const { line } = this
    if (line.startsWith("diff --git ")) return this.git()
    if (this.isHeader) return this.plain()
    if (/^diff --(cc|combined) |^@@@/.test(line)) this.flaw("the diff of a merge, which has several old files")
    if (binary.test(line)) this.flaw(`a binary file: ${excerpt(line)}`)
    if (line.startsWith("@@")) this.flaw("a hunk without a file: before it go the lines --- <file> and +++ <file>")
    this.at++
    return undefined
  }

  /** True at the signature that `git format-patch` writes below a patch. */
  private get isSignature(): boolean {
    return this.line === "-- " && /^\d/.test(this.lines[this.at + 1] ?? "")
  }

  private git(): FileChange {
    const begin = this.at
    const name = ofGit(this.line)
    this.isNewFile = false
    const fields = new Map<string, string>()
    for (this.at++; !this.isAtEnd; this.at++) {
      const match = extended.exec(this.line)
      if (match === null) break
      if (match[1] !== undefined) fields.set(match[1], match[2] as string)
    }
    for (const [field, value] of fields) {
      if (field.endsWith("mode") && !/^100[0-7]{3}$/.test(value))
        this.flaw(`mode ${value.slice(0, 10)}: only regular files can be patched, no links and no submodules`)
    }
    if (binary.test(this.line)) this.flaw(`a binary file: ${excerpt(name ?? (this.lines[begin] as string))}`)
    const headers = this.isHeader ? this.headers() : undefined
    if (fields.has("new file mode")) this.isNewFile = true
    const hunks = this.hunks()
    const named = name === undefined ? headers && candidates(headers.old.name, headers.current.name)[0] : name
    const from = fields.get("rename from") ?? fields.get("copy from")
    const to = fields.get("rename to") ?? fields.get("copy to")
    const path = from === undefined ? named : unquoted(from)
    if (path === undefined || (from === undefined) !== (to === undefined))
      return this.flaw("the file's name can't be read", begin)
    const kind =
      fields.has("new file mode") || headers?.old.name === none
        ? "add"
        : fields.has("deleted file mode") || headers?.current.name === none
          ? "delete"
          : "update"
    const mode = fields.get("new file mode") ?? fields.get("new mode")
    const executable = mode !== undefined && (Number.parseInt(mode, 8) & 0o100) !== 0
    return {
      kind,
      at: begin + 1,
      paths: [path],
      hunks,
      ...(to === undefined ? {} : { to: unquoted(to) }),
      ...(fields.has("copy to") ? { isCopy: true } : {}),
      ...(mode === undefined || (kind === "add" && !executable) ? {} : { isExecutable: executable })
    }
  }

  /** Parses a change that has only `---` and `+++` above it. */
  private plain(): FileChange {
    const begin = this.at
    const { current, old } = this.headers()
    const [first, ...others] = candidates(old.name, current.name)
    if (first === undefined) return this.flaw("neither the old nor the new file has a name", begin)
    const hunks = this.hunks()
    if (hunks.length === 0) this.flaw(`${excerpt(this.line)} is where the first hunk must be (@@ -1,3 +1,4 @@)`)
    const [adds, removes] = [isOnly("+", hunks), isOnly("-", hunks)]
    const kind =
      old.name === none || (old.isEpoch && adds)
        ? "add"
        : current.name === none || (current.isEpoch && removes)
          ? "delete"
          : "update"
    const mayBeNew = kind === "update" && adds
    return { kind, at: begin + 1, paths: [first, ...others], hunks, ...(mayBeNew ? { mayBeNew } : {}) }
  }

  private headers(): { readonly old: Header; readonly current: Header } {
    const old = ofHeader(this.line)
    const current = ofHeader(this.lines[this.at + 1] as string)
    this.at += 2
    this.isNewFile = old.name === none
    return { old, current }
  }

  private hunks(isEnvelope = false): ReadonlyArray<Hunk> {
    const hunks: Array<Hunk> = []
    for (;;) {
      if (isEnvelope) this.skipEmpty()
      if (isEnvelope ? this.isMarker : !this.line.startsWith("@@")) return hunks
      hunks.push(this.hunk(isEnvelope))
    }
  }

  /**
   * Parses a hunk up to the next hunk or file. A header with wrong counts is not trusted, and the hunk then belongs
   * where its lines are found. So in a diff it must have such lines, unless it creates a file.
   */
  private hunk(isEnvelope: boolean, isTrusted = true): Hunk {
    const begin = this.at
    const anchors: Array<string> = []
    let header: RegExpExecArray | null = null
    for (; this.line.startsWith("@@"); this.at++) {
      const found = hunkHeader.exec(this.line)
      if (found === null && !/^@@(?: |$)/.test(this.line))
        this.flaw(`${excerpt(this.line)} is no header of a hunk (@@ -1,3 +1,4 @@)`)
      header = found ?? header
      const said =
        found === null
          ? this.line
              .slice(2)
              .replace(/@@\s*$/, "")
              .trim()
          : ""
      if (!/^\.*$/.test(said)) anchors.push(said)
    }
    const [, first = "", oldCount = "1", newCount = "1", closing] = header ?? []
    const counts = closing === undefined ? undefined : { old: Number(oldCount), current: Number(newCount) }
    const again = () => {
      this.at = begin
      return this.hunk(isEnvelope, false)
    }
    const lines: Array<Line> = []
    let [old, current] = [0, 0]
    const isOpen = () => isTrusted && counts !== undefined && (old < counts.old || current < counts.current)
    for (; isOpen() ? !this.isAtEnd : !this.isPast; this.at++) {
      const isWhole = isTrusted && counts !== undefined && !isOpen()
      const kind = this.take(lines)
      if (kind === undefined) {
        if (isWhole) break
        if (isTrusted && counts !== undefined) return again()
        const hint = counts === undefined ? "" : `, or the header on line ${begin + 1} counts it wrongly`
        this.flaw(`${excerpt(this.line)}: each line of a hunk begins with a blank, - or +${hint}`)
      }
      if (kind === " " || kind === "-") old++
      if (kind === " " || kind === "+") current++
    }
    const isCounted = () => old === counts?.old && current === counts.current
    // Empty lines below a hunk do not belong to it.
    for (let last = this.at - 1; this.lines[last] === "" && !isCounted(); last--, old--, current--) lines.pop()
    const isRight = counts === undefined || isCounted()
    if (isTrusted && !isRight) return again()
    const adds = lines.every(({ kind }) => kind === "+")
    if (lines.every(({ kind }) => kind === " ")) this.flaw("a hunk that takes no line away and adds none", begin)
    const isNew = adds && !isEnvelope && (this.isNewFile || first === "0")
    if (adds && !isNew && !isEnvelope && anchors.length === 0 && (header === null || !isRight))
      this.flaw(
        "a hunk that only adds lines needs a line of the file above or below them, to tell where they belong",
        begin
      )
    const isLast = isEnvelope && this.line.trimEnd() === "*** End of File"
    if (isLast) this.at++
    const stated = header === null || !isRight ? undefined : Math.max(0, Number(first) - (header[2] === "0" ? 0 : 1))
    return { at: begin + 1, start: isNew ? 0 : stated, anchors, lines, isLast }
  }

  /** Tests whether another file's change follows, and skips the end of the envelope. */
  isWithin(hasBegin: boolean): boolean {
    this.skipEmpty()
    if (this.isAtEnd) return hasBegin ? this.flaw(`the patch ends without ${end}`) : false
    if (this.line.trimEnd() !== end) return true
    this.at++
    this.skipEmpty()
    return this.isAtEnd ? false : this.flaw(`${excerpt(this.line)} stands below ${end}`)
  }

  /** Parses the next file's change between `*** Begin Patch` and `*** End Patch`. */
  inEnvelope(): FileChange {
    const at = this.at + 1
    const [, verb, name = ""] = file.exec(this.line) ?? []
    const path = name.trim()
    if (verb === undefined || path === "")
      this.flaw(`${excerpt(this.line)} is where a file must be named (*** Update File: <file>)`)
    this.at++
    if (verb === "Delete") return { kind: "delete", at, paths: [path], hunks: [], isWhole: true }
    if (verb === "Add") return this.added(at, path)
    const [, to] = /^\*\*\* Move to:(.*)$/.exec(this.line) ?? []
    if (to !== undefined) this.at++
    const hunks = this.hunks(true)
    if (hunks.length === 0 && to === undefined) this.flaw(`nothing of ${excerpt(path)} is changed`)
    return { kind: "update", at, paths: [path], hunks, ...(to === undefined ? {} : { to: to.trim() }) }
  }

  private skipEmpty(): void {
    while (!this.isAtEnd && this.line.trim() === "") this.at++
  }

  private added(at: number, path: string): FileChange {
    const lines: Array<Line> = []
    for (; this.line.startsWith("+"); this.at++) lines.push({ kind: "+", text: `${this.line.slice(1)}\n` })
    this.skipEmpty()
    if (!this.isMarker) this.flaw(`${excerpt(this.line)}: each line of a new file begins with +`)
    const hunks = lines.length === 0 ? [] : [{ at, start: 0, anchors: [], lines, isLast: false }]
    return { kind: "add", at, paths: [path], hunks }
  }

  private get isMarker(): boolean {
    return this.isAtEnd || this.line.startsWith("*** ")
  }

  /** Takes a line of a hunk and returns its first character, or undefined if the line can't belong to a hunk. */
  private take(lines: Array<Line>): Line["kind"] | "\\" | undefined {
    const { line } = this
    const kind = line === "" ? " " : line[0]
    if (kind === "\\") {
      const last = lines.pop()
      if (last !== undefined) lines.push({ kind: last.kind, text: last.text.replace(/\n$/, "") })
      return kind
    }
    if (kind !== " " && kind !== "-" && kind !== "+") return undefined
    const before = lines.findLast((other) => kind === " " || other.kind === " " || other.kind === kind)
    if (before?.text.endsWith("\n") === false) this.flaw(`${excerpt(line)} comes after the end of the file`)
    lines.push({ kind, text: `${line.slice(1)}\n` })
    return kind
  }

  /** True at the end of a hunk. Lines that look like a file's header are a header only above a hunk. */
  private get isPast(): boolean {
    const isNext = this.isHeader && this.lines[this.at + 2]?.startsWith("@@") === true
    return this.isAtEnd || isNext || this.isSignature || /^(?:@@|diff |Index: |\*\*\* )/.test(this.line)
  }
}

/** Tests for a single hunk from the first line on that only adds or only removes lines. */
const isOnly = (what: "+" | "-", [hunk, more]: ReadonlyArray<Hunk>): boolean =>
  hunk?.start === 0 && more === undefined && hunk.lines.every(({ kind }) => kind === what)
