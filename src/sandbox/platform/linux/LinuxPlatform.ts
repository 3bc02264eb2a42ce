/**
 * The sandbox of Linux: bubblewrap, with the policy enforced by the kernel's mounts, namespaces and seccomp.
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExecutionFailed } from "../../../domain/CommandError.js"
import * as PrivateDirectory from "../../../session/PrivateDirectory.js"
import * as SessionProcesses from "../../../session/SessionProcesses.js"
import { isWithin } from "../../policy/HostPath.js"
import { realOf, type SandboxPolicy } from "../../policy/SandboxPolicy.js"
import * as Environment from "../Environment.js"
import * as SandboxPlatform from "../SandboxPlatform.js"
import * as TemporaryDirectory from "../TemporaryDirectory.js"
import * as Doctor from "./check/Doctor.js"
import * as Probe from "./check/Probe.js"
import * as LiveMasks from "./live/LiveMasks.js"
import * as LiveNamespace from "./live/LiveNamespace.js"
import * as NoSandbox from "./plan/NoSandbox.js"
import * as Plan from "./plan/Plan.js"
import * as WriteRoots from "./plan/WriteRoots.js"
import * as Cgroup from "./start/Cgroup.js"
import type { Level } from "./start/Launch.js"
import * as Launch from "./start/Launch.js"
import * as Programs from "./start/Programs.js"

/** Finds out what the machine can do, and caches it. Nothing is known at first. */
const makeCapability = Effect.gen(function* () {
  const reportOn = yield* Effect.cachedFunction(
    (programs: Programs.Programs) => Doctor.examine(programs),
    (a, b) => JSON.stringify(a) === JSON.stringify(b)
  )
  let isDisappointed = false
  /** Why the last attempt to start a sandbox failed; undefined once one has started. */
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
    /**
     * Returns the level to build a sandbox at. The first choice is the highest whose programs exist, untested; once
     * such a start has failed, `examine` decides.
     */
    level: (
      programs: Programs.Programs
    ): Effect.Effect<{ readonly level: Level; readonly isExamined: boolean }, ExecutionFailed> => {
      const isUnclear = isDisappointed || Object.values(programs).includes(undefined)
      const highest: Level = process.getuid?.() === 0 ? "mount" : "user"
      return isUnclear
        ? Effect.map(examine(programs), (level) => ({ level, isExamined: true }))
        : Effect.succeed({ level: highest, isExamined: false })
    },
    /** Tests once what the machine can do (`Doctor`). Fails with the obstacle if it can't have a sandbox. */
    examine,
    /** Records that a sandbox has started. */
    succeeded: () => {
      lastFailure = undefined
    },
    /** Records that a sandbox did not start. Returns the error that explains it, from its standard error. */
    failed: (stderr: string) => {
      isDisappointed = true
      return fail(Doctor.sentence(Doctor.explain(stderr, { version: undefined, facts: Doctor.readFacts("/proc") })))
    },
    /** Returns what prevents a sandbox, as far as that is known without an attempt (`SandboxPlatform`). */
    obstacle: (environment: Readonly<Record<string, string>>) => {
      const { bash, bwrap } = Programs.find(environment["PATH"] ?? "")
      if (bwrap === undefined) return Doctor.sentence(Doctor.noBubblewrap)
      return bash === undefined ? Doctor.sentence(Doctor.noBash) : lastFailure
    }
  }
})

export interface LinuxOptions {
  /** Names and patterns of variables that commands get besides the allow-list. */
  readonly environment?: ReadonlyArray<string>
  /** The level to build sandboxes at; by default, the highest that the machine allows. */
  readonly level?: Launch.Level
  /** False disables the cgroup that limits the number of processes in root's sandboxes. */
  readonly cgroup?: boolean
  /** The directory of all private temporary directories, which no sandbox shows. */
  readonly temporaries?: string
  /**
   * The places for private directories of the user's sessions, which no sandbox shows; by default,
   * `PrivateDirectory.places`.
   */
  readonly places?: ReadonlyArray<string>
}

const noMemoryLimit =
  "no sandbox: limits.memory in sandbox.json needs a cgroup of memory, and none can be made here. Remove the limit, or run where Synapse may make one"

/** Returns the places that sandboxes of this policy, or of the policy it was derived from, may have written. */
const writableOutside = ({ temporary, toolCache, ...policy }: SandboxPolicy): ReadonlyArray<string> => [
  ...WriteRoots.make({ ...policy, whitelist: [...(policy.shown ?? []), ...policy.whitelist] }).roots,
  ...[toolCache, temporary].flatMap((rule) => (rule === undefined ? [] : [realOf(rule)]))
]

export const make = (options: LinuxOptions = {}) =>
  Effect.gen(function* () {
    const capability = yield* makeCapability
    const isLimited = process.getuid?.() === 0 && options.cgroup !== false

    const prepare = Effect.fn("LinuxPlatform.wrap")(function* (given: SandboxPlatform.WrapOptions, early: boolean) {
      const { directory, environment, policy, shell } = given
      const { processes = Launch.processes } = policy
      const memory = policy.memory === undefined ? undefined : policy.memory * 1024 ** 2
      if (isLimited || memory !== undefined) yield* Cgroup.warm
      const writable = writableOutside(policy)
      const programs = Programs.find(environment["PATH"] ?? "", writable)
      const { places } = yield* SessionProcesses.acquire(
        NoSandbox.attempt("a place for sessions is not theirs", () =>
          PrivateDirectory.reserve(options.places ?? PrivateDirectory.places(), (path) =>
            writable.some((root) => isWithin(path, root))
          )
        ),
        (reserved) => reserved.release()
      )
      const { isExamined, level: known } = yield* capability.level(programs)
      const { bash, bwrap } = programs
      const machine = Probe.machine()
      if (bash === undefined || bwrap === undefined || machine === undefined) {
        return yield* Effect.zipRight(
          capability.examine(programs),
          NoSandbox.because("no sandbox: this machine can't have one")
        )
      }
      const level = options.level ?? known
      const masksFromOutside = level !== "single"
      const plan = yield* SessionProcesses.acquire(
        NoSandbox.attempt("its directory could not be made", () => Plan.makeDirectory(Path.dirname(directory))),
        Plan.removeDirectory
      )
      const cgroups = yield* Cgroup.acquire({ memory, processes: isLimited ? processes : undefined })
      if (cgroups.limits.memory !== memory) return yield* NoSandbox.because(noMemoryLimit)
      const gate = cgroups.files.length > 0 || masksFromOutside
      const variables = Environment.make(environment, [...(options.environment ?? []), ...(policy.environment ?? [])])
      const { outside, within } = Environment.divide(variables)
      const begun = {
        spawnable: Launch.make({
          ...{ level, plan, programs: { ...programs, bash, bwrap }, gate, shell, early, processes },
          cgroups: cgroups.files,
          watches: masksFromOutside ? Launch.find() : undefined
        }),
        environment: outside,
        isTrial: !isExamined,
        explain: capability.failed
      }

      const finish = Effect.gen(function* () {
        const temporary = yield* SessionProcesses.acquire(
          Effect.sync(() => TemporaryDirectory.find(policy)),
          (held) => held?.release()
        )
        const walked = Date.now()
        const layout = yield* Plan.make({
          policy,
          session: directory,
          program: shell.program,
          places: [...places, ...TemporaryDirectory.parents(options.temporaries)],
          temporary,
          directory: plan,
          machine,
          gate,
          masksFromOutside,
          variables,
          within
        })
        const wrapped = {
          ...begun,
          withheld: Environment.withheld(environment, variables),
          processes: process.getuid?.() === 0 ? cgroups.limits.processes : processes,
          killed: memory === undefined ? undefined : cgroups.killed,
          masks: [...layout.masks, ...layout.openings.map((opening) => opening.mask)],
          policy,
          layout,
          level,
          /**
           * Called only after the supervisor has reported or the shell has written output, so the sandbox has started.
           */
          live: (pid: number) => {
            capability.succeeded()
            const namespace = LiveNamespace.make({ pid, level, layout, plan, programs, policy, temporary })
            return LiveMasks.make(namespace, policy, layout, walked)
          }
        }
        return { wrapped, words: early ? `${Launch.go}\0` : "" }
      })
      return { ...begun, finish }
    })

    return {
      name: "bubblewrap",
      obstacle: capability.obstacle,
      refine: (policy: SandboxPolicy, userHome: string) =>
        policy.unixSockets === "own"
          ? Effect.map(
              NoSandbox.attemptPromise("the machine's sockets could not be searched", async () =>
                (await import("./plan/HostSockets.js")).find(policy, userHome)
              ),
              (rules): SandboxPolicy => ({ ...policy, blacklist: [...policy.blacklist, ...rules] })
            )
          : Effect.succeed(policy),
      wrap: (given: SandboxPlatform.WrapOptions) =>
        Effect.flatMap(prepare(given, false), ({ finish }) => Effect.map(finish, ({ wrapped }) => wrapped)),
      begin: (given: SandboxPlatform.WrapOptions) => prepare(given, true)
    }
  })

/** A wrapped shell, with details specific to this platform. */
export type LinuxWrapped = Effect.Effect.Success<ReturnType<Effect.Effect.Success<ReturnType<typeof make>>["wrap"]>>

/** A layer which wraps shells with bubblewrap, at the highest level that the machine allows. */
export const layer: Layer.Layer<SandboxPlatform.SandboxPlatform> = Layer.effect(SandboxPlatform.SandboxPlatform, make())
