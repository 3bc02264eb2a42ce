/**
 * Words for a person what a result's remark tells a model: a person sees the exit code and the directory by themselves.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as Advice from "../domain/Advice.js"
import { InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Culprit from "./Culprit.js"
import * as CurlyQuotes from "./CurlyQuotes.js"
import type { Facts } from "./Facts.js"
import * as Remark from "./Remark.js"

/**
 * Tests whether there may be something to tell of a result: a denial is told by itself.
 *
 * @since 0.1.0
 */
export const mayHelp = ({ blocked, exitCode }: CommandResult): boolean =>
  blocked !== true && exitCode !== ExitCode.success

/**
 * Returns what probably went wrong (`did you mean git?`); undefined where that is not known, or where the exit code was
 * an answer, as of `grep`.
 *
 * @since 0.1.0
 */
export const of = (facts: Facts): string | undefined =>
  CurlyQuotes.remark(facts.command, CommandLine.parse(facts.command).tokens, facts.result) ??
  Remark.meaningOf(Culprit.lineOf(facts.command), facts, () => undefined)

/**
 * Makes the error about a text that is no command.
 *
 * @param meant the command that was probably meant, where that is known
 * @since 0.1.0
 * @category errors
 */
export const notRun = (reason: string, meant: unknown): InvalidUsage =>
  new InvalidUsage({
    reason: `Not run: ${reason}.`,
    advice: typeof meant === "string" && isShort(meant) ? [Advice.line`Did you mean ${Advice.run(meant)}?`] : []
  })

/** Tests whether a command can be named within a line. */
const isShort = (command: string): boolean => command.length <= 200 && !/\p{Cc}/u.test(command)
