/**
 * What a command that ran left behind. A non-zero exit code is a result like any other.
 *
 * @since 0.1.0
 */
import * as Advice from "./Advice.js"
import type { FailureCategory } from "./CommandError.js"

/**
 * The output and the exit code of a command, and what is known besides.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandResult {
  /** Standard output under the cap; what was left out is said in a line of its own. */
  readonly stdout: string
  /** Standard error under the same cap. */
  readonly stderr: string
  readonly exitCode: number
  /** What to do next, of a command of ours: it goes to standard error, after what is there. */
  readonly advice?: ReadonlyArray<Advice.Advice>
  /** What kind of failure the exit code tells of, where the command itself knows. */
  readonly category?: FailureCategory | undefined
  /** The name that bash looked for and did not find, where that is why the command failed. */
  readonly notFound?: string
  /** The file that holds all of a standard output that was cut. */
  readonly stdoutFile?: string
  /** The file that holds all of a standard error that was cut. */
  readonly stderrFile?: string
  /** Whether the sandbox's policy denied something that the command failed for. */
  readonly blocked?: boolean
  /** What the model is told of the denial: what, by which rule, why, and what would be allowed. */
  readonly blockedReason?: string
  /** The rule that denied it as it was written; where no rule names it, the path, or the network. */
  readonly blockedResource?: string
  readonly blockedRule?: string
  /** What the shell has to say about itself: that it was restarted, and what state that cost. */
  readonly notices?: ReadonlyArray<string>
}

/**
 * Makes a result; its output is empty, and its exit code 0, where none is given.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fields: Partial<CommandResult> = {}): CommandResult => ({
  stdout: "",
  stderr: "",
  exitCode: 0,
  ...fields
})

/**
 * Says a result's advice to an audience, on standard error.
 *
 * @since 0.1.0
 * @category combinators
 */
export const say = (result: CommandResult, audience: Advice.Audience): CommandResult => {
  const { advice = [], ...said } = result
  return advice.length === 0 ? result : { ...said, stderr: `${said.stderr}${Advice.render(advice, audience)}\n` }
}
