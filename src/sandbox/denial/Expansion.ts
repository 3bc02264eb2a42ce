/**
 * What bash makes of a word where that can be known without running anything: `~`, `$HOME` and the variables that are
 * known; of a glob, the directory that it looks into.
 *
 * @since 0.1.0
 */
import { Scanner } from "../../bash/Scanner.js"
import type { Word } from "../../bash/Token.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Known {
  readonly home: string | undefined
  /** The values of variables: HOME and PWD too where they are known. */
  readonly variables: ReadonlyMap<string, string>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Expanded {
  /** undefined where it can't be known. */
  readonly text: string | undefined
  /** Whether `text` is only the beginning, up to the last slash before a glob or braces. */
  readonly partial: boolean
  /** The texts of the commands in it: of `$(…)`, `<(…)` and backquotes. */
  readonly commands: ReadonlyArray<string>
}

const variable = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/y
/** In an unquoted value they would make several words, or a glob. */
const splitting = /[\s*?[\\]/
const assignment = /^[A-Za-z_]\w*=(?=~)/

/**
 * @since 0.1.0
 */
export const expand = (command: string, word: Word, known: Known): Expanded => {
  if (!word.expands) return { text: word.value, partial: false, commands: [] }
  return new Expander(command.slice(word.start, word.end), known).run()
}

class Expander {
  private at = 0
  private text: string | undefined = ""
  private cut: number | undefined
  private inQuotes = false
  private readonly commands: Array<string> = []

  constructor(
    private readonly raw: string,
    private readonly known: Known
  ) {}

  run(): Expanded {
    const { raw } = this
    const [name = ""] = assignment.exec(raw) ?? []
    this.add(name)
    this.at = name.length
    if (raw[this.at] === "~") this.tilde()
    while (this.at < raw.length) this.step(raw[this.at] as string)
    const { commands, cut, text } = this
    if (text === undefined || cut === undefined) return { text, partial: false, commands }
    const slash = text.lastIndexOf("/", cut - 1)
    return { text: slash < 0 ? undefined : text.slice(0, slash + 1), partial: true, commands }
  }

  private add(text: string | undefined): void {
    this.text = text === undefined || this.text === undefined ? undefined : this.text + text
  }

  private tilde(): void {
    this.at++
    const next = this.raw[this.at]
    this.add(next === undefined || next === "/" ? this.known.home : undefined)
  }

  private step(character: string): void {
    const { inQuotes, raw } = this
    const next = raw[this.at + 1] ?? ""
    if (character === '"') {
      this.inQuotes = !inQuotes
      this.at++
    } else if (character === "\\") {
      if (next !== "\n") this.add(inQuotes && !'$`"\\'.includes(next) ? `\\${next}` : next)
      this.at += 2
    } else if (character === "$") this.dollar(next)
    else if (character === "`") this.backquotes()
    else if (inQuotes) this.take()
    else if (character === "'") this.quoted(this.at)
    else if ((character === "<" || character === ">") && next === "(") this.substitution(this.at + 2)
    else {
      if ("*?[{".includes(character)) this.cut ??= this.text?.length
      this.take()
    }
  }

  private take(): void {
    this.add(this.raw[this.at++])
  }

  /** `'…'` and `$'…'`, as the tokenizer reads them. */
  private quoted(quote: number): void {
    const end = (this.raw[this.at] === "$" ? /\$'(?:\\[\s\S]|[^\\'])*'/y : /'[^']*'/y) as RegExp
    end.lastIndex = this.at
    const [written = this.raw.slice(quote)] = end.exec(this.raw) ?? []
    const word = new Scanner(written).next()
    this.add(word?._tag === "Word" ? word.value : undefined)
    this.at += written.length
  }

  private dollar(next: string): void {
    if (next === "'" && !this.inQuotes) return this.quoted(this.at + 1)
    if (next === '"' && !this.inQuotes) {
      this.at++
      return
    }
    if (next === "(" && this.raw[this.at + 2] !== "(") return this.substitution(this.at + 2)
    variable.lastIndex = this.at
    const [written, braced, bare] = variable.exec(this.raw) ?? []
    const value = this.known.variables.get(braced ?? bare ?? "")
    const whole = written === undefined && /[\w{(@*#?$!-]/.test(next)
    if (whole) {
      // What this is, and where it ends, is not for a look at the text to say.
      this.text = undefined
      this.at = this.raw.length
    } else if (written === undefined) this.take()
    else {
      this.add(value !== undefined && (this.inQuotes || !splitting.test(value)) ? value : undefined)
      this.at += written.length
    }
  }

  private substitution(from: number): void {
    const end = new Scanner(this.raw).endOfCommands(from)
    if (end > 0) this.commands.push(this.raw.slice(from, end - 1))
    this.text = undefined
    this.at = end > 0 ? end : this.raw.length
  }

  private backquotes(): void {
    const match = /`((?:\\[\s\S]|[^\\`])*)`/y
    match.lastIndex = this.at
    const [written = this.raw.slice(this.at), inner] = match.exec(this.raw) ?? []
    if (inner !== undefined) this.commands.push(inner.replace(/\\([$`\\])/g, "$1"))
    this.text = undefined
    this.at += written.length
  }
}
