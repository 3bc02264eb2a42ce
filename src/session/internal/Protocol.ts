/**
 * The bash text that is written to a shell, and the frames that it answers with.
 *
 * The shell reads these lines from its standard input. A command's text is never among them: it lies in a file that the
 * shell sources, so that an open quote or here-document is that command's own error. Every word is chosen so that no
 * function, alias, `enable -n` or readonly name of the user's can change its meaning; where one can, a second way
 * follows.
 */

import * as Fs from "node:fs"
import * as Os from "node:os"
import type * as Context from "effect/Context"
import { quote } from "../../bash/Quote.js"
import type { Read } from "../../domain/CommandInput.js"
import * as Fifo from "../Fifo.js"
import { FifoSink, type PipePaths } from "../Fifo.js"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { ShellBridge } from "../ShellBridge.js"
import * as Terminal from "../ShellTerminal.js"
import type { Nonces } from "./FrameReader.js"
import { maxCwd } from "./FrameReader.js"
import * as ShellState from "./ShellState.js"

type Bridge = Context.Tag.Service<ShellBridge>

/**
 * Makes the function that bash calls for a command it did not find. It reports the name, which tells this case from any
 * other exit code 127, or calls the command where it is one of ours. Where `builtin` itself is not found (`enable -n
 * builtin`), it must not call itself without end.
 */
const notFoundFunction = (directory: SessionDirectory, bridge: Bridge): string => {
  const first = `[[ \${FUNCNAME[1]-} != command_not_found_handle ]]`
  const ours = bridge.onNotFound()
  return (
    // Without the options that would show all this; a shell that calls it is a subshell already.
    `command_not_found_handle() { { ${first} && { \\unset -f builtin; \\builtin local -; \\builtin set +vx; }; } 2>/dev/null; ` +
    `${ours === "" ? "" : `if ${first}; then ${ours}; fi; `}` +
    `{ ${first} && \\builtin printf '%s\\0' "$1" 1<>${quote(directory.notFound)}; } 2>/dev/null; ` +
    `${first} && { \\builtin printf 'bash: %s: command not found\\n' "$1" >&2; \\builtin return 127; }; }`
  )
}

/**
 * Makes the file `definitions`: how the shell calls our commands, and reports a command that it did not find. A file is
 * read at once, standard input in blocks.
 */
export const definitions = (directory: SessionDirectory, bridge: Bridge): string =>
  [
    bridge.definitions(directory.path),
    notFoundFunction(directory, bridge),
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
 * Makes the first lines that a shell reads. `cwd` is the directory to change to, and `start` where that one is gone: the
 * answer then tells where the shell is. `restore` sources the state of the last shell, whose functions and aliases take
 * the place of ours.
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
    `\\builtin cd -- ${quote(cwd)} 2>/dev/null||{ \\builtin cd -- ${quote(start)}; __synapse_elsewhere=$PWD; } 2>/dev/null`,
    bridge.enterPath(directory.path),
    "\\builtin history -c; \\builtin set +o history",
    `\\builtin . ${quote(directory.definitions)}`,
    restore ? `\\builtin . ${quote(directory.restore)} >/dev/null 2>&1` : "",
    // The state holds the old PWD.
    `\\builtin [ "\${__synapse_elsewhere-}" ]&&PWD=$__synapse_elsewhere`,
    // Sourced text counts as a script's: without execfail, an `exec` that fails would end the shell.
    "\\builtin set +o history; \\builtin set +H; \\builtin shopt -s execfail; " +
      `\\builtin unset -v HISTFILE MAILCHECK; ${noPrompts}`,
    `${ShellState.set(directory)};${setTexts(directory)};${keepsLast}`,
    // A shell without `builtin` is not bash, and answers in its own way.
    `\\builtin printf '\\036%s %s %s %s %s\\036' ${nonce} "$$" "\${BASH_VERSION-}" "\${__synapse_elsewhere-}" ${nonce}||` +
      `printf '\\036%s %s  %s\\036' ${nonce} "$$" ${nonce}`,
    "\\builtin unset -v __synapse_elsewhere",
    ""
  ].join("\n")

/** Makes the text that tests whether the shell has the streams that it started with. */
const hasOwn = ({ streams }: SessionDirectory): string =>
  `\\builtin [ /dev/fd/10 -ef ${streams.input} ]&&\\builtin [ /dev/fd/1 -ef ${streams.output} ]`

/** The text that looks before a command whether the streams can be told by the supervisor's. */
const remember = (directory: SessionDirectory): string => `__synapse_own=;${hasOwn(directory)}&&__synapse_own=1;`

/** Makes the text that tests whether the shell still has the command's output as its own. */
const isCommands = ({ stderr, stdout }: PipePaths): string =>
  `\\builtin [ /dev/fd/1 -ef ${quote(stdout)} ]||\\builtin [ /dev/fd/2 -ef ${quote(stderr)} ]`

/** Makes the text that ends the shell, with any trap on EXIT; where jobs are stopped, the first `exit` only warns. */
const end = (status: string): string => {
  const exit = `\\builtin exit ${status} 2>/dev/null`
  return `{ __synapse_lost=descriptors;\\builtin eval "\${__synapse_exit-}";${exit};${exit}; }`
}

/**
 * Makes the text that ends a shell whose streams are not its own after a command with these pipes; `status` is the text
 * of the exit code.
 */
const check = (directory: SessionDirectory, pipes: PipePaths, status: string): string =>
  `${isCommands(pipes)}||` +
  `{ \\builtin [ "\${__synapse_own-}" ]&&{ ${hasOwn(directory)}||__synapse_own=lost; };\\builtin [ "$__synapse_own" = lost ]; }&&${end(status)};`

/** Makes the text that does the same where the command's line was left. */
export const checkLeft = (pipes: PipePaths): string => `{ ${isCommands(pipes)}; }&&${end("130")}\n`

/** The paths at which systems have cat. */
const systems = ["/bin/cat", "/usr/bin/cat", "/run/current-system/sw/bin/cat"]

/** Returns the path of `cat`; where it is unknown, its name. */
const cat = (): string => systems.find((path) => Fs.existsSync(path)) ?? "cat"

/** The standard input of one command. It is read no faster than the command reads, and no further once nobody does. */
export class CommandStdin {
  /** Both ends of the FIFO, until the shell has opened it: neither the shell nor whoever writes waits for the other. */
  private both: number | undefined
  private sink: FifoSink | undefined

  private constructor(
    private readonly path: string,
    private readonly read: Read
  ) {
    this.both = Fifo.openBoth(path)
  }

  /** Opens the FIFO for a command; undefined where that can't be done: the command gets no input. */
  static open(path: string, read: Read | undefined): CommandStdin | undefined {
    try {
      return read && new CommandStdin(path, read)
    } catch {
      return undefined
    }
  }

  /** Passes the input on, once the shell has opened the FIFO. */
  begin(): void {
    if (this.both === undefined) return
    try {
      this.sink = new FifoSink(Fifo.openToWrite(this.path))
      void this.pass(this.sink)
    } catch {}
    this.leaveBoth()
  }

  /** Passes nothing on any more. */
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

/** SIGURG by its number, which bash finds faster than its name. */
const urg = Os.constants.signals.SIGURG

/** The beginning of the commands that run the user's. */
const protocols = "\\builtin "

/** The beginning of the command that sources the user's. */
const sourcing = `${protocols}. `

/** The most characters of `$_` that are kept. */
const maxLast = 16_384

/**
 * Makes the trap that is set while a command runs. SIGURG makes the shell interrupt itself: first through a trap on INT
 * that the user may have set, and, should that not end the command, by the default. SIGINT alone would be lost wherever
 * a trap ignores it, and would let a list go on after a child that died otherwise. While the shell waits for a child,
 * no trap runs; once its children are killed, the file `force` tells that the user's trap is skipped.
 *
 * `mayExit`: a shell that begins to exit is left alone the first time, since it would lose its state. Its current
 * command is the one of the protocol's that sources the user's, as it is while a compound command such as `(…)` runs;
 * a command text with one is always interrupted.
 */
const interruptTrap = (directory: SessionDirectory, mayExit: boolean) =>
  quote(
    // The groups keep `set -x` from showing all that. Without it, the user's trap keeps its standard error.
    `{ \\builtin [ ! -e ${quote(directory.yields)} ] && { \\builtin [ -e ${quote(directory.force)} ] && \\builtin trap - INT; ` +
      "\\builtin unset -v PROMPT_COMMAND; \\builtin trap '{ \\builtin trap - INT; \\builtin kill -INT $$; } 2>/dev/null' URG; " +
      (mayExit ? `\\builtin [ "\${BASH_COMMAND:0:${protocols.length}}" != ${quote(protocols)} ] && ` : "") +
      '{ \\builtin [ ! "${-//[^x]}" ] || { \\builtin kill -INT $$; \\builtin [ ]; }; }; }; } 2>/dev/null && \\builtin kill -INT $$'
  )

/** Makes a command which sets `$?` to the status; only a subshell can do that for an arbitrary one. */
const withStatus = (status: number) => (status === 0 ? "" : status === 1 ? "((0))||" : `(\\builtin exit ${status})||`)

/** Makes the beginning of a variable: one character more than is kept, which tells that it is too long. */
const short = (name: string, length: number) => `\${${name}+\${${name}:0:${length + 1}}}`

/** The most characters of the statuses of a pipeline's parts that are reported. */
const maxPipeline = 400

/** The directory that a status frame reports. */
const cwd = short("PWD", maxCwd)

/** The reserved words of the protocol. An alias for one of them changes what every later line means. */
export const reserved: ReadonlyArray<string> = ["{", "}"]

/** The names among them that are aliases. */
const hiding = reserved.map((word) => `\${BASH_ALIASES[\\${word}]+${word === "}" ? "\\}" : word} }`).join("")

/** Removes the aliases for reserved words, so that the next line means what it says; with errexit, a failure ends the shell. */
const dropAliases = `\\builtin unalias ${reserved.map((word) => `'${word}'`).join(" ")} 2>/dev/null||\\builtin :`

/**
 * The commands that keep bash from running what belongs to a prompt. There is none, and what such a text reads from
 * standard input would be the lines of the protocol.
 */
const noPrompts = "\\builtin unset -v PROMPT_COMMAND||\\builtin :;PS0= PS1= PS2="

/** The signals whose traps may read our lines while no command runs; those on INT, URG and EXIT are the protocol's. */
const idleSignals = "HUP QUIT USR1 USR2 PIPE ALRM TERM CHLD CONT TSTP TTIN TTOU WINCH IO VTALRM PROF XCPU XFSZ"

/** Writes the state, which only the session's own trap on EXIT would do, and ends the shell. */
const leave = '\\builtin eval "${__synapse_exit-}"; \\builtin exit'

/** The trap while no command runs: SIGURG makes a prompt or a trap that reads our lines the last one, and ends it next. */
const idleTrap = `\\builtin trap "\${__synapse_idle-:}" ${urg}`

/** The trap while a command runs, by whether its text has a compound command in parentheses. */
const busyTrap = (hasGroup: boolean) => `\\builtin trap "\${__synapse_${hasGroup ? "group" : "busy"}-:}" ${urg}`

/** Sets the texts of the traps, once for a shell: bash takes a time for every character of a line. */
const setTexts = (directory: SessionDirectory) =>
  `__synapse_busy=${interruptTrap(directory, true)} __synapse_group=${interruptTrap(directory, false)} ` +
  `__synapse_idle=${quote(`\\builtin trap - ${idleSignals};\\builtin trap '${leave}' ${urg};${dropAliases};${noPrompts}`)}`

/**
 * The facts that the shell needs before a command: the status of the last one, options that are only set while a command
 * runs, and text that a new shell runs once.
 */
export interface Before {
  readonly status: number
  readonly options: string
  readonly once: string
  /** True where the command may define aliases. */
  readonly aliases: boolean
  /** True where the command may run a pipeline, whose parts' statuses are reported too. */
  readonly pipes: boolean
  /** True where the command may set a trap on EXIT, or another has. */
  readonly exits: boolean
  /** True where the command may close descriptors of the shell's own. */
  readonly closes: boolean
  /** True where the command may run a compound command in parentheses. */
  readonly hasGroup: boolean
  /** True where the command may start something that outlives it. */
  readonly leaves: boolean
  /** True where its last program may go on while the shell no longer waits for it. */
  readonly yields: boolean
  /** The children of the shell whose exit codes are to be reported, once they have ended. */
  readonly children: ReadonlyArray<number>
  /** True where the command may switch the history on, which would then take our lines. */
  readonly remembers: boolean
  /** True where bash may have met the end of a text within a `$(`. */
  readonly isMisparsed: boolean
  /** True where the shell prints what it reads (`set -v`). */
  readonly isVerbose: boolean
  /** What a trap on RETURN would show of itself: nothing, itself where its output is not put aside, or itself anyhow. */
  readonly trace: "none" | "commands" | "input"
}

/** The facts for a text of the program's own, which leaves the shell as it was. */
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

/** The same, with the statuses of the last pipeline's parts. */
const takePipeline = `${takeLast} __synapse_pipeline=\${PIPESTATUS[*]}`

/** Keeps `$_`, which the end of a sourced file sets to that file's name; set after every command for the next one. */
const keepsLast = `\\builtin trap '${takeLast}' RETURN`

/** Makes the trap of a command that the one set for every command does not do for. */
const returnTrap = ({ pipes, trace }: Before): string => {
  if (trace === "input") return "\\builtin trap - RETURN;"
  if (trace === "none" && !pipes) return ""
  const take = pipes ? takePipeline : takeLast
  return `\\builtin trap '${trace === "none" ? take : `{ ${take}; } &>/dev/null`}' RETURN;`
}

/** Makes the text that takes the exit codes of those children that have ended: to wait for them does not block then. */
const takeEnded = (children: ReadonlyArray<number>): string =>
  children
    .map(
      (pid) =>
        `\\builtin kill -0 ${pid} 2>/dev/null||{ \\builtin wait ${pid} 2>/dev/null&&__synapse_ended+=" ${pid}:0"||__synapse_ended+=" ${pid}:$?"; };`
    )
    .join("")

/** Takes the child that `&` has started last, if the shell knows it: of one that it does not, it would not know the exit code. */
const takeLeft = '\\builtin disown -h "${!-}" 2>/dev/null&&__synapse_left=$!;'

/**
 * Makes the command that prints a frame, whatever the user has done to the builtins: no function or alias can take the
 * place of an arithmetic expression, whose error message repeats it as it stands. The record separator at its beginning
 * is that error, so nothing of it is evaluated. The empty expansion keeps this line, should a program that reads it print it,
 * from being a frame.
 */
const printed = (body: string): string => `((\x1e\${-+}${body}\x1e))2>&1||\\builtin :`

/** Makes the command that prints a status frame. */
const printedStatus = (nonce: string, values: ReadonlyArray<string>): string =>
  printed(`${nonce} ${values.join(` ${nonce} `)} ${nonce}`)

/**
 * Makes the redirection of the command's standard input, where it has one. Through `cat`, it is a pipe without a name:
 * once its writer has gone, a FIFO that is opened again (`/dev/stdin`) would wait for another. It is no child of the
 * shell, whose `wait` would wait for it. bash makes that pipe as descriptor 63, which the command must not see. The FIFO
 * itself is the input of the group that runs the command: a `cat` that opened it could come when its writer has gone.
 */
const standardInput = ({ stdin, stdout }: PipePaths): string =>
  stdout === Terminal.device ? ` <${stdout}` : stdin === undefined ? "" : ` < <(${cat()} 2>/dev/null <&0 &) 63<&-`

/**
 * Makes the lines that run the command in the directory and report how it ended.
 *
 * The first line is for whatever reads standard input before a prompt. All the rest is one group: bash runs it whole or
 * not at all, so that what was eaten has not run; and nothing in it reads our lines. The first frame reports that the
 * command begins; without `builtin`, it can't. Then the status is kept, and all that could see the second nonce is
 * switched off. `$_` is kept by a trap, for after a sourced file it is that file's name.
 *
 * bash takes a time for every character here. `nextMark` marks what the command after this one starts.
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
  const source = `${withStatus(before.status)}${sourcing}${quote(directory.command)}`
  const stdin = standardInput(pipes)
  const [aliases, drop] = before.aliases ? [hiding, `${dropAliases};`] : ["", ""]
  const reports = before.leaves || before.yields || before.children.length > 0
  const pipeline = before.pipes ? [short("__synapse_pipeline", maxPipeline)] : reports ? [""] : []
  const ended = takeEnded(before.children)
  const [forgetLeft, left] = reports
    ? ["__synapse_ended= __synapse_left=;", ["$__synapse_ended", "$__synapse_left"]]
    : ["", []]
  return (
    // No alias for the brace can keep the frame from being printed, and let the command run.
    `\n${before.isMisparsed ? `${ShellState.recount}\n` : ""}{ __synapse_status=${before.pipes ? " __synapse_pipeline=" : ""};${forgetLeft}${ended}${busyTrap(before.hasGroup)};${returnTrap(before)}${audience}${before.once}${before.closes ? remember(directory) : ""}${again}` +
    `\\builtin \\printf '\\036%s A\\036%.0s' ${begun} "\${__synapse_last-}"||{ \\builtin :&&${printed(`${begun} A`)}; };` +
    `${before.exits ? ShellState.guarded(source, directory.command, pipes, stdin, before.isVerbose || again.includes("x")) : `${source} >|${quote(pipes.stdout)} 2>|${quote(pipes.stderr)}${stdin}`};` +
    // Where PWD is a reference to `a[$(…)]`, the end runs a command, which must not find the nonce in BASH_COMMAND.
    `__synapse_status="$? $-" __synapse_cwd=${cwd};\\builtin trap - DEBUG RETURN;\\builtin set +x;${shown}${before.closes ? check(directory, pipes, `"\${__synapse_status%% *}"`) : ""}${before.exits ? ShellState.tell(directory) : ""}${ended}${before.leaves || before.yields ? takeLeft : ""}` +
    `${printedStatus(nonces.ended, ["$__synapse_status", "$__synapse_cwd", aliases, ...pipeline, ...left])};` +
    `${idleTrap};${drop}${before.remembers ? "\\builtin set +o history;" : ""}\\unset -f unset builtin;${keepsLast};${ProcessTable.set(nextMark)};${noPrompts}; } <${quote(pipes.stdin ?? "/dev/null")}\n`
  )
}

/**
 * Makes the line that makes the shell report how a command ended whose own line could not, or that it has not begun, and
 * brings the shell in order.
 */
export const probe = ({ begun, ended }: Nonces, nextMark: string, use: Terminal.Use | undefined): string => {
  // It is unset where an error has ended the line: the status is the error's then.
  const status = `\${__synapse_status:+?}\${__synapse_status:-$? $-}`
  return (
    `${printedStatus(ended, [status, cwd, ""])}\n${ShellState.recount}\n` +
    `${use === undefined ? "" : `${Terminal.told(begun)};`}` +
    `\\builtin unset -v __synapse_status;${dropAliases};\\builtin trap - DEBUG RETURN;${idleTrap};${keepsLast};${ProcessTable.set(nextMark)};${noPrompts}\n`
  )
}
