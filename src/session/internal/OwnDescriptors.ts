/**
 * The bash text that notices that a command has taken the descriptors in which the shell keeps its own.
 *
 * While a command runs, its redirection has put the shell's standard streams aside, at 10 and above, where the command
 * may close them (`exec 12>&-`). What the shell would then print belongs to nobody, or to the command's result; so the
 * shell exits instead, and the next one goes on with its state.
 */
import { quote } from "../../bash/Quote.js"
import type { PipePaths } from "./FifoPairs.js"

/** The keeper has the same streams as its shells. */
const keepers = "/proc/$PPID/fd"

const isInput = `\\builtin [ /dev/fd/10 -ef ${keepers}/0 ]`

const isOutput = `\\builtin [ /dev/fd/1 -ef ${keepers}/1 ]`

/** The text that looks before a command whether the streams can be told by the keeper's. */
export const remember = `__synapse_own=;${isInput}&&${isOutput}&&__synapse_own=1;`

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
export const check = (pipes: PipePaths, status: string): string =>
  `${isCommands(pipes)}||` +
  `{ \\builtin [ "\${__synapse_own-}" ]&&{ ${isInput}&&${isOutput}||__synapse_own=lost; };\\builtin [ "$__synapse_own" = lost ]; }&&${end(status)};`

/** Makes the text that does the same where the command's line was left. */
export const checkLeft = (pipes: PipePaths): string => `{ ${isCommands(pipes)}; }&&${end("130")}\n`
