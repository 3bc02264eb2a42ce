/** The state that a session keeps from command to command, and from one shell to the next. */
import type { StatusFrame } from "./FrameReader.js"
import type { Before } from "./Protocol.js"
import * as ShellState from "./ShellState.js"

/** The most characters of a text that are looked through for what it may do; a longer one may do what `eval` may. */
const longestRead = 256 * 1024

/** Tests whether a command may switch on `set -v`. */
const readsAloud = (text: string): boolean =>
  text.includes("verbose") || (text.includes("set") && isFollowed(text, /\bset\b/g, /[-\s]\w*v/))

/** Matches a command that may source or evaluate a text. */
const mayEvaluate = /\b(source|eval)\b|(^|[\s;&|(])\.\s/

/** Matches a command that begins with a file of commands. */
const firstSources = /^\s*(?:\\?(?:builtin|command)\s+)?(?:source|\.)\s/

/** Matches a command that may end its shell itself. */
const mayExit = /\b(?:exit|exec|kill|logout)\b/

/** Matches a command that may switch on `set -x`, or a trap on DEBUG, unless it evaluates a text that does. */
const mayTrace = /\b(set|trap)\b/

/** Matches `&` where it is no part of another operator. */
const mayLeave = /(?<![&<>|])&(?![&>])/

/** Matches a command that may define an alias, unless it evaluates a text that does. */
const mayAlias = /alias|ALIAS/

/** Matches a command with `trap` that may define a function which sets a trap on EXIT; others leave later commands as they are. */
const mayTrapExit = /\b(?:exit|0)\b/i

/** Tests whether a command may open or close a descriptor for good. */
const mayRedirect = (text: string): boolean =>
  text.length > longestRead || (text.includes("exec") && isFollowed(text, /\bexec\b/g, /[<>]/))

/**
 * Tests whether a word has something behind it in its line. Each line is looked at once, from its first such word: one
 * pattern for both would look at a line again for every word in it.
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

/** Matches whatever one of these matches; most commands hold none of it. */
const mayMatter = /histor|set|trap|verbose|alias|ALIAS|source|eval|\./

/** The status of a text that bash can't parse. */
const syntaxError = 2

/** Matches bash's message about a text that ends too early; in another language, the status has to tell. */
const endsEarly = /unexpected EOF/

const nothing: Pick<ShellState.Restoration, "once" | "options"> = { once: "", options: "" }

/** The part of a shell's state that the session has to know outside of it. */
export class SessionState {
  /** The shell's directory, as of the last command that ended. */
  cwd: string
  /** The exit code of the last command, which is the next one's `$?`. */
  status = 0
  /** Bash text that gives the next shell the state of the last; undefined where there is no state to hand on. */
  restoration: string | undefined
  /** The exit codes of the parts of the last command's pipeline. */
  pipeline: ReadonlyArray<number> = []
  /** True where the last command has ended the shell. */
  hasLeft = false
  /** True where the last command may have ended within a `$(`. */
  private isMisparsed = false
  /** True where the user's own tracing (`set -x`) is on; it is off between commands. */
  isTraced = false
  /** True where the shell prints what it reads (`set -v`). */
  private isVerbose = false
  /** The text of the last command. */
  private text = ""
  /** True where a command has named `trap`: a function may set one. */
  private knowsTraps = false
  /** True where a command has redirected a descriptor for good: a function may do it again. */
  private redirects = false
  /** Who has set the trap on EXIT. */
  private exitTrap: ReturnType<typeof ShellState.whose> = "session"
  /** True where a command may have set another trap on EXIT. */
  mayHaveTrapped = false
  /** The part of the last shell's state that only a command's own line can restore. */
  private rest = nothing
  /** True where the user was told that `set -e` ends the shell, and it is still on. */
  private knowsErrexit = false
  /** The names of ours that the user was told to have replaced. */
  private readonly told = new Set<string>()
  private notices: Array<string | (() => string | undefined)> = []

  constructor(readonly directory: string) {
    this.cwd = directory
  }

  /** Forgets everything, so that the next shell starts as the first one did. */
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
    this.told.clear()
    this.notices = []
  }

  /** Returns what the shell must know before a command, and forgets what a new shell needs once. */
  takeBefore(text: string, children: ReadonlyArray<number>, yields: boolean): Before {
    const { exitTrap, isMisparsed, rest } = this
    // With errexit, bash ends at a file that is not there with the exit code of the command before.
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

  /** Adds a notice, which comes with the next result; a function is called only then, and may find that there is none. */
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

  /** Keeps the status of a command that has ended; `stderr` may tell of a text within it that ended too early. */
  end(status: number, stderr: string): void {
    this.status = status
    this.isMisparsed ||= status === syntaxError || endsEarly.test(stderr)
  }

  /** Keeps what the shell has told of its trap on EXIT (`ExitTrap.tell`). */
  learnExitTrap(told: string): void {
    this.exitTrap = ShellState.whose(told)
    this.mayHaveTrapped = this.exitTrap !== "session"
  }

  private noteRemoved(names: ReadonlyArray<string>): void {
    if (names.length === 0) return
    this.note(`No alias may have the name of a reserved word that the session needs: removed ${names.join(", ")}.`)
  }

  /** Tells once, while `set -e` is on, that it ends the shell: what may have ended it otherwise is an `exit`. */
  private noteErrexit(lost: string): void {
    if (!this.rest.options.includes("e")) this.knowsErrexit = false
    else if (!this.knowsErrexit && (lost.includes("errexit") || !mayExit.test(this.text))) {
      this.knowsErrexit = true
      this.note("`set -e` ends the shell at each failure; `set +e` undoes it.")
    }
  }

  /** Replaces all notices by one. */
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
