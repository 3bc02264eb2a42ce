/** What is known of this machine's sandboxes: the level that they are built at, and why the last one did not start. */

import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as NoSandbox from "../plan/NoSandbox.js"
import type { Level } from "../start/Launch.js"
import * as Programs from "../start/Programs.js"
import * as Doctor from "./Doctor.js"

/** Finds out what the machine can do, and keeps it. */
export interface Capability {
  /**
   * Returns the level to build a sandbox at: the highest without a test, where its programs are there; by `examine` once
   * such a start has failed.
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

/** Makes it; nothing is known at first. */
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
      const isUnclear = isDisappointed || Object.values(programs).includes(undefined)
      const highest: Level = process.getuid?.() === 0 ? "mount" : "user"
      return isUnclear
        ? Effect.map(examine(programs), (level) => ({ level, isExamined: true }))
        : Effect.succeed({ level: highest, isExamined: false })
    },
    examine,
    succeeded: () => {
      lastFailure = undefined
    },
    failed: (stderr) => {
      isDisappointed = true
      return fail(Doctor.sentence(Doctor.explain(stderr, { version: undefined, facts: Doctor.readFacts("/proc") })))
    },
    obstacle: (environment) => {
      const { bash, bwrap } = Programs.find(environment["PATH"] ?? "")
      if (bwrap === undefined) return Doctor.sentence(Doctor.noBubblewrap)
      return bash === undefined ? Doctor.sentence(Doctor.noBash) : lastFailure
    }
  }
})
