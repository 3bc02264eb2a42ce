/** What a session remembers from one command to the next, and from one shell to the next. */
import type { Before, StatusFrame } from "./Protocol.js"
import * as ShellState from "./ShellState.js"

/** The most characters of a command that are searched. A longer command is treated as if it used `eval`. */
export const longestRead = 256 * 1024

/** Tests whether a command may switch on `set -v`. */
const readsAloud = (text: string): boolean =>
  text.includes("verbose") || (text.includes("set") && isFollowed(text, /\bset\b/g, /[-\s]\w*v/))

/** Matches a command that may source or evaluate text. */
const mayEvaluate = /\b(source|eval)\b|(^|[\s;&|(])\.\s/

/** Matches a command that begins by sourcing a file. */
const firstSources = /^\s*(?:\\?(?:builtin|command)\s+)?(?:source|\.)\s/

/** Matches a command that may end its shell itself. */
const mayExit = /\b(?:exit|exec|kill|logout)\b/

/** Matches a command that may switch on `set -x` or set a trap on DEBUG, other than by evaluated text. */
const mayTrace = /\b(set|trap)\b/

/** Matches `&` as an operator of its own. */
const mayLeave = /(?<![&<>|])&(?![&>])/

/** Matches a command that may define an alias, other than by evaluated text. */
const mayAlias = /alias|ALIAS/

/** Matches a command with `trap` that may define a function which sets a trap on EXIT later. */
const mayTrapExit = /\b(?:exit|0)\b/i

/** Tests whether a command may open or close a descriptor for good. */
const mayRedirect = (text: string): boolean =>
  text.length > longestRead || (text.includes("exec") && isFollowed(text, /\bexec\b/g, /[<>]/))

/**
 * Tests whether a word is followed by something in its line. Searches each line once, from its first such word; one
 * combined pattern would search a line again for every such word.
 */
const isFollowed = (text: string, word: RegExp, next: RegExp): boolean => {
  for (let found = word.exec(text); found !== null; found = word.exec(text)) {
    const end = text.indexOf("\n", word.lastIndex)
    if (next.test(end < 0 ? text.slice(word.lastIndex) : text.slice(word.lastIndex, end))) return true
    if (end < 0) return false
    word.lastIndex = end
  }
  return false
}

/** Matches everything that one of these patterns matches. Most commands match nothing. */
const mayMatter = /histor|set|trap|verbose|alias|ALIAS|source|eval|\./

/** The exit code for text that bash can't parse. */
const syntaxError = 2

/** Matches bash's message about text that ends too early. In another language, the exit code has to tell. */
const endsEarly = /unexpected EOF/

const nothing: Pick<ShellState.Restoration, "once" | "options"> = { once: "", options: "" }

export class SessionState {
  /** The shell's directory after the last command that ended. */
  cwd: string
  /** The last command's exit code, which is the next command's `$?`. */
  status = 0
  /** Bash text that restores the last shell's state in the next shell, if there is one to restore. */
  restoration: string | undefined
  /** The exit codes of the last command's pipeline parts. */
  pipeline: ReadonlyArray<number> = []
  /** True if the last command ended the shell. */
  hasLeft = false
  /** True if the last command's text may have ended within a `$(`. */
  private isMisparsed = false
  /** True if the user's own tracing (`set -x`) is on. The session switches it off between commands. */
  isTraced = false
  /** True if the shell prints what it reads (`set -v`). */
  private isVerbose = false
  private text = ""
  /** True if a command has mentioned `trap`, since a function may set one later. */
  private knowsTraps = false
  /** True if a command has redirected a descriptor for good, since a function may do it again. */
  private redirects = false
  private exitTrap: ReturnType<typeof ShellState.whose> = "session"
  /** True if a command may have set its own trap on EXIT. */
  mayHaveTrapped = false
  /** The part of the last shell's state that only a command's own line can restore. */
  private rest = nothing
  /** True if the user was told that `set -e` ends the shell, and it is still on. */
  private knowsErrexit = false
  private knowsYield = false
  /** The overridden names of Synapse commands that the user was told about. */
  private readonly told = new Set<string>()
  private notices: Array<string | (() => string | undefined)> = []

  constructor(readonly directory: string) {
    this.cwd = directory
  }

  /** Forgets everything, so that the next shell starts like the first one. */
  reset(): void {
    this.cwd = this.directory
    this.status = 0
    this.restoration = undefined
    this.isMisparsed = false
    this.isTraced = false
    this.isVerbose = false
    this.knowsTraps = false
    this.redirects = false
    this.exitTrap = "session"
    this.mayHaveTrapped = false
    this.rest = nothing
    this.knowsErrexit = false
    this.knowsYield = false
    this.told.clear()
    this.notices = []
  }

  /** Returns what the shell must know before a command, and clears what is needed only once per shell. */
  takeBefore(text: string, children: ReadonlyArray<number>, yields: boolean): Before {
    const { exitTrap, isMisparsed, rest } = this
    // With errexit, sourcing a missing file ends bash with the exit code of the previous command.
    const status = rest.options.includes("e") && firstSources.test(text) ? 0 : this.status
    const options = `${rest.options}${this.isTraced && !rest.options.includes("x") ? "x" : ""}`
    const isLong = text.length > longestRead
    const matters = isLong || mayMatter.test(text)
    const evaluates = isLong || (matters && mayEvaluate.test(text))
    const isVerbose = this.isVerbose || (matters && readsAloud(text))
    const trace = isVerbose
      ? "input"
      : options !== "" || evaluates || (matters && mayTrace.test(text))
        ? "commands"
        : "none"
    this.text = text
    const traps = matters && text.includes("trap")
    this.knowsTraps ||= traps && mayTrapExit.test(text)
    this.redirects ||= mayRedirect(text)
    this.rest = nothing
    this.isMisparsed = evaluates
    this.hasLeft = false
    this.pipeline = []
    const pipes = text.includes("|")
    const exits = traps || this.knowsTraps || this.exitTrap === "user" || evaluates
    this.mayHaveTrapped ||= exits
    return {
      status,
      isMisparsed,
      isVerbose: this.isVerbose,
      trace,
      pipes,
      exits,
      remembers: evaluates || (matters && text.includes("histor")),
      closes: this.redirects || evaluates,
      hasGroup: text.includes("("),
      yields,
      leaves: isLong || (text.includes("&") && mayLeave.test(text)) || text.includes("job:start"),
      children,
      aliases: evaluates || (matters && mayAlias.test(text)),
      once: exitTrap === "nobody" ? `${rest.once}${ShellState.again}` : rest.once,
      options
    }
  }

  /** Adds a notice to the next result. A function is called only then, and may return nothing. */
  note(notice: string | (() => string | undefined)): void {
    this.notices.push(notice)
  }

  /** Keeps what the shell has reported at the end of a command. */
  learn({ cwd, options, pipeline, removed }: StatusFrame): void {
    this.pipeline = pipeline
    this.isTraced = options.includes("x")
    this.isVerbose = options.includes("v")
    if (!options.includes("e")) this.knowsErrexit = false
    if (cwd !== "") this.cwd = cwd
    this.noteRemoved(removed)
  }

  /** Keeps an ended command's exit code. `stderr` may show that evaluated text ended too early. */
  end(status: number, stderr: string): void {
    this.status = status
    this.isMisparsed ||= status === syntaxError || endsEarly.test(stderr)
  }

  /** Keeps what the shell has reported about its trap on EXIT (`ShellState.tell`). */
  learnExitTrap(told: string): void {
    this.exitTrap = ShellState.whose(told)
    this.mayHaveTrapped = this.exitTrap !== "session"
  }

  private noteRemoved(names: ReadonlyArray<string>): void {
    if (names.length === 0) return
    this.note(`No alias may have the name of a reserved word that the session needs: removed ${names.join(", ")}.`)
  }

  /** Notes once that `set -e` ends the shell. An end may also come from an `exit` in the command. */
  private noteErrexit(lost: string): void {
    if (!this.rest.options.includes("e")) this.knowsErrexit = false
    else if (!this.knowsErrexit && (lost.includes("errexit") || !mayExit.test(this.text))) {
      this.knowsErrexit = true
      this.note("`set -e` ends the shell at each failure; `set +e` undoes it.")
    }
  }

  /** Notes once that a command could not become a job when its yield was over. */
  noteYield(): void {
    if (this.knowsYield) return
    this.knowsYield = true
    this.note(
      "yield takes only the last program or pipeline of a line, outside of ( ). yield=0 makes a job of any line."
    )
  }

  noteOnly(notice: string): void {
    this.notices = [notice]
  }

  takeNotices(): ReadonlyArray<string> {
    return this.notices.splice(0).flatMap((notice) => (typeof notice === "string" ? notice : (notice() ?? [])))
  }

  /** Keeps the state that an ended shell has written, for the next shell. */
  handOver(said: string, next: ShellState.Next): void {
    this.exitTrap = "session"
    const restoration = ShellState.restoration(said, next)
    this.hasLeft = true
    this.pipeline = restoration?.pipeline ?? []
    this.restoration = restoration?.text
    this.rest = restoration ?? nothing
    this.noteRemoved(restoration?.removed ?? [])
    const { closed = [], coprocesses = [], lost = "" } = restoration ?? {}
    if (closed.length > 0) this.note(`Descriptors that the shell had opened are closed: ${closed.join(", ")}.`)
    if (coprocesses.length > 0)
      this.note(`The shell no longer reads from and writes to the coprocess ${coprocesses.join(", ")}.`)
    if (lost.startsWith("descriptors")) {
      this.note(
        "The command closed or replaced descriptors of the shell's own, which keeps them at 10 to 13 (let bash choose: " +
          "`exec {fd}>file`). A new shell goes on with its variables, functions and options."
      )
    }
    this.cwd = restoration?.directory ?? this.cwd
    this.noteErrexit(lost)
    const own = restoration?.own.filter((name) => !this.told.has(name)) ?? []
    if (own.length === 0) return
    for (const name of own) this.told.add(name)
    const quoted = (prefix: string) => own.map((name) => `\`${prefix}${name}\``).join(", ")
    this.note(`Your own ${quoted("")} go before the session's; call those as ${quoted("command ")}.`)
  }
}
