/**
 * The state that an ending shell writes, and the bash text that restores it in the next one.
 *
 * A state is a list of parts: a name, a newline and a text, ended by a NUL byte, which no shell text can contain.
 * Each part is restored separately, so a part that bash can't read again does not affect the others.
 */

import * as Os from "node:os"
import * as Path from "node:path"
import * as CommandLine from "../../bash/CommandLine.js"
import { quote } from "../../bash/Quote.js"
import type { PipePaths } from "../Fifo.js"
import type { SessionDirectory } from "../SessionDirectory.js"

/** SIGURG by number, which bash finds faster than by name. */
export const urg = Os.constants.signals.SIGURG

/** The beginning of the session's trap on EXIT. It saves $PIPESTATUS, which `exit` leaves unchanged. */
const first = `{ __synapse_codes="\${__synapse_codes:-$? \${PIPESTATUS[@]}}";\\builtin trap : ${urg};`

/** The session's trap on EXIT: short, since a user may list the traps. The group hides it from `set -x`. */
const trap = '{ \\builtin eval "${__synapse_exit-}" || \\builtin :; } 2>/dev/null'

/** The output of `trap -p EXIT` for the session's own trap, and for an ignored one. */
const sayings = { own: `trap -- '${trap}' EXIT\n`, ignored: "trap -- '' EXIT\n" }

/** The beginning of the command that runs the user's command. It is bash's current command when the shell exits. */
const evaluating = '\\builtin "$__synapse_by" '

/**
 * Notes that errexit caused an exit. Then bash has undone a redirection of the user's command, or the last command's
 * exit code is the shell's. With an `exit`, the second may be chance.
 */
const noteErrexit = ({ streams }: SessionDirectory): string =>
  `\\builtin [ "\${-//[^e]}" ]&&{ \\builtin [ /dev/fd/1 -ef ${streams.output} ]&&` +
  '__synapse_lost+=errexit||{ __synapse_last=${__synapse_codes%% *} __synapse_rest=" ${__synapse_codes#* } ";' +
  `\\builtin [ "$__synapse_last" != 0 ]&&\\builtin [ "\${__synapse_rest/" $__synapse_last "}" != "$__synapse_rest" ]&&` +
  "__synapse_lost+=failure; }; }"

/** Makes the body of the session's trap on EXIT, which writes the state if the FIFO for it exists. */
const own = (directory: SessionDirectory): string =>
  // The first line makes a shell that exits uninterruptible. It is short, since bash reads a whole line before
  // running it. A subshell that is interrupted as it starts still has the trap. The FIFO is opened for reading too,
  // since opening it only for writing would block forever if the host is gone. The outer groups keep `set -x` from
  // showing the rest.
  `${first} } 2>/dev/null\n` +
  `{ \\builtin [ "\${BASHPID-$$}\${__synapse_told-}" = $$ ] && \\builtin [ -p ${quote(directory.state)} ] && { ${noteErrexit(directory)};__synapse_told=1; ` +
  `\\builtin eval ${quote(`\\builtin trap - DEBUG RETURN; ${writing}`)} 1<>${quote(directory.state)}; }; } 2>/dev/null`

/** The beginning of the command that sources the user's command. */
export const sourcing = "\\builtin . "

/**
 * A harmless syntax error that resets bash's parser. After sourced or evaluated text that ended within a `$(`, bash
 * 5.2 counts open quotes from below zero. It then writes outside its memory for each quote, and aborts some commands
 * later.
 *
 * The text holds no quotes. With errexit the error would end the shell, so errexit is off meanwhile.
 */
export const recount =
  "case $- in *e*) \\builtin set +e;\\builtin eval \\)||\\builtin :;\\builtin set -e;; *) \\builtin eval \\)||\\builtin :;; esac"

/**
 * The trap on DEBUG. It restores the user's options for the user's trap on EXIT, and lets that trap be interrupted.
 *
 * It also runs before the command that sources the user's. If that fails, it runs again, because the user's trap on
 * ERR runs for the sourcing too. The trap on ERR has run for the user's own command already, so its second output is
 * discarded.
 *
 * The first line holds no quotes, since bash may need `recount` first.
 */
const beforeUsers =
  `{ __synapse_codes=$?\\ \${PIPESTATUS[@]}; ${recount}; } 2>/dev/null\n` +
  `{ \\builtin [ "\${BASH_COMMAND:0:${evaluating.length}}" = ${quote(evaluating)} ] && { __synapse_options=\${-//[^ex]}; ` +
  `\\builtin eval "\${__synapse_exit-}"; \\builtin trap "\${__synapse_busy-:}" ${urg}; ` +
  `\\builtin [ "$__synapse_options" ] && \\builtin set -$__synapse_options; }; __synapse_codes=; ` +
  `\\builtin [ "\${BASH_COMMAND:0:${sourcing.length}}" = ${quote(sourcing)} ] && __synapse_seen+=1; \\builtin : "\${__synapse_last-}"; ` +
  // With errexit, the shell ends here, and the trap on EXIT follows.
  `((\${#__synapse_seen}<2)) || \\builtin [ "\${-//[^e]}" ] || { \\builtin trap - DEBUG; \\builtin [ "\${-//[^x]}" ]; }; } 2>/dev/null || ` +
  // After `builtin`, bash would undo the redirection.
  "\\exec </dev/null >/dev/null 2>&1"

/** Makes bash text that sets the session's trap, and the variables that `guarded` and `own` use, once per shell. */
export const set = (directory: SessionDirectory): string =>
  `__synapse_told= __synapse_lost= __synapse_codes= __synapse_exit=${quote(own(directory))} __synapse_exiting=${quote(beforeUsers)};\\builtin trap ${quote(trap)} EXIT`

/**
 * Gives a command its standard input by a redirection, if it has one. bash may make that pipe as descriptor 63, which
 * the command must not see. After `ulimit -n 40`, bash can't open 63 again, nor undo a redirection before it.
 */
export const withInput = (source: string, stdin: string, others: string): string =>
  stdin === "" ? `${source}${others}` : `{ ${source} 63<&-${others}; }${stdin}`

/** Makes bash text for a command that may set a trap on EXIT. `source` begins the command that sources `path`. */
export const guarded = (
  source: string,
  path: string,
  { stderr, stdout }: PipePaths,
  stdin: string,
  isShown: boolean
): string => {
  // bash undoes the innermost redirection before it runs the trap. While the user traces (`set -x`, `set -v`),
  // standard error is the innermost, so that the protocol's own trace goes to the shell's standard error. A trap's
  // messages go there too then.
  const [inner, outer] = isShown ? [` 2>|${quote(stderr)}`, ""] : ["", ` 2>|${quote(stderr)}`]
  const arm = `{ __synapse_seen=; \\builtin [ -o functrace ]||\\builtin trap "\${__synapse_exiting-}" DEBUG; } 2>/dev/null`
  const text = `${arm};${withInput(source, stdin, `${stdin === "" ? " </dev/null" : ""}${inner}`)}`
  return (
    `__synapse_by=eval __synapse_text=${quote(text)};` +
    `\\builtin eval 2>/dev/null||{ __synapse_by=. __synapse_text=${quote(path)}; };` +
    `${evaluating}"$__synapse_text"${stdin === "" ? " </dev/null" : ""} >|${quote(stdout)}${outer}`
  )
}

/** Makes bash text that reports after a command which trap on EXIT is set. */
export const tell = ({ state }: SessionDirectory): string =>
  `\\builtin [ ! -p ${quote(state)} ]||\\builtin trap -p EXIT 1<>${quote(state)}||\\builtin :;`

/** Returns whose trap `tell` has reported: nobody's if there is none, or if it does nothing. */
export const whose = (told: string): "session" | "user" | "nobody" =>
  told === "" || told === sayings.ignored ? "nobody" : told === sayings.own ? "session" : "user"

/** Bash text that sets the session's trap again. */
export const again = `\\builtin trap ${quote(trap)} EXIT;`

/** Matches the session's own traps in a list of traps: on EXIT, on RETURN and on SIGURG. */
const listed = /^trap -- '\{ (?:[^\n]*__synapse_[^\n]*' (?:EXIT|RETURN)|\\builtin \[ ! -e [^\n]*' (?:SIG)?URG)\n/gm

/** Removes the session's own traps from a list of traps. */
export const hide = (chunk: Buffer): Buffer =>
  chunk.includes("trap -- '{ ") ? Buffer.from(chunk.toString("latin1").replaceAll(listed, ""), "latin1") : chunk

const part = (name: string, text: string): string => `\\builtin printf "${name}\\n"; ${text}; \\builtin printf "\\0"`

/** Bash text that makes an ending shell write its state to its standard output. */
const writing: string = [
  part("options", "\\builtin set +o"),
  part("traps", "\\builtin trap -p"),
  // These would end the shell while it writes the rest.
  "\\builtin trap - ERR; \\builtin set +ex",
  part("directory", `\\builtin printf "builtin cd -- %q\\n" "\${PWD-}"`),
  part("modes", "\\builtin shopt -p; \\builtin umask -p"),
  part("variables", "\\builtin declare -p"),
  part("attributes", "\\builtin declare -F"),
  part("functions", "\\builtin declare -f"),
  part("aliases", "\\builtin alias -p"),
  part("arguments", '\\builtin printf "builtin set --"; (($#))&&\\builtin printf " %q" "$@"; \\builtin printf "\\n"'),
  part("stack", '((${#DIRSTACK[@]}>1))&&\\builtin printf "builtin pushd -n -- %q\\n" "${DIRSTACK[@]:1}"'),
  part("programs", "\\builtin hash -l"),
  part("completions", "\\builtin complete -p"),
  part("disabled", "\\builtin enable -n"),
  part("soft", "\\builtin ulimit -Sa"),
  part("hard", "\\builtin ulimit -Ha"),
  part(
    "descriptors",
    [3, 4, 5, 6, 7, 8, 9].map((fd) => `\\builtin [ -e /dev/fd/${fd} ]&&\\builtin printf ${fd}`).join(";")
  ),
  // bash's own descriptors are close-on-exec, as `flags` shows. Evaluated separately, since an alias may break it.
  part(
    "high",
    `\\builtin eval ${quote(
      "for ((__synapse_fd=10;__synapse_fd<50;__synapse_fd++));do \\builtin [ -e /dev/fd/$__synapse_fd ]&&" +
        '\\builtin read -rd "" __synapse_info </proc/$$/fdinfo/$__synapse_fd;' +
        '\\builtin printf "%s %s\\n" $__synapse_fd "${__synapse_info-}";__synapse_info=;done'
    )}`
  ),
  part("pipeline", '\\builtin printf %s "${__synapse_codes-}"'),
  part("lost", '\\builtin printf %s "${__synapse_lost-}"'),
  part("end", "\\builtin :")
].join("; ")

/** The end of a complete state. */
export const lastBytes = "end\n\0"

/** How to restore the state of an ended shell in the next one. */
export interface Restoration {
  /** Bash text that the next shell sources at its start. */
  readonly text: string
  /** Bash text to run right before the next shell's first command. At its start, it would break the protocol. */
  readonly once: string
  /** Options that are set only while a command runs. */
  readonly options: string
  /** The exit codes of the last pipeline's parts. */
  readonly pipeline: ReadonlyArray<number>
  /** The directory that the shell ended in; undefined if it is not known. */
  readonly directory: string | undefined
  /** The user's functions and aliases that hide Synapse commands, by name. */
  readonly own: ReadonlyArray<string>
  /** The names of aliases that are not restored. */
  readonly removed: ReadonlyArray<string>
  /** The descriptors that were open and now are closed. */
  readonly closed: ReadonlyArray<string>
  /** The names of coprocesses, whose descriptors are closed. */
  readonly coprocesses: ReadonlyArray<string>
  /** Why the shell ended, if the session knows: `descriptors`, `errexit`, or `failure` for a probable errexit. */
  readonly lost: string
}

/** Matches options not restored: they would end or silence the next shell, trace the protocol, or keep a history. */
const notHandedOn = /^set [-+]o (errexit|noexec|onecmd|history|histexpand|monitor|emacs|vi|privileged|xtrace)\n/gm

/** Splits the text of all functions by function. `names` must be in the order of the texts. */
const functionTexts = (all: string, names: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> => {
  const starts: Array<readonly [name: string, at: number]> = []
  let from = 0
  for (const name of names) {
    for (const head of [`${name} () \n{ \n`, `function ${name} () \n{ \n`]) {
      const at = all.startsWith(head, from) ? from : all.indexOf(`\n${head}`, from) + 1
      if (at === 0 && !all.startsWith(head)) continue
      starts.push([name, at])
      from = at + head.length
      break
    }
  }
  return starts.map(([name, at], i) => [name, all.slice(at, starts[i + 1]?.[1])])
}

/** Tests for a function that the session has defined: its text names this session's directory, or an earlier one. */
const isOurs =
  ({ directory, ours }: Next) =>
  ([name, text]: readonly [string, string]): boolean =>
    name.startsWith("__synapse_") ||
    (ours.includes(name) &&
      [quote(directory), `${Path.dirname(directory)}/session-`].some((path) => text.includes(path)))

/** Makes bash text that sets limits, from the output of `ulimit -a`. */
const limits = (which: "S" | "H", said: string): string =>
  Array.from(said.matchAll(/-([a-zA-Z])\) (\w+)$/gm))
    .filter(([, letter]) => letter !== "p" && letter !== "R")
    .map(([, letter, value]) => `\\builtin ulimit -${which} -${letter} ${value} 2>/dev/null||\\builtin :;`)
    .join("")

const closedOnExec = 0o2000000

/** Returns the user's open descriptors, with the variables that hold their numbers. */
const userDescriptors = (low: string, high: string, variables: string): ReadonlyArray<string> => [
  ...low,
  ...Array.from(high.matchAll(/^(\d+) pos:[\s\S]*?^flags:\s*(\d+)$/gm))
    .filter(([, , flags = ""]) => (Number.parseInt(flags, 8) & closedOnExec) === 0)
    .map(([, fd = ""]) => {
      const names = Array.from(
        variables.matchAll(new RegExp(`^declare -\\S+ (?!__synapse_)(\\w+)="${fd}"$`, "gm")),
        ([, name]) => name
      )
      return names.length === 1 ? `${fd} (${names[0]})` : fd
    })
]

/** Returns the names of the coprocesses among a state's variables. */
const coprocesses = (variables: string): ReadonlyArray<string> =>
  Array.from(variables.matchAll(/^declare -a (\w+)=\(\[0\]="\d+" \[1\]="\d+"\)$/gm)).flatMap(([, name = ""]) =>
    new RegExp(`^declare -\\S+ ${name}_PID="\\d+"$`, "m").test(variables) ? name : []
  )

/** Returns the directory that a state's `cd` command enters. */
const directoryOf = (text: string | undefined): string | undefined => {
  const path = CommandLine.parse(Buffer.from(text ?? "", "latin1").toString()).words.at(-1)?.value
  return path?.startsWith("/") === true && !path.includes("\uFFFD") ? path : undefined
}

/** Returns the name that a line of `alias -p` defines. */
const aliasOf = (text: string): string => /^alias (?:-- )?(.+?)=/.exec(text)?.[1]?.replaceAll("'", "") ?? ""

const evaluated = (text: string | undefined): string =>
  text === undefined || text === "" ? "" : `\\builtin eval ${quote(text)}\n`

/** What a restoration depends on in the next shell. */
export interface Next {
  /** The variables that the shell starts with, by name. Those that the old shell had unset are unset again. */
  readonly environment: ReadonlyArray<string>
  /** The names of the functions that the session defines, and its directory. */
  readonly ours: ReadonlyArray<string>
  readonly directory: string
  /** The names of aliases that no shell may have. */
  readonly refused: ReadonlyArray<string>
}

/** The most parts of a state that are parsed. A shell writes fewer, but a forged state may have any number. */
const mostParts = 64

/** Makes the restoration from an ended shell's state. Returns undefined if the state is incomplete. */
export const restoration = (state: string, next: Next): Restoration | undefined => {
  const { environment, ours, refused } = next
  if (!state.endsWith("\0end\n\0")) return undefined
  const parts = new Map(
    state
      .split("\0", mostParts)
      .map((text) => [text.slice(0, text.indexOf("\n")), text.slice(text.indexOf("\n") + 1)] as const)
  )
  const variables = parts.get("variables")
  if (variables === undefined) return undefined
  const attributes = parts.get("attributes") ?? ""
  const names = attributes.split("\n").flatMap((line) => line.split(" ").at(2) ?? [])
  const functions = functionTexts(parts.get("functions") ?? "", names).filter((one) => !isOurs(next)(one))
  const aliases = (parts.get("aliases") ?? "").split(/^(?=alias )/m).map((text) => [aliasOf(text), text] as const)
  const kept = new Set(functions.map(([name]) => name))
  const exported = new Set(Array.from(variables.matchAll(/^declare -\w*x\w* (\w+)/gm), (match) => match[1]))
  const unset = environment.filter((name) => /^\w+$/.test(name) && !exported.has(name))
  const hiding = new Set([...kept, ...aliases.map(([name]) => name)])
  // `pushd -n` adds below the current directory, so the last entry comes first.
  const stack = (parts.get("stack") ?? "").split("\n").reverse()
  const options = parts.get("options") ?? ""
  const lostCoprocesses = coprocesses(variables)
  const disabled = Array.from((parts.get("disabled") ?? "").matchAll(/^enable -n ([\w.:[]+)$/gm), (match) => match[1])
  return {
    text: [
      evaluated(parts.get("directory")).replace(/\n$/, "&&__synapse_elsewhere=||__synapse_elsewhere=$PWD\n"),
      evaluated(parts.get("modes")),
      unset.length > 0 ? `\\builtin unset -v ${unset.join(" ")}\n` : "",
      evaluated(variables),
      // BASH_ALIASES is among the variables.
      `\\builtin unset -v ${["PROMPT_COMMAND", ...lostCoprocesses].join(" ")}; \\builtin unalias -a\n`,
      ...functions.map(([, text]) => evaluated(text)),
      ...attributes.split("\n").flatMap((line) => (kept.has(line.split(" ").at(2) ?? "") ? [evaluated(line)] : [])),
      evaluated(parts.get("arguments")),
      ...stack.map(evaluated),
      ...["programs", "completions", "traps"].map((name) => evaluated(parts.get(name))),
      ...aliases.map(([name, text]) => (refused.includes(name) ? "" : evaluated(text))),
      evaluated(options.replace(notHandedOn, "")),
      "\\builtin trap - DEBUG RETURN\n"
    ].join(""),
    once:
      limits("S", parts.get("soft") ?? "") +
      limits("H", parts.get("hard") ?? "") +
      (disabled.length > 0 ? `\\builtin enable -n ${disabled.join(" ")};` : ""),
    // The first code is the whole pipeline's.
    pipeline: (parts.get("pipeline") ?? "").trim().split(/\s+/).slice(1).map(Number),
    directory: directoryOf(parts.get("directory")),
    options: ["errexit", "xtrace"].map((name) => (options.includes(`set -o ${name}\n`) ? name.charAt(0) : "")).join(""),
    own: ours.filter((name) => hiding.has(name) && name !== "command_not_found_handle"),
    lost: parts.get("lost") ?? "",
    closed: userDescriptors(parts.get("descriptors") ?? "", parts.get("high") ?? "", variables),
    coprocesses: lostCoprocesses,
    removed: refused.filter((name) => aliases.some(([alias]) => alias === name))
  }
}
