/** Tests whether this machine can build a sandbox, and if not, tells why and what to do about it. */
import * as Effect from "effect/Effect"
import type { Level } from "../start/Launch.js"
import type { Programs } from "../start/Programs.js"
import * as Cause from "./internal/Cause.js"
import * as Probe from "./Probe.js"

/** The result of one check. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** True where no sandbox can be built without it. */
  readonly required: boolean
  readonly detail: string
  /** The step that mends it; empty where there is nothing to do. */
  readonly remedy: string
}

/** The results of all checks, and the level that sandboxes are built at. */
export interface Report {
  readonly checks: ReadonlyArray<Check>
  /** The level that sandboxes are built at; undefined where none can be built. */
  readonly level: Level | undefined
}

const passed = (name: string, detail: string): Check => ({ name, ok: true, required: true, detail, remedy: "" })

const failed = ({ detail, name, remedy }: Cause.Cause): Check => ({ name, ok: false, required: true, detail, remedy })

const lesser = (detail: string, remedy: string): Check => ({
  name: "live changes",
  ok: false,
  required: false,
  detail: `${detail}: many masks start slower, and what changes while a sandbox runs takes a new shell`,
  remedy
})

const levelCheck = (programs: Programs, level: Level): Check => {
  if (level !== "single") {
    return {
      name: "live changes",
      ok: true,
      required: false,
      detail: "masks can be added while a sandbox runs",
      remedy: ""
    }
  }
  const missing = (["unshare", "mount", "umount", "nsenter"] as const).filter((name) => programs[name] === undefined)
  return missing.length > 0
    ? lesser(`${missing.join(", ")} not found`, "install util-linux")
    : lesser("no mount namespace of our own", "allow unshare(1) to make user namespaces")
}

const limitCheck = (isRoot: boolean): Check =>
  isRoot
    ? {
        name: "process limit",
        ok: false,
        required: false,
        detail: "the kernel does not limit the number of root's processes; where a pids cgroup can be made, that does",
        remedy: "run as an ordinary user"
      }
    : { name: "process limit", ok: true, required: false, detail: "512 processes in a sandbox", remedy: "" }

/**
 * Tests the machine: runs bubblewrap once with all options that a sandbox needs, and unshare once. `proc` is `/proc`
 * outside of tests.
 */
export const examine = (programs: Programs, proc = "/proc"): Effect.Effect<Report> =>
  Effect.gen(function* () {
    const machine = Probe.machine()
    const { bash, bwrap } = programs
    if (bwrap === undefined) return { level: undefined, checks: [failed(Cause.noBubblewrap)] }
    if (bash === undefined) return { level: undefined, checks: [failed(Cause.noBash)] }
    if (machine === undefined) return { level: undefined, checks: [failed(Cause.otherMachine(process.arch))] }
    const [sandbox, level] = yield* Effect.all([Probe.sandbox(bwrap, machine), Probe.level(programs)], {
      concurrency: "unbounded"
    })
    if (!sandbox.ok) {
      const cause = Cause.of(sandbox.said, { version: sandbox.version, facts: Cause.readFacts(proc) })
      return { level: undefined, checks: [failed(cause)] }
    }
    const isRoot = process.getuid?.() === 0
    return {
      level,
      checks: [
        passed("bwrap", `${bwrap}, version ${sandbox.version ?? "unknown"}`),
        passed("user namespaces", "bubblewrap can make them"),
        passed("seccomp", `the filter for ${machine} is taken`),
        levelCheck(programs, level),
        limitCheck(isRoot)
      ]
    }
  })

/** Returns why no sandbox can be built, with what to do about it, as one message; undefined where one can be built. */
export const refusal = (report: Report): string | undefined => {
  const check = report.checks.find((one) => one.required && !one.ok)
  return check === undefined ? undefined : Cause.sentence(check)
}
