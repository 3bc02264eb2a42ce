/** What is known of this machine's sandboxes: the level that they are built at, and why the last one did not start. */

import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as MountTable from "../plan/MountTable.js"
import * as NoSandbox from "../plan/NoSandbox.js"
import type { Level } from "../start/Launch.js"
import type { Programs as ProgramsOfExpectation } from "../start/Programs.js"
import * as Programs from "../start/Programs.js"
import * as Doctor from "./Doctor.js"
import * as Cause from "./internal/Cause.js"

/** CAP_SYS_ADMIN, as a bit of the set in `/proc/self/status`. */
const systemAdministration = 1n << 21n

const setUserId = 0o4000

const read = (path: string): string => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * Tests whether this process runs under a seccomp filter (as containers do), or a profile of AppArmor or SELinux: these
 * may forbid anything.
 */
const isConfined = (proc: string, status: string): boolean => {
  const label = read(`${proc}/self/attr/current`)
  return !/^Seccomp:\s*0$/m.test(status) || !(label === "" || /\bunconfined(_t)?\b/.test(label))
}

/**
 * Tests whether this process runs in a `chroot`, or something hides a part of `/proc`: user namespaces do not work
 * then.
 */
const isPartial = (mounts: ReadonlyArray<MountTable.Mount>): boolean =>
  !mounts.some(({ point }) => point === "/") ||
  mounts.some(({ point }) => point.startsWith("/proc/") && point !== "/proc/sys/fs/binfmt_misc")

const forbidsNamespaces = ({ apparmorRestricts, isRoot, maxUserNamespaces, unprivilegedClone }: Cause.Facts): boolean =>
  // 0 and unknown are treated alike.
  !((maxUserNamespaces ?? 0) > 0) || (!isRoot && (unprivilegedClone === 0 || (apparmorRestricts ?? 0) !== 0))

const isSetUserId = (path: string): boolean => {
  const mode = Fs.statSync(path, { throwIfNoEntry: false })?.mode
  return mode === undefined || (mode & setUserId) !== 0
}

/**
 * Predicts the level that a sandbox will be built at; undefined where only a test (`Doctor`) can tell. The prediction
 * may be wrong: then no sandbox starts. `proc` is `/proc` outside of tests.
 */
export const levelExpectation = (programs: ProgramsOfExpectation, proc = "/proc"): Level | undefined => {
  const { bash, bwrap, mount, nsenter, umount, unshare } = programs
  if ([bash, bwrap, mount, nsenter, umount, unshare].includes(undefined)) return undefined
  const facts = Cause.readFacts(proc)
  const status = read(`${proc}/self/status`)
  if (
    forbidsNamespaces(facts) ||
    isConfined(proc, status) ||
    isPartial(MountTable.parse(read(`${proc}/self/mountinfo`))) ||
    isSetUserId(bwrap ?? "")
  ) {
    return undefined
  }
  if (!facts.isRoot) return "user"
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`)
  return (capabilities & systemAdministration) === 0n ? undefined : "mount"
}

/** Finds out what the machine can do, and keeps it. */
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
      const expected = isDisappointed ? undefined : levelExpectation(programs)
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
