/**
 * The bash text written to a shell, and the frames that the shell answers with.
 *
 * The shell reads these lines from its standard input. A command's text is never among them. It lies in a file that
 * the shell sources, so that an open quote or here-document is the command's own error.
 *
 * Each word is chosen so that no function, alias, `enable -n` or readonly name of the user's can change its meaning.
 * If one can, a second way follows.
 */

import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import { quote } from "../../bash/Quote.js"
import type { Read } from "../../domain/CommandInput.js"
import * as Fifo from "../Fifo.js"
import { FifoSink, type PipePaths } from "../Fifo.js"
import * as ProcessTable from "../ProcessTable.js"
import * as RandomText from "../RandomText.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { ShellBridge } from "../ShellBridge.js"
import * as Terminal from "../ShellTerminal.js"
import * as ShellState from "./ShellState.js"

type Bridge = Context.Tag.Service<ShellBridge>

/** The most characters of a reported directory. */
const maxCwd = 4096

/**
 * Makes the function that bash calls for a command it did not find. The function calls a Synapse command, or reports
 * the name, which tells this case from any other exit code 127.
 *
 * If `builtin` itself is not found (`enable -n builtin`), the function must not call itself endlessly.
 */
const notFoundFunction = (directory: SessionDirectory, bridge: Bridge): string => {
  const first = `[[ \${FUNCNAME[1]-} != command_not_found_handle ]]`
  const ours = bridge.onNotFound()
  return (
    // Switches off the options that would show all this. A shell that calls the function is a subshell already.
    `command_not_found_handle() { { ${first} && { \\unset -f builtin; \\builtin local -; \\builtin set +vx; }; } 2>/dev/null; ` +
    `${ours === "" ? "" : `if ${first}; then ${ours}; fi; `}` +
    `{ ${first} && \\builtin printf '%s\\0' "$1" 1<>${quote(directory.notFound)}; } 2>/dev/null; ` +
    `${first} && { \\builtin printf 'bash: %s: command not found\\n' "$1" >&2; \\builtin return 127; }; }`
  )
}

/**
 * Makes the file `definitions`: how the shell calls Synapse commands and reports commands not found. bash reads a
 * file at once, but standard input in blocks.
 */
export const definitions = (directory: SessionDirectory, bridge: Bridge): string =>
  [
    bridge.definitions(directory.path),
    notFoundFunction(directory, bridge),
    `__synapse_return() { \\builtin return "$1"; }`,
    directory.terminal?.definitions() ?? "",
    ProcessTable.set(directory.firstMark),
    ""
  ].join("\n")

/** Returns the names of the functions that the session defines. */
export const names = (directory: SessionDirectory, bridge: Bridge): ReadonlyArray<string> =>
  definitions(directory, bridge)
    .split("\n")
    .map((line) => line.slice(0, Math.max(0, line.indexOf("() "))))
    .filter((name) => /^\w+$/.test(name))

/**
 * Declares the session's variables and the prompts as arrays, because bash never exports an array. After `set -a`, each
 * assignment would otherwise reach every program.
 */
const variables =
  "\\builtin declare -a PS{0,1,2} __synapse{,_busy,_by,_code,_codes,_cwd,_ended,_exit,_exiting,_fd,_group,_idle," +
  "_info,_last,_left,_lost,_options,_own,_pipeline,_rest,_seen,_status,_text,_told}"

/**
 * Makes the first lines that a shell reads. The shell changes to `cwd`, or to `start` if `cwd` is gone; its answer
 * then tells where it is. With `restore`, it sources the last shell's state, whose functions and aliases replace the
 * session's.
 */
export const startUp = (
  directory: SessionDirectory,
  bridge: Bridge,
  nonce: string,
  restore: boolean,
  cwd: string,
  start: string
): string =>
  [
    variables,
    `\\builtin cd -- ${quote(cwd)} 2>/dev/null||{ \\builtin cd -- ${quote(start)}; __synapse_elsewhere=$PWD; } 2>/dev/null`,
    bridge.enterPath(directory.path),
    "\\builtin history -c; \\builtin set +o history",
    `\\builtin . ${quote(directory.definitions)}`,
    restore ? `\\builtin . ${quote(directory.restore)} >/dev/null 2>&1` : "",
    // The restored state contains the old PWD.
    `\\builtin [ "\${__synapse_elsewhere-}" ]&&PWD=$__synapse_elsewhere`,
    // Sourced text counts as a script: without execfail, a failing `exec` would end the shell.
    "\\builtin set +o history; \\builtin set +H; \\builtin shopt -s execfail; " +
      `\\builtin unset -v HISTFILE MAILCHECK; ${noPrompts}`,
    `${ShellState.set(directory)};${setTexts(directory)};${keepsLast}`,
    // A shell without `builtin` is not bash, and answers in its own way.
    `\\builtin printf '\\036%s %s %s %s %s\\036' ${nonce} "$$" "\${BASH_VERSION-}" "\${__synapse_elsewhere-}" ${nonce}||` +
      `printf '\\036%s %s  %s\\036' ${nonce} "$$" ${nonce}`,
    "\\builtin unset -v __synapse_elsewhere",
    ""
  ].join("\n")

/** Makes bash text that tests whether the shell still has the streams that it started with. */
const hasOwn = ({ streams }: SessionDirectory): string =>
  `\\builtin [ /dev/fd/10 -ef ${streams.input} ]&&\\builtin [ /dev/fd/1 -ef ${streams.output} ]`

/** Makes bash text that notes before a command whether the shell's streams can be compared with the supervisor's. */
const remember = (directory: SessionDirectory): string => `__synapse_own=;${hasOwn(directory)}&&__synapse_own=1;`

/** Makes bash text that tests whether the shell's own streams are still the command's pipes. */
const isCommands = ({ stderr, stdout }: PipePaths): string =>
  `\\builtin [ /dev/fd/1 -ef ${quote(stdout)} ]||\\builtin [ /dev/fd/2 -ef ${quote(stderr)} ]`

/** Makes bash text that ends the shell, running any trap on EXIT. With stopped jobs, the first `exit` only warns. */
const end = (status: string): string => {
  const exit = `\\builtin exit ${status} 2>/dev/null`
  return `{ __synapse_lost=descriptors;\\builtin eval "\${__synapse_exit-}";${exit};${exit}; }`
}

/** Makes bash text that ends a shell whose streams a command has replaced. `status` is bash text for the exit code. */
const check = (directory: SessionDirectory, pipes: PipePaths, status: string): string =>
  `${isCommands(pipes)}||` +
  `{ \\builtin [ "\${__synapse_own-}" ]&&{ ${hasOwn(directory)}||__synapse_own=lost; };\\builtin [ "$__synapse_own" = lost ]; }&&${end(status)};`

/** Makes the same for a command whose own line was abandoned. */
export const checkLeft = (pipes: PipePaths): string => `{ ${isCommands(pipes)}; }&&${end("130")}\n`

/** Where systems keep cat. */
const systems = ["/bin/cat", "/usr/bin/cat", "/run/current-system/sw/bin/cat"]

/** Returns the path of `cat`, or just its name if the path is unknown. */
const cat = (): string => systems.find((path) => Fs.existsSync(path)) ?? "cat"

/** One command's standard input, read at the pace of the command and no further than it reads. */
export class CommandStdin {
  /** Holds both ends of the FIFO until the shell has opened it, so that neither side waits for the other. */
  private both: number | undefined
  private sink: FifoSink | undefined

  private constructor(
    private readonly path: string,
    private readonly read: Read
  ) {
    this.both = Fifo.openBoth(path)
  }

  /** Opens the FIFO for a command. Returns undefined if that fails; the command then gets no input. */
  static open(path: string, read: Read | undefined): CommandStdin | undefined {
    try {
      return read && new CommandStdin(path, read)
    } catch {
      return undefined
    }
  }

  /** Starts passing the input on, once the shell has opened the FIFO. */
  begin(): void {
    if (this.both === undefined) return
    try {
      this.sink = new FifoSink(Fifo.openToWrite(this.path))
      void this.pass(this.sink)
    } catch {}
    this.leaveBoth()
  }

  close(): void {
    this.leaveBoth()
    this.sink?.close()
  }

  private leaveBoth(): void {
    if (this.both !== undefined) Fs.closeSync(this.both)
    this.both = undefined
  }

  private async pass(sink: FifoSink): Promise<void> {
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) {
      if (!(await sink.write(chunk))) return
    }
    await sink.end()
  }
}

/** The beginning of the protocol's commands. */
const protocols = "\\builtin "

/** The most characters of `$_` that are kept. */
const maxLast = 16_384

/**
 * Makes the trap on SIGURG for a running command. SIGURG makes the shell interrupt itself: first through the user's
 * trap on INT, if any, and by the default if that did not end the command.
 *
 * SIGINT alone would be lost wherever a trap ignores it, and a list would go on after a child that died otherwise. No
 * trap runs while the shell waits for a child. Once its children are killed, the file `force` says that the user's trap
 * is skipped.
 *
 * `mayExit`: the first SIGURG spares a shell that begins to exit, since it would lose its state. Its current command is
 * then the protocol's command that sources the user's. The same is true while a compound command such as `(…)` runs, so
 * a text with one is always interrupted.
 */
const interruptTrap = (directory: SessionDirectory, mayExit: boolean) =>
  quote(
    // The groups keep `set -x` from showing all that. Outside of them, the user's trap keeps its standard error.
    `{ \\builtin [ ! -e ${quote(directory.yields)} ] && { \\builtin [ -e ${quote(directory.force)} ] && \\builtin trap - INT; ` +
      "\\builtin unset -v PROMPT_COMMAND; \\builtin trap '{ \\builtin trap - INT; \\builtin kill -INT $$; } 2>/dev/null' URG; " +
      (mayExit ? `\\builtin [ "\${BASH_COMMAND:0:${protocols.length}}" != ${quote(protocols)} ] && ` : "") +
      '{ \\builtin [ ! "${-//[^x]}" ] || { \\builtin kill -INT $$; \\builtin [ ]; }; }; }; } 2>/dev/null && \\builtin kill -INT $$'
  )

/** Makes a command that sets `$?`, and keeps `$_`. It starts no process, so that the limit of processes spares it. */
const withStatus = (status: number) =>
  status === 0 ? "" : status === 1 ? "((0))||" : `__synapse_return ${status} "\${__synapse_last-}"||`

/** Makes the beginning of a variable's value: one character more than is kept, to show that it is too long. */
const short = (name: string, length: number) => `\${${name}+\${${name}:0:${length + 1}}}`

/** The most characters reported of a pipeline's exit codes. */
const maxPipeline = 400

const cwd = short("PWD", maxCwd)

/** The protocol's reserved words. An alias for one of them changes the meaning of every later line. */
export const reserved: ReadonlyArray<string> = ["{", "}"]

/** The reserved words that are aliases. */
const hiding = reserved.map((word) => `\${BASH_ALIASES[\\${word}]+${word === "}" ? "\\}" : word} }`).join("")

/** Removes aliases for reserved words, so that the next line means what it says. A failure must not trigger errexit. */
const dropAliases = `\\builtin unalias ${reserved.map((word) => `'${word}'`).join(" ")} 2>/dev/null||\\builtin :`

/**
 * Keeps bash from running prompt text such as PROMPT_COMMAND. No prompt is shown, and such text would read the
 * protocol's lines from standard input.
 */
const noPrompts = "\\builtin unset -v PROMPT_COMMAND||\\builtin :;PS0= PS1= PS2="

/** Signals whose traps may read the protocol's lines between commands. INT, URG and EXIT are the protocol's own. */
const idleSignals = "HUP QUIT USR1 USR2 PIPE ALRM TERM CHLD CONT TSTP TTIN TTOU WINCH IO VTALRM PROF XCPU XFSZ"

/** Writes the state, as only the session's trap on EXIT would do, and ends the shell. */
const leave = '\\builtin eval "${__synapse_exit-}"; \\builtin exit'

/**
 * Sets the trap on SIGURG while no command runs. The first SIGURG removes traps and prompts that may read the
 * protocol's lines; the next one ends the shell.
 */
const idleTrap = `\\builtin trap "\${__synapse_idle-:}" ${ShellState.urg}`

/** Sets the trap on SIGURG while a command runs. `hasGroup`: its text has a compound command in parentheses. */
const busyTrap = (hasGroup: boolean) =>
  `\\builtin trap "\${__synapse_${hasGroup ? "group" : "busy"}-:}" ${ShellState.urg}`

/** Sets the texts of the traps once per shell, since bash takes time for each character of a line. */
const setTexts = (directory: SessionDirectory) =>
  `__synapse_busy=${interruptTrap(directory, true)} __synapse_group=${interruptTrap(directory, false)} ` +
  `__synapse_idle=${quote(`\\builtin trap - ${idleSignals};\\builtin trap '${leave}' ${ShellState.urg};${dropAliases};${noPrompts}`)}`

/**
 * What the shell needs to know before a command. `options` are set only while a command runs; a new shell runs the text
 * `once`.
 */
export interface Before {
  readonly status: number
  readonly options: string
  readonly once: string
  /** True if the command may define aliases. */
  readonly aliases: boolean
  /** True if the command may run a pipeline, whose exit codes are reported too. */
  readonly pipes: boolean
  /** True if the command may set a trap on EXIT, or an earlier one has. */
  readonly exits: boolean
  /** True if the command may close the shell's own descriptors. */
  readonly closes: boolean
  /** True if the command may run a compound command in parentheses. */
  readonly hasGroup: boolean
  /** True if the command may start something that outlives it. */
  readonly leaves: boolean
  /** True if the shell may stop waiting for the command's last program. */
  readonly yields: boolean
  /** The shell's children whose exit codes should be reported once they have ended. */
  readonly children: ReadonlyArray<number>
  /** True if the command may switch on the history, which would then record the protocol's lines. */
  readonly remembers: boolean
  /** True if sourced text may have ended within a `$(`. */
  readonly isMisparsed: boolean
  /** True if the shell prints what it reads (`set -v`). */
  readonly isVerbose: boolean
  /** What the trap on RETURN would print: nothing, its commands unless output is redirected, or always its text. */
  readonly trace: "none" | "commands" | "input"
}

/** The facts for the session's own text, which leaves the shell as it was. */
export const own: Before = {
  status: 0,
  options: "",
  once: "",
  aliases: false,
  pipes: false,
  exits: false,
  closes: false,
  hasGroup: false,
  leaves: false,
  yields: false,
  children: [],
  remembers: false,
  isMisparsed: false,
  isVerbose: false,
  trace: "none"
}

const takeLast = `__synapse_last=\${_:0:${maxLast}}`

/** Takes `$_` and the exit codes of the last pipeline's parts. */
const takePipeline = `${takeLast} __synapse_pipeline=\${PIPESTATUS[*]}`

/** Keeps `$_`, which a sourced file replaces by its name. Set after every command for the next one. */
const keepsLast = `\\builtin trap '${takeLast}' RETURN`

/** Makes the trap on RETURN for a command that needs another one than `keepsLast`. */
const returnTrap = ({ pipes, trace }: Before): string => {
  if (trace === "input") return "\\builtin trap - RETURN;"
  if (trace === "none" && !pipes) return ""
  const take = pipes ? takePipeline : takeLast
  return `\\builtin trap '${trace === "none" ? take : `{ ${take}; } &>/dev/null`}' RETURN;`
}

/**
 * Makes bash text that takes the exit codes of ended children, for which `wait` does not block. `wait -p` leaves its
 * variable unset for a process that is not a child of the shell: the exit code 127 of `wait` is not the process's then.
 */
export const takeEnded = (children: ReadonlyArray<number>): string =>
  children
    .map(
      (pid) =>
        `\\builtin kill -0 ${pid} 2>/dev/null||{ \\builtin wait ${pid} 2>/dev/null&&__synapse_ended+=" ${pid}:0"||__synapse_ended+=" ${pid}:$?";` +
        `\\builtin wait -p __synapse_child ${pid} 2>/dev/null||__synapse_ended+=":\${__synapse_child-}";\\builtin unset -v __synapse_child; };`
    )
    .join("")

/** Takes the child that `&` started last, unless the shell has forgotten it, with its exit code. */
const takeLeft = '\\builtin disown -h "${!-}" 2>/dev/null&&__synapse_left=$!;'

/**
 * Makes the command that prints a frame, whatever the user has done to the builtins. It is an arithmetic expression,
 * which no function or alias can replace, and bash's error message repeats it literally.
 *
 * The record separator in front is the error, so that nothing of the body is evaluated. The empty expansion keeps
 * this line itself from being a frame, if a program reads and prints it.
 */
const printed = (body: string): string => `((\x1e\${-+}${body}\x1e))2>&1||\\builtin :`

const printedStatus = (nonce: string, values: ReadonlyArray<string>): string =>
  printed(`${nonce} ${values.join(` ${nonce} `)} ${nonce}`)

/**
 * Makes the redirection of the command's standard input, if it has one.
 *
 * Through `cat`, the input is a pipe without a name. A FIFO opened again (`/dev/stdin`) after its writer has gone
 * would wait for another writer. `cat` is no child of the shell, since the shell's `wait` would wait for it.
 *
 * The FIFO is the standard input of the whole group. If `cat` opened it, the writer might have ended before.
 */
const standardInput = ({ stdin, stdout }: PipePaths): string =>
  stdout === Terminal.device ? ` <${stdout}` : stdin === undefined ? "" : ` < <(${cat()} 2>/dev/null <&0 &)`

/**
 * Makes the lines that run the command's file and report how it ended.
 *
 * The empty first line is for whatever reads standard input before a prompt. The rest is one group, which bash runs
 * whole or not at all. If part of it was eaten, nothing has run, and nothing within it reads the protocol's lines.
 *
 * The first frame reports that the command begins, which is impossible without `builtin`. Afterwards the status is
 * kept, and everything that could see the second nonce is switched off. A trap keeps `$_`, which a sourced file would
 * replace by its name.
 *
 * bash takes time for each character here. `nextMark` marks what the next command starts.
 */
export const run = (
  directory: SessionDirectory,
  pipes: PipePaths,
  nonces: Nonces,
  before: Before,
  nextMark: string,
  use: Terminal.Use | undefined
): string => {
  const { begun } = nonces
  const audience = directory.terminal === undefined ? "" : `__synapse_${use === undefined ? "agent" : "person"};`
  const shown = use === undefined ? "" : `${Terminal.told(begun)};`
  const again = before.options === "" ? "" : `\\builtin set -${before.options};`
  const source = `${withStatus(before.status)}${ShellState.sourcing}${quote(directory.command)}`
  const stdin = standardInput(pipes)
  const [aliases, drop] = before.aliases ? [hiding, `${dropAliases};`] : ["", ""]
  const reports = before.leaves || before.yields || before.children.length > 0
  const pipeline = before.pipes ? [short("__synapse_pipeline", maxPipeline)] : reports ? [""] : []
  const ended = takeEnded(before.children)
  const [forgetLeft, left] = reports
    ? ["__synapse_ended= __synapse_left=;", ["$__synapse_ended", "$__synapse_left"]]
    : ["", []]
  return (
    // No alias for the brace may suppress the frame and still let the command run.
    `\n${before.isMisparsed ? `${ShellState.recount}\n` : ""}{ __synapse_status=${before.pipes ? " __synapse_pipeline=" : ""};${forgetLeft}${ended}${busyTrap(before.hasGroup)};${returnTrap(before)}${audience}${before.once}${before.closes ? remember(directory) : ""}${again}` +
    `\\builtin \\printf '\\036%s A\\036%.0s' ${begun} "\${__synapse_last-}"||{ \\builtin :&&${printed(`${begun} A`)}; };` +
    `${before.exits ? ShellState.guarded(source, directory.command, pipes, stdin, before.isVerbose || again.includes("x")) : ShellState.withInput(source, stdin, ` >|${quote(pipes.stdout)} 2>|${quote(pipes.stderr)}`)};` +
    // If PWD is a nameref to `a[$(…)]`, reading it runs a command, which must not find the nonce in BASH_COMMAND.
    `__synapse_status="$? $-" __synapse_cwd=${cwd};\\builtin trap - DEBUG RETURN;\\builtin set +x;${shown}${before.closes ? check(directory, pipes, `"\${__synapse_status%% *}"`) : ""}${before.exits ? ShellState.tell(directory) : ""}${ended}${before.leaves || before.yields ? takeLeft : ""}` +
    `${printedStatus(nonces.ended, ["$__synapse_status", "$__synapse_cwd", aliases, ...pipeline, ...left])};` +
    `${idleTrap};${drop}${before.remembers ? "\\builtin set +o history;" : ""}\\unset -f unset builtin;${keepsLast};${ProcessTable.set(nextMark)};${noPrompts}; } <${quote(pipes.stdin ?? "/dev/null")}\n`
  )
}

/**
 * Makes the line that reports how a command ended whose own line could not, or that it has not begun. The line also
 * restores the shell's traps and aliases.
 */
export const probe = ({ begun, ended }: Nonces, nextMark: string, use: Terminal.Use | undefined): string => {
  // The status is empty if an error has ended the command's line. `$?` is the error's then.
  const status = `\${__synapse_status:+?}\${__synapse_status:-$? $-}`
  return (
    `${printedStatus(ended, [status, cwd, ""])}\n${ShellState.recount}\n` +
    `${use === undefined ? "" : `${Terminal.told(begun)};`}` +
    `__synapse_status=;${dropAliases};\\builtin trap - DEBUG RETURN;${idleTrap};${keepsLast};${ProcessTable.set(nextMark)};${noPrompts}\n`
  )
}

/**
 * The secrets of one command. `begun` marks the frame for its start, and the command may learn it. `ended` marks the
 * last frame, and no trap, trace or prompt sees it before that frame is out.
 */
export interface Nonces {
  readonly begun: string
  readonly ended: string
}

/**
 * Makes a nonce of 64 random bits that a command can't guess, so it can't forge a frame. It has only 11 characters,
 * since bash takes time for each.
 */
export const makeNonce = (): string => RandomText.make(8, "base64url")

export const makeNonces = (): Nonces => ({ begun: makeNonce(), ended: makeNonce() })

/** The frame that reports the end of a command. */
export interface StatusFrame {
  readonly status: number
  /** False if the command's own line could not report: after an interrupt, or if it never ran. */
  readonly sure: boolean
  /** The shell's options, as in `$-`. */
  readonly options: string
  /** The shell's directory; empty if the shell does not know it or it is too long. */
  readonly cwd: string
  /** Aliases that were removed because they hid reserved words of the protocol. */
  readonly removed: ReadonlyArray<string>
  /** The exit codes of the last pipeline's parts; empty if it had only one. */
  readonly pipeline: ReadonlyArray<number>
  /** The exit codes of ended children by pid. A code that the shell does not know is undefined. */
  readonly ended: ReadonlyMap<number, number | undefined> | undefined
  /** The child that `&` started last, if any. */
  readonly left: number | undefined
}

/** The most characters that are kept while no frame comes. */
const maxPending = 8 * 1024 ** 2

/** The result for a chunk that is just the frame for the command's start, the usual case. */
const onlyBegun: ReadonlyArray<string> = ["A"]

const none: ReadonlyArray<never> = []

/** Parses the text that `takeEnded` makes. */
export const codesIn = (text: string): ReadonlyMap<number, number | undefined> =>
  new Map(
    Array.from(text.matchAll(/ (\d{1,9}):(?:127:(?!\d)|(\d{1,3}))/g), ([, pid, code]): [number, number | undefined] => [
      Number(pid),
      code === undefined ? undefined : Number(code)
    ])
  )

/** Finds one command's frames in the shell's own standard output. Drops everything else. */
export class FrameReader {
  private pending = ""
  private nonce = ""
  private beginning: string | undefined
  private opening = ""
  private closing = ""
  /** The last reported directory, raw and decoded. */
  private cwd = { latin1: "", text: "" }

  /** Accepts only frames with this nonce from now on. `begun` is the nonce of the first frame, for the start. */
  expect(nonce: string, begun?: string): void {
    this.nonce = nonce
    this.opening = `\x1e${nonce} `
    this.closing = ` ${nonce}\x1e`
    this.beginning = begun === undefined ? undefined : `\x1e${begun} A\x1e`
    this.pending = ""
  }

  /** Returns the bodies of the frames that the chunk completes; `A` for the frame of the command's start. */
  read(chunk: Buffer): ReadonlyArray<string> {
    const text = chunk.toString("latin1")
    if (text === this.beginning && this.pending === "") {
      this.beginning = undefined
      return onlyBegun
    }
    this.pending += text
    const { closing, opening } = this
    const bodies: Array<string> = []
    const begin = this.beginning === undefined ? -1 : this.pending.indexOf(this.beginning)
    if (begin >= 0) {
      bodies.push("A")
      this.pending = this.pending.slice(begin + (this.beginning?.length ?? 0))
      this.beginning = undefined
    }
    for (;;) {
      const start = this.pending.indexOf(opening)
      const end = start < 0 ? -1 : this.pending.indexOf(closing, start + opening.length - 1)
      if (end < 0) break
      bodies.push(this.pending.slice(start + opening.length, end))
      this.pending = this.pending.slice(end + closing.length)
    }
    if (this.pending.length > maxPending) this.pending = this.pending.slice(-maxPending / 2)
    return bodies
  }

  /** Parses the body of a status frame. Returns undefined for any other body. */
  status(body: string): StatusFrame | undefined {
    const [head = "", cwd, removed, pipeline = "", ended = "", left = ""] = body.split(` ${this.nonce} `)
    const match = /^(\??)(\d{1,3}) (\w*)$/.exec(head)
    if (match === null || cwd === undefined || removed === undefined) return undefined
    if (cwd !== this.cwd.latin1) {
      this.cwd = { latin1: cwd, text: cwd.length > maxCwd * 4 ? "" : Buffer.from(cwd, "latin1").toString() }
    }
    return {
      status: Number(match[2]),
      sure: match[1] === "",
      options: match[3] ?? "",
      cwd: this.cwd.text,
      removed: removed === "" ? none : removed.split(" ").filter((name) => name !== ""),
      // With an IFS of the user's own, the codes are not separated.
      pipeline: pipeline !== "" && /^\d{1,3}( \d{1,3})+$/.test(pipeline) ? pipeline.split(" ").map(Number) : none,
      ended: ended === "" ? undefined : codesIn(ended),
      left: /^\d+$/.test(left) ? Number(left) : undefined
    }
  }
}
