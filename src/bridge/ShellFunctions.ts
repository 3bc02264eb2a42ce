/**
 * What makes a command of ours a command of the shell's: functions, and programs of its PATH.
 *
 * @since 0.1.0
 */
import { quote } from "../bash/Quote.js"
import * as ReservedName from "../command/ReservedName.js"
import type { BridgeCommands } from "./BridgeCommands.js"
import * as Stub from "./Stub.js"

/** Whether every word is a name that bash's own \`read\` would take. No regular expression: BASH_REMATCH is the user's. */
const areNames = `__synapse_are_names() {
  while (( $# )); do
    [[ $1 == [a-zA-Z_]* ]] || \\builtin return 1
    case \${1%%\\[*\\]} in *[!a-zA-Z0-9_]*) \\builtin return 1 ;; esac
    \\builtin shift
  done
}`

/** Whether the line that the session runs speaks of \`read\`, and of no loop that would wait for its end. */
const isSaid = (directory: string) => `__synapse_is_said() {
  case $(<${quote(`${directory}/command`)}) in
    *while* | *until*) \\builtin return 1 ;;
    *read*) \\builtin return 0 ;;
    *) \\builtin return 1 ;;
  esac
}`

/**
 * \`read\` is the command of ours where bash's own would refuse its words as no names of variables; and where they are such names,
 * if nothing can be read from standard input, and the line that runs speaks of \`read\` and of no loop that would wait for its end.
 */
const readFunction = `read() {
  case \${1-} in
    -h | --help | --offset* | --limit*) __synapse_call read "$@" ;;
    --) if __synapse_are_names "\${@:2}"; then \\builtin read "$@"; else __synapse_call read "$@"; fi ;;
    -*) \\builtin read "$@" ;;
    *)
      if ! __synapse_are_names "$@"; then
        __synapse_call read "$@"
      elif [[ /dev/stdin -ef /dev/null ]] && __synapse_is_said; then
        __synapse_call read "$@"
      else
        \\builtin read "$@"
      fi ;;
  esac
}`

/**
 * What a shell is told at its start, so that it knows the commands: functions, where a command's words may be longer than a
 * program's, or where the name is that of one of bash's own.
 *
 * @since 0.1.0
 * @category texts
 */
export const functions = (directory: string, commands: ReadonlyArray<string>): string =>
  [
    `__synapse_call() ( { \\builtin local -; \\builtin set +vxeuC; } 2>/dev/null; \\builtin . ${quote(`${directory}/${Stub.names.call}`)} "$@" )`,
    ...commands
      .filter((name) => /^\w+$/.test(name) && name !== "read")
      .map((name) => `${name}() { __synapse_call ${name} "$@"; }`),
    ...(commands.includes("read")
      ? [
          areNames,
          isSaid(directory),
          readFunction,
          "\\builtin export -f read __synapse_are_names __synapse_is_said __synapse_call"
        ]
      : [])
  ].join("\n")

/**
 * Calls a command that bash did not find, and returns, where its name is one of ours or reserved for them.
 *
 * @since 0.1.0
 * @category texts
 */
export const onNotFound = (commands: BridgeCommands): string => {
  const prefixes = new Set([...ReservedName.prefixes, ...commands.prefixes()])
  const patterns = [...Array.from(prefixes, (prefix) => `${quote(prefix)}*`), ...ReservedName.names.map(quote)]
  const isOurs = patterns.map((pattern) => `$1 == ${pattern}`).join(" || ")
  return `if [[ ${isOurs} ]]; then __synapse_call "$@"; \\builtin return; fi`
}

/**
 * Programs of the PATH are found before all others.
 *
 * @since 0.1.0
 * @category texts
 */
export const enterPath = (directory: string): string =>
  `PATH=${quote(`${directory}/${Stub.names.programs}`)}\${PATH:+:$PATH}`

/**
 * The same, for a shell that has another directory's in its PATH, unless it has taken it out.
 *
 * @since 0.1.0
 * @category texts
 */
export const changePath = (from: string, to: string): string =>
  `PATH=\${PATH/${quote(`${from}/${Stub.names.programs}`)}/${quote(`${to}/${Stub.names.programs}`)}}`
