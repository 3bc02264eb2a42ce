/**
 * The options of every subcommand that runs commands.
 *
 * @since 0.1.0
 */
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Settings } from "../session/SessionSettings.js"

const longestTimeout = 2 ** 31 - 1

/**
 * @since 0.1.0
 * @category options
 */
export const options = {
  cwd: Options.directory("cwd", { exists: "yes" }).pipe(
    Options.withDescription("The directory that the shell starts in; the current one where it is not given."),
    Options.optional
  ),
  timeout: Options.integer("timeout").pipe(
    Options.filterMap(
      (timeout) => (timeout >= 1 && timeout <= longestTimeout ? Option.some(timeout) : Option.none()),
      `--timeout must be a whole number of milliseconds from 1 to ${longestTimeout}`
    ),
    Options.withPseudoName("ms"),
    Options.withDescription("Milliseconds after which a command is ended, with exit code 124; 120000 without it."),
    Options.optional
  )
}

/**
 * What is given becomes a setting.
 *
 * @since 0.1.0
 */
export const toSettings = (given: {
  readonly cwd: Option.Option<string>
  readonly timeout: Option.Option<number>
}): Partial<Settings> => ({
  ...(given.cwd._tag === "Some" ? { cwd: given.cwd.value } : {}),
  ...(given.timeout._tag === "Some" ? { timeout: given.timeout.value } : {})
})
