/** Rewrites a command so that the shell can go on while its last program still runs. */
import type { CommandLine } from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import { quote } from "../../bash/Quote.js"
import * as CommandName from "../../command/CommandName.js"

/** The most characters of a text to rewrite. Nobody types a longer one. */
const longest = 16_384

/** Makes bash text that waits for the last program, but ends with status 0 once the file exists. */
const waiting = (file: string): string =>
  "\\builtin wait $!||{ __synapse_code=$?\n" +
  "while \\builtin [ $__synapse_code -gt 128 ];do if \\builtin kill -0 $! 2>/dev/null;then " +
  `if \\builtin [ -e ${quote(file)} ];then __synapse_code=0;\\builtin break;fi;\\builtin wait $!&&__synapse_code=0||__synapse_code=$?;` +
  "else \\builtin wait $!&&__synapse_code=0||__synapse_code=$?;\\builtin break;fi;done;\\builtin return $__synapse_code; }"

/**
 * Rewrites a command so that its last part runs in the background while the shell waits for it. Returns undefined
 * unless the last part is a program: what changes the shell must run in the shell.
 *
 * @param file exists once the shell should stop waiting
 */
export const rewrite = (given: CommandLine, file: string): string | undefined => {
  const { text } = given
  if (text.length > longest || text.includes("<<")) return undefined
  const { tree } = given
  const list = tree.lists.at(-1)
  const pipeline = list?.pipelines.at(-1)
  const [command, ...others] = pipeline?.commands ?? []
  if (!CommandTree.isComplete(tree) || list?.isBackground !== false) return undefined
  const [name] = command?.words ?? []
  if (command === undefined || others.length > 0 || command.keyword !== undefined || name === undefined)
    return undefined
  if (name.expands || CommandName.builtins.has(name.value) || name.value === "time") return undefined
  const { start } = command.assignments[0] ?? name
  const [before, last, after] = [text.slice(0, start), text.slice(start, command.end), text.slice(command.end)]
  // A redirection before the program, or a word that changes what follows, belongs to the program.
  if (!/(?:^|[;&|\n])\s*$/.test(before)) return undefined
  return `${before}{ if \\builtin declare -F -- ${quote(name.value)} >/dev/null;then ${last}\nelse ${last} &\n${waiting(file)};fi;}${after}`
}
