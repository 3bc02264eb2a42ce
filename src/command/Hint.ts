/**
 * Advises on a failed command: how to see its usage. It names no command that may not have failed.
 *
 * @since 0.1.0
 */
import type { CommandLine } from "../bash/CommandLine.js"
import { deciders } from "../bash/CommandStatus.js"
import * as Advice from "../domain/Advice.js"

/** Commands that always succeed, or nearly so; they are named only where no other can have failed. */
const succeeding = new Set(["true", ":", "echo", "printf"])
/** Commands that only pass on a status. */
const leaving = new Set(["exit", "return"])
/** Builtins of bash that take `--help` as an argument like any other. */
const withoutHelpOption = new Set(["[", "test", "true", "false", ":", "echo"])
/**
 * The names of bash's builtins.
 *
 * @since 0.1.0
 */
export const builtins: ReadonlySet<string> = new Set(
  ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait".split(
    " "
  )
)
/** Matches names that can be written in a hint as they are. */
const nameable = /^(?:[\w./:@%+,][\w./:@%+,-]*|\[)$/

/**
 * Returns the commands that a line may have failed for, in order; a later one may not have run. Empty where the text
 * does not tell.
 *
 * @param hasLeft true where the shell has ended with the line, perhaps before its end
 * @since 0.1.0
 */
export const candidates = (line: CommandLine, hasLeft = false): ReadonlyArray<string> => {
  const list = deciders(line.tree, hasLeft)
  if (list === undefined || list.includes(undefined)) return []
  const names = list.filter((name): name is string => name !== undefined && !leaving.has(name))
  const telling = names.filter((name) => name !== "false" && !succeeding.has(name))
  return [...new Set(telling.length === 0 && line.simple ? names : telling)].slice(0, 3)
}

/**
 * Returns advice on the command that failed; undefined where its name can't stand in it.
 *
 * @since 0.1.0
 */
export const forFailed = (name: string): Advice.Advice | undefined =>
  nameable.test(name) ? Advice.line`${help(name)} shows how to use ${name}.` : undefined

/**
 * Returns the one program of a line that can be missing where its exit code is 127; undefined where the text does not
 * tell.
 *
 * @since 0.1.0
 */
export const missing = (line: CommandLine, hasLeft = false): string | undefined => {
  const [name, ...others] = candidates(line, hasLeft).filter((name) => !builtins.has(name))
  return others.length === 0 ? name : undefined
}

/**
 * Returns advice on a command that was not found: to look for one like it, which comes before its help (S16).
 *
 * @param canSearch true where there is `command:search`
 * @since 0.1.0
 */
export const forMissing = (name: string, canSearch: boolean): Advice.Advice | undefined => {
  if (!nameable.test(name)) return undefined
  const advice = Advice.line`${help(name)} shows how to use ${name}, where there is one.`
  return canSearch && !name.includes("/")
    ? Advice.line`${Advice.run(`command:search ${name}`)} finds commands like it; ${advice}`
    : advice
}

/**
 * Returns advice on a command that is not there, and was probably meant to be another; undefined where a name can't stand
 * in it.
 *
 * @since 0.1.0
 */
export const forMeant = (name: string, meant: string, isSure: boolean): Advice.Advice | undefined =>
  !nameable.test(name) || !nameable.test(meant)
    ? undefined
    : isSure
      ? forForeign(name, meant)
      : Advice.line`${help(meant)} shows how to use ${meant}, if ${name} was to be that.`

/**
 * Returns advice on another agent's tool that was called as a command: the help of the command that does the same here.
 *
 * @since 0.1.0
 */
export const forForeign = (name: string, own: string): Advice.Advice =>
  Advice.line`${Advice.run(`${own} --help`)} shows how to use ${own}, the command here for ${name}.`

/**
 * Returns the commands that show a command's help.
 *
 * @since 0.1.0
 */
export const help = (name: string): Advice.Advice => {
  const option = Advice.run(`${name} --help`)
  if (!builtins.has(name)) return [option]
  return withoutHelpOption.has(name)
    ? Advice.line`${Advice.run(`help ${name}`)} (for the program of that name, ${option})`
    : [option]
}
