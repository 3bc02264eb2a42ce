/**
 * The bash text that a shell reads before its first command, and that which moves it to another directory of files.
 */
import type * as Context from "effect/Context"
import { quote } from "../../bash/Quote.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { ShellBridge } from "../ShellBridge.js"
import * as CommandMark from "./CommandMark.js"
import * as ExitTrap from "./ExitTrap.js"
import * as Protocol from "./Protocol.js"

/** The bridge through which the shell calls our commands. */
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
    CommandMark.set(CommandMark.make(directory.sessionId)),
    ""
  ].join("\n")

/** Returns the names of the functions that the session defines. */
export const names = (directory: SessionDirectory, bridge: Bridge): ReadonlyArray<string> =>
  Array.from(definitions(directory, bridge).matchAll(/^(\w+)\(\) /gm), (match) => match[1] ?? "")

const define = (directory: SessionDirectory) => `\\builtin . ${quote(directory.definitions)}\n`

/**
 * Makes the text that moves a shell from one session directory to another. Functions of the user's own that are named
 * like ours stay.
 */
export const moveTo = (directory: SessionDirectory, from: SessionDirectory, bridge: Bridge): string => {
  const keep = names(directory, bridge).map(
    (name) =>
      `__synapse_own=$(\\builtin declare -f ${name}); ` +
      `case $__synapse_own in *__synapse_call* | *${quote(from.path)}*) ;; *) __synapse_kept+="$__synapse_own"$'\n' ;; esac\n`
  )
  return (
    `${bridge.changePath(from.path, directory.path)}\n__synapse_kept=\n${keep.join("")}${define(directory)}` +
    `\\builtin eval "$__synapse_kept"; \\builtin unset -v __synapse_own __synapse_kept\n${ExitTrap.set(directory)};${Protocol.setTexts(directory)}\n`
  )
}

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
    `\\builtin . ${quote(directory.definitions)}`,
    restore ? `\\builtin . ${quote(directory.restore)} >/dev/null 2>&1` : "",
    // The state holds the old PWD.
    `\\builtin [ "\${__synapse_elsewhere-}" ]&&PWD=$__synapse_elsewhere`,
    // Sourced text counts as a script's: without execfail, an `exec` that fails would end the shell.
    "\\builtin history -c; \\builtin set +o history; \\builtin set +H; \\builtin shopt -s execfail; " +
      `\\builtin unset -v HISTFILE MAILCHECK; ${Protocol.noPrompts}`,
    `${ExitTrap.set(directory)};${Protocol.setTexts(directory)};${Protocol.keepsLast}`,
    // A shell without `builtin` is not bash, and answers in its own way.
    `\\builtin printf '\\036%s %s %s %s %s\\036' ${nonce} "$$" "\${BASH_VERSION-}" "\${__synapse_elsewhere-}" ${nonce}||` +
      `printf '\\036%s %s  %s\\036' ${nonce} "$$" ${nonce}`,
    "\\builtin unset -v __synapse_elsewhere",
    ""
  ].join("\n")
