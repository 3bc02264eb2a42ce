/**
 * The bash text that keeps a shell's state at its end, with and without an EXIT trap of the user's.
 *
 * The session's own trap on EXIT writes the state. Where a command may set another, it is run by `guarded`: a trap on
 * DEBUG is set before it. bash puts that aside while a sourced file runs, so that it costs nothing, and sets it again
 * where the shell's exit leaves the file: it runs before the first command of the user's trap, and writes the state
 * there. (An `exit` in a function does not leave the file first, as the user's trap sees the function's variables.)
 */
import * as Os from "node:os"
import { quote } from "../../bash/Quote.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { PipePaths } from "./FifoPairs.js"
import * as ShellState from "./ShellState.js"

/** SIGURG by its number, which bash finds faster than its name. */
const urg = Os.constants.signals.SIGURG

/** The beginning of the session's own trap; `exit` does not set the exit codes of a pipeline's parts. */
const first = `{ __synapse_codes="\${__synapse_codes:-$? \${PIPESTATUS[@]}}";\\builtin trap : ${urg};`

/** The session's own trap on EXIT: short, for a user may list the traps. The group keeps `set -x` from showing it. */
const trap = '{ \\builtin eval "${__synapse_exit-}" || \\builtin :; } 2>/dev/null'

/** The output of `trap -p EXIT` for the session's own trap, and of one that does nothing. */
const sayings = { own: `trap -- '${trap}' EXIT\n`, ignored: "trap -- '' EXIT\n" }

/** The command that runs the user's, and is the current one when the shell exits. */
const evaluating = '\\builtin "$__synapse_by" '

/**
 * Notes that errexit is the cause of an exit: bash has undone a redirection of the user's command then, or the last
 * command has the shell's exit code, which may be by chance where there is an `exit`.
 */
const noteErrexit =
  `\\builtin [ "\${-//[^e]}" ]&&{ \\builtin [ /dev/fd/1 -ef /proc/$PPID/fd/1 ]&&` +
  '__synapse_lost+=errexit||{ __synapse_last=${__synapse_codes%% *} __synapse_rest=" ${__synapse_codes#* } ";' +
  `\\builtin [ "$__synapse_last" != 0 ]&&\\builtin [ "\${__synapse_rest/" $__synapse_last "}" != "$__synapse_rest" ]&&` +
  "__synapse_lost+=failure; }; }"

/** Makes the text of the session's own trap, which writes the state into the FIFO; where that is missing, no state is wanted. */
const own = ({ state }: SessionDirectory): string =>
  // A shell that exits must not be interrupted: the first line is short, since bash reads a line before it runs it. A
  // subshell that is interrupted as it begins still has the trap. Opened for reading too: where the host is gone, opening
  // a FIFO for writing would block forever. The outer groups keep `set -x` from showing the rest.
  `${first} } 2>/dev/null\n` +
  `{ \\builtin [ "\${BASHPID-$$}\${__synapse_told-}" = $$ ] && \\builtin [ -p ${quote(state)} ] && { ${noteErrexit};__synapse_told=1; ` +
  `\\builtin eval ${quote(`\\builtin trap - DEBUG RETURN; ${ShellState.writing}`)} 1<>${quote(state)}; }; } 2>/dev/null`

/** The beginning of the command that sources the user's. */
const sourcing = "\\builtin . "

/**
 * The trap on DEBUG. The user's trap finds the options as they were, and may be interrupted.
 *
 * It also runs before the command that sources the user's, and once more where that fails and the user's trap on ERR
 * runs for it. That one has run for the user's own command already: what it prints now goes nowhere.
 *
 * The first line holds no quotes, and a syntax error: after a text that ended within a `$(`, bash 5.2 counts open quotes
 * from below zero, and writes each one before the memory that is theirs (`Protocol`), until an error sets that right. With
 * errexit, that error would end the shell.
 */
const beforeUsers =
  "{ __synapse_codes=$?\\ ${PIPESTATUS[@]}; case $- in *e*) ;; *) \\builtin eval \\) || \\builtin :;; esac; } 2>/dev/null\n" +
  `{ \\builtin [ "\${BASH_COMMAND:0:${evaluating.length}}" = ${quote(evaluating)} ] && { __synapse_options=\${-//[^ex]}; ` +
  `\\builtin eval "\${__synapse_exit-}"; \\builtin trap "\${__synapse_busy-:}" ${urg}; ` +
  `\\builtin [ "$__synapse_options" ] && \\builtin set -$__synapse_options; }; __synapse_codes=; ` +
  `\\builtin [ "\${BASH_COMMAND:0:${sourcing.length}}" = ${quote(sourcing)} ] && __synapse_seen+=1; \\builtin : "\${__synapse_last-}"; ` +
  // With errexit, the shell ends here, and the trap on EXIT follows.
  `((\${#__synapse_seen}<2)) || \\builtin [ "\${-//[^e]}" ] || { \\builtin trap - DEBUG; \\builtin [ "\${-//[^x]}" ]; }; } 2>/dev/null || ` +
  // Behind `builtin`, it would be undone.
  "\\exec </dev/null >/dev/null 2>&1"

/** Makes the text that sets the session's trap and the variables that `guarded` and `look` need, once for a shell. */
export const set = (directory: SessionDirectory): string =>
  `__synapse_told= __synapse_lost= __synapse_codes= __synapse_exit=${quote(own(directory))} __synapse_exiting=${quote(beforeUsers)};\\builtin trap ${quote(trap)} EXIT`

/**
 * Makes the text that runs a command which may set a trap on EXIT; `source` begins the command that sources it, by
 * `path`.
 */
export const guarded = (
  source: string,
  path: string,
  { stderr, stdout }: PipePaths,
  stdin: string,
  isShown: boolean
): string => {
  // bash undoes the innermost redirection before it runs the trap. The trace of our own command must not be shown: it
  // goes to the shell's standard error, and so do the messages of a trap while the user traces (`set -x`, `set -v`).
  const [inner, outer] = isShown ? [` 2>|${quote(stderr)}`, ""] : ["", ` 2>|${quote(stderr)}`]
  const arm = `{ __synapse_seen=; \\builtin [ -o functrace ]||\\builtin trap "\${__synapse_exiting-}" DEBUG; } 2>/dev/null`
  const text = `${arm};${source}${stdin === "" ? " </dev/null" : stdin}${inner}`
  return (
    `__synapse_by=eval __synapse_text=${quote(text)};` +
    `\\builtin eval 2>/dev/null||{ __synapse_by=. __synapse_text=${quote(path)}; };` +
    `${evaluating}"$__synapse_text" </dev/null >|${quote(stdout)}${outer}`
  )
}

/** Makes the text that tells after a command which trap is set. */
export const tell = ({ state }: SessionDirectory): string =>
  `\\builtin [ ! -p ${quote(state)} ]||\\builtin trap -p EXIT 1<>${quote(state)}||\\builtin :;`

/** Returns whose trap it is, from what `tell` has told: nobody's where there is none, or one that does nothing. */
export const whose = (told: string): "session" | "user" | "nobody" =>
  told === "" || told === sayings.ignored ? "nobody" : told === sayings.own ? "session" : "user"

/** The text that sets the session's trap again. */
export const again = `\\builtin trap ${quote(trap)} EXIT;`

/** Matches the session's own traps in a list: those on EXIT and RETURN, and that which interrupts a command. */
const listed = /^trap -- '\{ (?:[^\n]*__synapse_[^\n]*' (?:EXIT|RETURN)|\\builtin \[ -e [^\n]*' (?:SIG)?URG)\n/gm

/** Removes the session's own traps from a list of traps. */
export const hide = (chunk: Buffer): Buffer =>
  chunk.includes("trap -- '{ ") ? Buffer.from(chunk.toString("latin1").replaceAll(listed, ""), "latin1") : chunk
