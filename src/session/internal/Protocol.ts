/**
 * The bash text that is written to a shell, and the frames that it answers with.
 *
 * The shell reads these lines from its standard input. A command's text is never among them: it lies in a file that the
 * shell sources, so that an open quote or here-document is that command's own error. Every word is chosen so that no
 * function, alias, `enable -n` or readonly name of the user's can change its meaning; where one can, a second way
 * follows.
 */
import * as Os from "node:os"
import { quote } from "../../bash/Quote.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import * as CommandMark from "./CommandMark.js"
import * as CommandStdin from "./CommandStdin.js"
import * as ExitTrap from "./ExitTrap.js"
import type { PipePaths } from "./FifoPairs.js"
import { maxCwd } from "./FrameReader.js"
import type { Nonces } from "./Nonce.js"
import * as OwnDescriptors from "./OwnDescriptors.js"

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
    `{ \\builtin [ -e ${quote(directory.force)} ] && \\builtin trap - INT; ` +
      "\\builtin unset -v PROMPT_COMMAND; \\builtin trap '{ \\builtin trap - INT; \\builtin kill -INT $$; } 2>/dev/null' URG; " +
      (mayExit ? `\\builtin [ "\${BASH_COMMAND:0:${protocols.length}}" != ${quote(protocols)} ] && ` : "") +
      '{ \\builtin [ ! "${-//[^x]}" ] || { \\builtin kill -INT $$; \\builtin [ ]; }; }; } 2>/dev/null && \\builtin kill -INT $$'
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
export const noPrompts = "\\builtin unset -v PROMPT_COMMAND||\\builtin :;PS0= PS1= PS2="

/** The signals whose traps may read our lines while no command runs; those on INT, URG and EXIT are the protocol's. */
const idleSignals = "HUP QUIT USR1 USR2 PIPE ALRM TERM CHLD CONT TSTP TTIN TTOU WINCH IO VTALRM PROF XCPU XFSZ"

/** Writes the state, which only the session's own trap on EXIT would do, and ends the shell. */
const leave = '\\builtin eval "${__synapse_exit-}"; \\builtin exit'

/** The trap while no command runs: SIGURG makes a prompt or a trap that reads our lines the last one, and ends it next. */
const idleTrap = `\\builtin trap "\${__synapse_idle-:}" ${urg}`

/** The trap while a command runs, by whether its text has a compound command in parentheses. */
const busyTrap = (hasGroup: boolean) => `\\builtin trap "\${__synapse_${hasGroup ? "group" : "busy"}-:}" ${urg}`

/** Sets the texts of the traps, once for a shell: bash takes a time for every character of a line. */
export const setTexts = (directory: SessionDirectory) =>
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
  /** True where the command may switch the history on, which would then take our lines. */
  readonly remembers: boolean
  /** True where bash may have met the end of a text within a `$(`. */
  readonly isMisparsed: boolean
  /** True where the shell prints what it reads (`set -v`). */
  readonly isVerbose: boolean
  /** What a trap on RETURN would show of itself: nothing, itself where its output is not put aside, or itself anyhow. */
  readonly trace: "none" | "commands" | "input"
}

/**
 * A line that bash refuses, and begins to read anew after. Where a text that it sourced or evaluated ended within a `$(`,
 * bash 5.2 counts open quotes from below zero: each one is written before the memory that is theirs, and the shell aborts
 * some commands later.
 */
const refused = ")\n"

const takeLast = `__synapse_last=\${_:0:${maxLast}}`

/** The same, with the statuses of the last pipeline's parts. */
const takePipeline = `${takeLast} __synapse_pipeline=\${PIPESTATUS[*]}`

/** Keeps `$_`, which the end of a sourced file sets to that file's name; set after every command for the next one. */
export const keepsLast = `\\builtin trap '${takeLast}' RETURN`

/** Makes the trap of a command that the one set for every command does not do for. */
const returnTrap = ({ pipes, trace }: Before): string => {
  if (trace === "input") return "\\builtin trap - RETURN;"
  if (trace === "none" && !pipes) return ""
  const take = pipes ? takePipeline : takeLast
  return `\\builtin trap '${trace === "none" ? take : `{ ${take}; } &>/dev/null`}' RETURN;`
}

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
 * shell, whose `wait` would wait for it. bash makes that pipe as descriptor 63, which the command must not see.
 */
const standardInput = ({ stdin }: PipePaths): string =>
  stdin === undefined ? "" : ` < <(${CommandStdin.cat()} <${quote(stdin)} 2>/dev/null &) 63<&-`

/**
 * Makes the lines that run the command in the directory and report how it ended.
 *
 * The first line is for whatever reads standard input before a prompt. All the rest is one group: bash runs it whole or
 * not at all, so that what was eaten has not run; and nothing in it reads our lines. The first frame reports that the
 * command begins; without `builtin`, it can't. Then the status is kept, and all that could see the second nonce is
 * switched off. `$_` is kept by a trap, for after a sourced file it is that file's name.
 *
 * bash takes a time for every character here. `nextMark` marks what the command after this one starts (`CommandMark`).
 */
export const run = (
  directory: SessionDirectory,
  pipes: PipePaths,
  nonces: Nonces,
  before: Before,
  nextMark: string
): string => {
  const { begun, ended } = nonces
  const again = before.options === "" ? "" : `\\builtin set -${before.options};`
  const source = `${withStatus(before.status)}${sourcing}${quote(directory.command)}`
  const stdin = standardInput(pipes)
  const [aliases, drop] = before.aliases ? [hiding, `${dropAliases};`] : ["", ""]
  const pipeline = before.pipes ? [short("__synapse_pipeline", maxPipeline)] : []
  return (
    // No alias for the brace can keep the frame from being printed, and let the command run.
    `\n${before.isMisparsed ? refused : ""}{ __synapse_status=${before.pipes ? " __synapse_pipeline=" : ""};${busyTrap(before.hasGroup)};${returnTrap(before)}${before.once}${before.closes ? OwnDescriptors.remember : ""}${again}` +
    `\\builtin \\printf '\\036%s A\\036%.0s' ${begun} "\${__synapse_last-}"||{ \\builtin :&&${printed(`${begun} A`)}; };` +
    `${before.exits ? ExitTrap.guarded(source, directory.command, pipes, stdin, before.isVerbose || again.includes("x")) : `${source} >|${quote(pipes.stdout)} 2>|${quote(pipes.stderr)}${stdin}`};` +
    // Where PWD is a reference to `a[$(…)]`, this runs a command, which must not find the nonce in BASH_COMMAND.
    `__synapse_status="$? $-" __synapse_cwd=${cwd};\\builtin trap - DEBUG RETURN;\\builtin set +x;${before.closes ? OwnDescriptors.check(pipes, `"\${__synapse_status%% *}"`) : ""}${before.exits ? ExitTrap.tell(directory) : ""}` +
    `${printedStatus(ended, ["$__synapse_status", "$__synapse_cwd", aliases, ...pipeline])};` +
    `${idleTrap};${drop}${before.remembers ? "\\builtin set +o history;" : ""}\\unset -f unset builtin;${keepsLast};${CommandMark.set(nextMark)};${noPrompts}; } </dev/null\n`
  )
}

/**
 * Makes the line that makes the shell report how a command ended whose own line could not, or that it has not begun, and
 * brings the shell in order.
 */
export const probe = ({ ended }: Nonces, nextMark: string): string => {
  // It is unset where an error has ended the line: the status is the error's then.
  const status = `\${__synapse_status:+?}\${__synapse_status:-$? $-}`
  return (
    `${printedStatus(ended, [status, cwd, ""])}\n` +
    `\\builtin unset -v __synapse_status;${dropAliases};\\builtin trap - DEBUG RETURN;${idleTrap};${keepsLast};${CommandMark.set(nextMark)};${noPrompts}\n`
  )
}
