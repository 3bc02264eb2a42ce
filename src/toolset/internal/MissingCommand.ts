/** Suggests a command instead of one that bash did not find. */
import type * as CommandLine from "../../bash/CommandLine.js"
import * as CommandName from "../../command/CommandName.js"
import { builtins } from "../../command/CommandName.js"
import * as Advice from "../../domain/Advice.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as Similar from "../../domain/Similar.js"
import * as Correction from "./Correction.js"
import type { Facts } from "./Diagnosis.js"
import * as MissingPath from "./MissingPath.js"

export interface Meant {
  /** The sentence for a reader, such as `did you mean git?`. */
  readonly text: string | undefined
  /** The suggested command's name, if there is only one. */
  readonly command?: string
  /** True if another agent's tool was called, which makes the suggestion certain. */
  readonly isTool?: boolean
}

export const didYouMean = (meant: string | undefined): string | undefined =>
  meant === undefined ? undefined : `did you mean ${meant}?`

const asking = (command: string): Meant => ({ text: didYouMean(command), command: command.split(" ", 1).join() })

/** Returns the names of the commands that bash did not find. */
export const missedIn = (stderr: string): ReadonlyArray<string> =>
  Array.from(stderr.matchAll(/^bash: (?:line \d+: )?(.+): command not found$/gm), ([, name = ""]) => name)

/** Tests whether a command is missing after exit code 127. Otherwise, it exists and missed another command. */
export const isMissing = (name: string, { notFound, stderr, stdout }: CommandResult): boolean =>
  notFound === name ||
  name.includes("/") ||
  (stderr === "" && stdout === "") ||
  stderr.includes(`bash: ${name}: `) ||
  isMissed(name, stderr) ||
  /^bash: exec: /m.test(stderr)

/** Tests whether a program such as `env` did not find a command. */
const isMissed = (name: string, stderr: string): boolean =>
  MissingPath.linesIn(stderr).some(
    (line) =>
      !line.startsWith("bash: ") && [`‘${name}’: `, `'${name}': `, ` ${name}: `].some((said) => line.includes(said))
  )

/** Matches programs that are often missing, and whose similar names belong to different programs. */
const unlike = /^(?:pipx|python2|ag|fd|rg)$/

/**
 * Suggests a command for a line in which bash did not find one.
 *
 * @param named the only program of the line that can be missing
 */
export const meant = (line: CommandLine.CommandLine, named: string | undefined, facts: Facts): Meant | undefined => {
  const { commands, files, here, result } = facts
  const isNotFound = result.exitCode === 127 || result.pipeline?.includes(127) === true
  // Synapse commands explain a failure themselves.
  if (!isNotFound || result.category !== undefined) return undefined
  const name = result.notFound ?? named
  if (name === undefined || name.includes("/")) return undefined
  if (CommandName.isReserved(name)) {
    const known = facts.extensions()
    const near = known.includes(name) ? undefined : Similar.nearest(name, known)
    if (near !== undefined) return asking(near)
    // If the line calls the command itself, stderr has already said what is wrong.
    return name === line.name || !isMissing(name, result)
      ? undefined
      : { text: `programs find ${name} by the PATH of this shell: keep that, or call it in the line itself` }
  }
  if (Correction.isTool(name) || name === "rg" || name === "ag") {
    const tool = ofTool(name, name === line.name ? line.words[0]?.value : undefined, facts)
    if (tool !== undefined) return tool
  }
  if ((result.notFound === undefined && !isMissed(name, result.stderr)) || unlike.test(name)) return undefined
  // Typing errors rarely affect the first character.
  const isNear = Similar.isNear(name)
  const isSlip = (other: string) =>
    isNear(other) && (other[0]?.toLowerCase() === name[0]?.toLowerCase() || isExchanged(name, other))
  const near = Similar.nearest(name, [...files.programs(isSlip), ...[...builtins, ...commands].filter(isSlip)])
  return near === undefined || (Correction.isTool(name) && !here.offers(near)) ? undefined : asking(near)
}

const isExchanged = (one: string, other: string): boolean => [...one].sort().join("") === [...other].sort().join("")

/** Returns the command that replaces another agent's tool, or says that there is none. */
const ofTool = (name: string, operand: string | undefined, { here }: Facts): Meant | undefined => {
  const mcp = Correction.mcpNameOf(name)
  if (mcp !== undefined) return here.offers("mcp:") ? asking(mcp) : undefined
  const advice = Correction.advise(name, { operand }, here)
  const [only, more] = advice ?? []
  if (advice !== undefined && (typeof only === "string" || more !== undefined))
    return { text: Advice.render([advice], { run: (command) => command }) }
  if (typeof only !== "object") return undefined
  const [program = ""] = only.command.split(" ", 1)
  // Before a question mark, the dot would read as a glob.
  const form = program === "grep" ? "grep -rn" : /<| \.$/.test(only.command) ? program : only.command
  return /^\w/.test(form) ? { ...asking(form), isTool: true } : { text: `here it is: ${only.command}` }
}
