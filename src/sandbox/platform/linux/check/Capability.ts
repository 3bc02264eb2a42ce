/**
 * What is known of this machine's sandboxes: the level that they are built at, and why the last one did not start.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as NoSandbox from "../plan/NoSandbox.js"
import type { Level } from "../start/Launch.js"
import * as Programs from "../start/Programs.js"
import * as Cause from "./Cause.js"
import * as Doctor from "./Doctor.js"
import * as Expectation from "./Expectation.js"

/**
 * Finds out what the machine can do, and keeps it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Capability {
  /**
   * Returns the level to build a sandbox at: without a test where nothing speaks against it (`Expectation`); otherwise, or
   * after such a start has failed, by `examine`.
   */
  readonly level: (
    programs: Programs.Programs
  ) => Effect.Effect<{ readonly level: Level; readonly isExamined: boolean }, ExecutionFailed>
  /** Tests once what the machine can do (`Doctor`); fails with the obstacle where it can't have a sandbox. */
  readonly examine: (programs: Programs.Programs) => Effect.Effect<Level, ExecutionFailed>
  /** Learns that a sandbox has started. */
  readonly succeeded: () => void
  /** Learns that a sandbox did not start; returns the error that says why, from its standard error. */
  readonly failed: (stderr: string) => ExecutionFailed
  /** Returns what is in the way of a sandbox, as far as that is known without an attempt (`SandboxPlatform`). */
  readonly obstacle: (environment: Readonly<Record<string, string>>) => string | undefined
}

/**
 * Makes it; nothing is known at first.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Capability> = Effect.gen(function* () {
  const reportOn = yield* Effect.cachedFunction(
    (programs: Programs.Programs) => Doctor.examine(programs),
    (a, b) => JSON.stringify(a) === JSON.stringify(b)
  )
  let isDisappointed = false
  /** The reason why the last attempt to start a sandbox failed; undefined once one has started. */
  let lastFailure: string | undefined
  const fail = (reason: string) => {
    lastFailure = reason
    return NoSandbox.because(reason)
  }
  const examine = (programs: Programs.Programs) =>
    Effect.flatMap(reportOn(programs), (report) => {
      const refusal = Doctor.refusal(report)
      return report.level === undefined || refusal !== undefined
        ? fail(refusal ?? "no sandbox: this machine can't have one")
        : Effect.succeed(report.level)
    })
  return {
    level: (programs) => {
      const expected = isDisappointed ? undefined : Expectation.level(programs)
      return expected === undefined
        ? Effect.map(examine(programs), (level) => ({ level, isExamined: true }))
        : Effect.succeed({ level: expected, isExamined: false })
    },
    examine,
    succeeded: () => {
      lastFailure = undefined
    },
    failed: (stderr) => {
      isDisappointed = true
      return fail(Cause.sentence(Cause.of(stderr, { version: undefined, facts: Cause.readFacts("/proc") })))
    },
    obstacle: (environment) => {
      const { bash, bwrap } = Programs.find(environment["PATH"] ?? "")
      if (bwrap === undefined) return Cause.sentence(Cause.noBubblewrap)
      return bash === undefined ? Cause.sentence(Cause.noBash) : lastFailure
    }
  }
})
