/** Colours for a terminal. The lines are escaped already, and colours do not change their width. */

const paint =
  (code: string) =>
  (text: string): string =>
    text === "" ? "" : `\x1b[${code}m${text}\x1b[m`

const bold = paint("1")
const dim = paint("2")
const red = paint("31")
const green = paint("32")
const cyan = paint("36")

const signs: Readonly<Record<string, (text: string) => string>> = { "✗": red, "✓": green, "•": dim }

/** Colours the line of a call or a task: its sign, its name, and how it failed (`end`). */
export const step = (line: string, end = ""): string => {
  const [, margin = "", sign, name = "", rest = ""] = /^([ ├─]*)([✗✓•]) ((?:[\w:.@-]+(?=\())?)(.*)$/s.exec(line) ?? []
  if (sign === undefined) return line
  const failure = sign === "✗" && rest.endsWith(end) ? end : ""
  return `${dim(margin)}${signs[sign]?.(sign) ?? sign} ${bold(name)}${rest.slice(0, rest.length - failure.length)}${red(failure)}`
}

/** Colours the lines of a result: the one that tells a denial, and diffs. */
export const result = (lines: ReadonlyArray<string>, denialAt: number): ReadonlyArray<string> => {
  const isDiff = lines.some((line) =>
    /^ {2}[ └][ ─] (?:@@ |diff --git |\+\+\+ |Replaced \d+ occurrences? in )/.test(line)
  )
  return lines.map((line, at) => {
    const [, margin = "", text = line] = /^( {2}[ └][ ─] )(.*)$/s.exec(line) ?? []
    return dim(margin) + (at === denialAt ? red(text) : isDiff ? change(text) : text)
  })
}

/** Colours a line of a diff. */
export const change = (text: string): string => {
  if (/^(?:\+\+\+|---|diff )/.test(text)) return bold(text)
  if (text.startsWith("@@")) return cyan(text)
  return text.startsWith("+") ? green(text) : text.startsWith("-") ? red(text) : text
}

/** Renders Markdown line by line: headings, code, and bold words. Other markup stays as written. */
export class Markdown {
  private isCode = false

  line(text: string): string {
    if (/^\s*(?:```|~~~)/.test(text)) {
      this.isCode = !this.isCode
      return dim(text)
    }
    if (this.isCode) return cyan(text)
    const [, heading] = /^#{1,6} +(.*?)(?: +#+)?$/.exec(text) ?? []
    if (heading !== undefined) return bold(heading.replaceAll("**", ""))
    return text.replace(/`([^`]+)`|\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g, (_, code?: string, strong?: string) =>
      code === undefined ? bold(strong ?? "") : cyan(code)
    )
  }

  /** Ends a text, so that the next one does not begin inside a code block. */
  end(): void {
    this.isCode = false
  }
}
