/**
 * The options that all subcommands which run commands have in common.
 *
 * @since 0.1.0
 */
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Timeout from "../domain/Timeout.js"
import type * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import type { Settings } from "../session/SessionSettings.js"

/**
 * The options for the directory, the timeout, and the sandbox.
 *
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
      (timeout) => (timeout >= 1 && timeout <= Timeout.longest ? Option.some(timeout) : Option.none()),
      `--timeout must be a whole number of milliseconds from 1 to ${Timeout.longest}`
    ),
    Options.withPseudoName("ms"),
    Options.withDescription("Milliseconds after which a command is ended, with exit code 124; 120000 without it."),
    Options.optional
  ),
  noSandbox: Options.boolean("no-sandbox").pipe(
    Options.withDescription("Run without a sandbox: with all the rights that you have.")
  ),
  allow: Options.text("allow").pipe(
    Options.withPseudoName("path"),
    Options.withDescription("A path that commands may write, besides the working directory. May be repeated."),
    Options.repeated
  ),
  deny: Options.text("deny").pipe(
    Options.withPseudoName("pattern"),
    Options.withDescription("A path or pattern that commands may neither read nor write. May be repeated."),
    Options.repeated
  )
}

/**
 * Settings for a subcommand that prints results: the files that a result names stay when the program ends.
 *
 * @since 0.1.0
 */
export const answered: Partial<Settings> = { keepOutputFiles: true }

/**
 * Settings for a subcommand that passes output on as it comes: output is not written to files.
 *
 * @since 0.1.0
 */
export const passedOn: Partial<Settings> = { outputFileLimit: 0 }

/**
 * Converts the given options into settings of the session and of the sandbox.
 *
 * @param output `answered` or `passedOn`
 * @since 0.1.0
 */
export const toSettings = (
  given: {
    readonly cwd: Option.Option<string>
    readonly timeout: Option.Option<number>
    readonly noSandbox: boolean
    readonly allow: ReadonlyArray<string>
    readonly deny: ReadonlyArray<string>
  },
  output: Partial<Settings>
): [Partial<Settings>, Partial<SandboxSettings.Settings>] => [
  {
    ...output,
    ...(given.cwd._tag === "Some" ? { cwd: given.cwd.value } : {}),
    ...(given.timeout._tag === "Some" ? { timeout: given.timeout.value } : {})
  },
  {
    ...(given.noSandbox ? { enabled: false } : {}),
    whitelist: given.allow,
    blacklist: given.deny
  }
]
