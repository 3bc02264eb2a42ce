/**
 * The bash text that is written to a shell, and the frames that it answers with.
 *
 * The shell reads these lines from its standard input. A command's text is never among them: it lies in a file that the
 * shell sources, so that an open quote or here-document is that command's own error. Every word is chosen so that no
 * function, alias, `enable -n` or readonly name of the user's can change its meaning; where one can, a second way
 * follows.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import { quote } from "../bash/Quote.js"
import { maxReply } from "./FrameReader.js"
import type { PipePaths, SessionDirectory } from "./SessionDirectory.js"
import type { ShellBridge } from "./ShellBridge.js"

/** The bridge through which the shell calls our commands. */
type Bridge = Context.Tag.Service<ShellBridge>

/** The separator between the parts of a state; no shell text can hold it. */
const separator = "\\0"

/**
 * Makes the EXIT trap, which writes the shell's state into the FIFO, as text that the next shell can source. The
 * options are a part of their own, since some must not be handed on. Where the FIFO is missing, the state is not
 * wanted.
 */
const exitTrap = (directory: SessionDirectory): string => {
  const state = quote(directory.state)
  const parts = [
    `\\builtin set +e; \\builtin printf "builtin cd -- %q\\n" "\${PWD-}"; \\builtin shopt -p; \\builtin umask -p; \\builtin trap -p`,
    `\\builtin declare -p`,
    `\\builtin declare -f; \\builtin declare -Fx; \\builtin alias -p; \\builtin printf "builtin set --"; ` +
      `(( $# )) && \\builtin printf " %q" "$@"; \\builtin printf "\\n"`,
    `\\builtin set +o`
  ]
  const body = parts.map((part) => `${part}; \\builtin printf "${separator}"`).join("; ")
  // A subshell that is interrupted as it begins still has the trap; a shell that exits must not be interrupted.
  // Opened for reading too: where the host is gone, opening a FIFO for writing would block forever.
  return `[[ \${BASHPID-$$} = $$ && -p ${state} ]] && { \\builtin trap : URG; \\builtin trap - DEBUG RETURN; ${body}; } 1<>${state} 2>/dev/null`
}

/** Matches options that would end the next shell, silence it, or make it keep a history. */
const notHandedOn = /^set [-+]o (errexit|noexec|onecmd|history|histexpand|monitor|emacs|vi|privileged)\n/gm

/**
 * Makes the text that the next shell sources from a state; undefined where the state is incomplete. `environment` holds
 * the names of the variables that the next shell starts with: those that the old one had unset are unset again.
 *
 * @since 0.1.0
 * @category state
 */
export const restoration = (state: string, environment: ReadonlyArray<string>): string | undefined => {
  const [settings, variables, definitions, options, end] = state.split("\0")
  if (variables === undefined || options === undefined || end !== "") return undefined
  const exported = new Set(Array.from(variables.matchAll(/^declare -\w*x\w* (\w+)/gm), (match) => match[1]))
  const unset = environment.filter((name) => /^\w+$/.test(name) && !exported.has(name))
  return [
    settings,
    unset.length > 0 ? `\\builtin unset -v ${unset.join(" ")}\n` : "",
    variables,
    definitions,
    options?.replace(notHandedOn, ""),
    "\\builtin trap - DEBUG RETURN\n"
  ].join("")
}

/**
 * Makes the function that bash calls for a command it did not find. It reports the name, which tells this case from any
 * other exit code 127, or calls the command where it is one of ours. Where `builtin` itself is not found (`enable -n
 * builtin`), it must not call itself without end.
 */
const notFoundFunction = (directory: SessionDirectory, bridge: Bridge): string => {
  const first = `[[ \${FUNCNAME[1]-} != command_not_found_handle ]]`
  const ours = bridge.onNotFound()
  return (
    `command_not_found_handle() { ${ours === "" ? "" : `if ${first}; then ${ours}; fi; `}` +
    `{ ${first} && { \\builtin local -; \\builtin set +vx; ` +
    `\\builtin printf '%s\\0' "$1" 1<>${quote(directory.notFound)}; }; } 2>/dev/null; ` +
    `${first} && { \\builtin printf 'bash: %s: command not found\\n' "$1" >&2; \\builtin return 127; }; }`
  )
}

/**
 * Makes the file `definitions`: how the shell calls our commands, reports a command that it did not find, and writes
 * its state when it ends. A file is read at once, standard input byte by byte.
 *
 * @since 0.1.0
 * @category lines
 */
export const definitions = (directory: SessionDirectory, bridge: Bridge): string =>
  [
    bridge.definitions(directory.path),
    notFoundFunction(directory, bridge),
    `\\builtin trap ${quote(exitTrap(directory))} EXIT\n`
  ].join("\n")

const define = (directory: SessionDirectory) => `\\builtin . ${quote(directory.definitions)}\n`

/**
 * Makes the text that moves a shell from one session directory to another.
 *
 * @since 0.1.0
 * @category lines
 */
export const moveTo = (directory: SessionDirectory, from: SessionDirectory, bridge: Bridge): string =>
  `${bridge.changePath(from.path, directory.path)}\n${define(directory)}`

/**
 * Makes the first lines that a shell reads. `cwd` is the directory to change to, if it is known; `restore` sources the
 * state of the last shell.
 *
 * @since 0.1.0
 * @category lines
 */
export const startUp = (
  directory: SessionDirectory,
  bridge: Bridge,
  nonce: string,
  restore: boolean,
  cwd: string | undefined
): string =>
  [
    cwd === undefined ? "" : `\\builtin cd -- ${quote(cwd)} 2>/dev/null`,
    bridge.enterPath(directory.path),
    restore ? `\\builtin . ${quote(directory.restore)} >/dev/null 2>&1` : "",
    // Sourced text counts as a script's: without execfail, an `exec` that fails would end the shell.
    "\\builtin history -c; \\builtin set +o history; \\builtin set +H; \\builtin shopt -s execfail; " +
      "\\builtin unset -v HISTFILE MAILCHECK; PS0= PS1= PS2=",
    define(directory),
    // A shell without `builtin` is not bash, and answers in its own way.
    `\\builtin printf '\\036%s %s %s %s\\036' ${nonce} "$$" "\${BASH_VERSION-}" ${nonce}||` +
      `printf '\\036%s %s  %s\\036' ${nonce} "$$" ${nonce}`,
    ""
  ].join("\n")

/**
 * Makes the trap that is set while a command runs. SIGURG makes the shell interrupt itself: first through a trap on INT
 * that the user may have set, and, should that not end the command, by the default. SIGINT alone would be lost wherever
 * a trap ignores it, and would let a list go on after a child that died otherwise. While the shell waits for a child,
 * no trap runs; once its children are killed, the file `force` tells that the user's trap is skipped.
 */
const interruptTrap = (directory: SessionDirectory) =>
  quote(
    `[[ -e ${quote(directory.force)} ]] && \\builtin trap - INT; ` +
      "\\builtin trap '\\builtin trap - INT; \\builtin kill -INT $$' URG; \\builtin kill -INT $$"
  )

/** Makes a command which sets `$?` to the status; only a subshell can do that for an arbitrary one. */
const withStatus = (status: number) => (status === 0 ? "" : status === 1 ? "((0))||" : `(\\builtin exit ${status})||`)

/** The beginning of REPLY: one character more than is kept, which tells that it is too long. */
const shortReply = `\${REPLY+\${REPLY:0:${maxReply + 1}}}`

/**
 * Makes the file `begin`, which is sourced before every command: it prints the first frame, in another way where the
 * user has disabled printf, and sets the trap for interruption. `$1` is the nonce.
 *
 * @since 0.1.0
 * @category lines
 */
export const begin = (directory: SessionDirectory): string =>
  `\\builtin \\printf '\\036%s A %s\\036' "$1" "$1"||select REPLY in $'\\036'"$1 A $1"$'\\036'; do :; done </ 2>&1\n` +
  `\\builtin trap ${interruptTrap(directory)} URG\n`

/**
 * The file `end`, which is sourced after every command: it prints the last frame, where the line before could not, and
 * clears the trap. `$1` is the nonce.
 *
 * @since 0.1.0
 * @category lines
 */
export const end =
  `\\builtin \\printf '\\036%s ?%s %s %s %s %s\\036' "$1" "$?" "\${PWD-}" "$1" "${shortReply}" "$1";` +
  `\\builtin trap : URG;PS0= PS1= PS2=\n`

/**
 * Removes the aliases that have hidden an exit code (`StatusFrame.sure`).
 *
 * @since 0.1.0
 */
export const dropAliases = "\\builtin unalias select in do done 2>/dev/null\n"

/**
 * Makes the lines that run the command in the directory and report how it ended. The shell reads them byte by byte,
 * with a system call each; so what is the same for every command lies in files.
 *
 * The first frame reports that the command began. `select` is a reserved word that prints its items: it reports even
 * where every builtin was redefined; the line after it is for the case that a word of that line is an alias. A
 * directory as its input is an error to read from, and leaves REPLY alone; yet some versions of bash empty it even
 * then, so REPLY is reported too, and set again (`setReply`) before the next command. A trap on DEBUG that is removed
 * in a file comes back after it.
 *
 * @since 0.1.0
 * @category lines
 */
export const run = (directory: SessionDirectory, pipes: PipePaths, nonce: string, status: number): string =>
  `\\builtin . ${quote(directory.begin)} ${nonce}\n` +
  `${withStatus(status)}\\builtin . ${quote(directory.command)} </dev/null >|${quote(pipes.stdout)} 2>|${quote(pipes.stderr)}\n` +
  `\n` +
  `select REPLY in $'\\036${nonce} '"$? \${PWD-}"$' ${nonce} '"${shortReply}"$' ${nonce}\\036'; do :; done </ 2>&1\n` +
  `\\builtin . ${quote(directory.end)} ${nonce};\\builtin trap - DEBUG RETURN;\\unset -f unset builtin\n`

/**
 * Makes a nonce, which a command can't guess and so can't forge a frame with: 76 random bits.
 *
 * @since 0.1.0
 */
export const makeNonce = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 20)

/**
 * Makes the line that sets REPLY. It is a line of its own, since a readonly REPLY ends the line. The text is Latin-1,
 * whatever the shell's own encoding is, so that every byte is kept.
 *
 * @since 0.1.0
 * @category lines
 */
export const setReply = (reply: string): Buffer => Buffer.from(`REPLY=${quote(reply)}\n`, "latin1")
