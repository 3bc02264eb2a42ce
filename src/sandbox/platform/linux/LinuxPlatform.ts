/**
 * The sandbox of Linux: bubblewrap, with the policy enforced by the kernel's mounts, namespaces and seccomp.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as PrivateDirectory from "../../../session/PrivateDirectory.js"
import * as SessionProcesses from "../../../session/SessionProcesses.js"
import { isWithin } from "../../policy/HostPath.js"
import type { SandboxPolicy } from "../../policy/SandboxPolicy.js"
import * as Environment from "../Environment.js"
import * as SandboxPlatform from "../SandboxPlatform.js"
import * as ToolCache from "../ToolCache.js"
import * as Cause from "./check/Cause.js"
import * as Doctor from "./check/Doctor.js"
import * as Expectation from "./check/Expectation.js"
import * as Probe from "./check/Probe.js"
import * as LiveMasks from "./live/LiveMasks.js"
import * as LiveNamespace from "./live/LiveNamespace.js"
import * as NetworkCounters from "./live/NetworkCounters.js"
import * as BubblewrapPlan from "./plan/BubblewrapPlan.js"
import * as IndexFile from "./plan/IndexFile.js"
import * as Layout from "./plan/Layout.js"
import * as MountTable from "./plan/MountTable.js"
import * as PlanDirectory from "./plan/PlanDirectory.js"
import * as Seccomp from "./plan/Seccomp.js"
import * as Unworkable from "./plan/Unworkable.js"
import * as WriteRoots from "./plan/WriteRoots.js"
import * as Cgroup from "./start/Cgroup.js"
import * as Launch from "./start/Launch.js"
import * as Programs from "./start/Programs.js"
import * as WatchLimits from "./start/WatchLimits.js"

/**
 * The options of the platform.
 *
 * @since 0.1.0
 * @category models
 */
export interface LinuxOptions {
  /** Names and patterns of variables that commands get besides those of the allow-list. */
  readonly environment?: ReadonlyArray<string>
  /** The level to build sandboxes at; by default, the highest that the machine allows. */
  readonly level?: Launch.Level
  /** False keeps root's sandboxes from getting a cgroup, which limits the number of their processes. */
  readonly cgroup?: boolean
  /**
   * A directory, which no sandbox can write, for the indexes of the directories that every start walks. Where it is not
   * given, or commands may write it, every start reads all of them.
   */
  readonly index?: string
  /** The places for private directories of the user's sessions, which no sandbox sees; `PrivateDirectory.places`. */
  readonly places?: ReadonlyArray<string>
  /** Directories that commands read also where the sandbox has a directory for temporary files of its own around them. */
  readonly shown?: ReadonlyArray<string>
}

/**
 * A wrapped shell, with the details that only this platform has.
 *
 * @since 0.1.0
 * @category models
 */
export interface LinuxWrapped extends SandboxPlatform.Wrapped {
  readonly policy: SandboxPolicy
  readonly layout: Layout.Layout
  readonly level: Launch.Level
  /**
   * Returns the running sandbox whose shell was spawned with that pid; the keeper must have reported, or the shell have
   * written its first output.
   */
  readonly live: (pid: number) => LiveNamespace.LiveNamespace & SandboxPlatform.LiveSandbox
  /** Explains why the sandbox could not start, from its standard error. */
  readonly explain: (stderr: string) => ExecutionFailed
}

/**
 * The platform, whose wrapped shells have the details that only Linux has.
 *
 * @since 0.1.0
 * @category models
 */
export interface LinuxPlatform extends Context.Tag.Service<SandboxPlatform.SandboxPlatform> {
  readonly wrap: (options: SandboxPlatform.WrapOptions) => Effect.Effect<LinuxWrapped, ExecutionFailed, Scope.Scope>
  readonly begin: (
    options: SandboxPlatform.WrapOptions
  ) => Effect.Effect<SandboxPlatform.Begun, ExecutionFailed, Scope.Scope>
}

const fail = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const attempt = <A>(what: string, run: () => A): Effect.Effect<A, ExecutionFailed> =>
  Effect.try({
    try: run,
    catch: (error) => fail(`no sandbox: ${what}: ${wordsOf(error)}`)
  })

/** Returns the places that sandboxes of this policy, or of the one that it comes from, may have written. */
const writableOutside = ({ toolCache, ...policy }: SandboxPolicy): ReadonlyArray<string> => [
  ...WriteRoots.make({ ...policy, whitelist: [...(policy.shown ?? []), ...policy.whitelist] }).roots,
  ...(toolCache === undefined ? [] : [toolCache.real ?? toolCache.path])
]

/** Milliseconds after which the sandbox's start keeps this process busy no more. */
const soon = 2

/**
 * Makes the platform. It starts a sandbox without a test where nothing speaks against it (`Expectation`); otherwise, or
 * after such a start has failed, it tests once what the machine can do (`Doctor`).
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: LinuxOptions = {}): Effect.Effect<LinuxPlatform> =>
  Effect.gen(function* () {
    const examine = yield* Effect.cachedFunction(
      (programs: Programs.Programs) => Doctor.examine(programs),
      (a, b) => JSON.stringify(a) === JSON.stringify(b)
    )
    let isDisappointed = false
    /** The reason why the last attempt to start a sandbox failed; undefined once one has started. */
    let lastFailure: string | undefined
    const failed = (reason: string) => {
      lastFailure = reason
      return fail(reason)
    }
    const examined = (programs: Programs.Programs) =>
      Effect.flatMap(examine(programs), (report) => {
        const refusal = Doctor.refusal(report)
        return report.level === undefined || refusal !== undefined
          ? failed(refusal ?? "no sandbox: this machine can't have one")
          : Effect.succeed(report.level)
      })
    const levelOf = (programs: Programs.Programs) => {
      const expected = isDisappointed ? undefined : Expectation.level(programs)
      return expected === undefined
        ? Effect.map(examined(programs), (level) => ({ level, isExamined: true }))
        : Effect.succeed({ level: expected, isExamined: false })
    }
    const isRoot = process.getuid?.() === 0
    const user = isRoot ? undefined : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

    const isLimited = isRoot && options.cgroup !== false

    const prepare = Effect.fn("LinuxPlatform.wrap")(function* (given: SandboxPlatform.WrapOptions, early: boolean) {
      const { directory, environment, policy, shell } = given
      if (isLimited) yield* Cgroup.warm
      const writable = writableOutside(policy)
      const programs = Programs.find(environment["PATH"] ?? "", writable)
      const { places } = yield* Effect.acquireRelease(
        attempt("a place for sessions is not theirs", () => {
          const reserved = PrivateDirectory.reserve(options.places ?? PrivateDirectory.places(), (path) =>
            writable.some((root) => isWithin(path, root))
          )
          return { ...reserved, forget: SessionProcesses.atExit(reserved.release) }
        }),
        (reserved) =>
          Effect.sync(() => {
            reserved.forget()
            reserved.release()
          })
      )
      const { isExamined, level: known } = yield* levelOf(programs)
      const { bash, bwrap } = programs
      const machine = Probe.machine()
      if (bash === undefined || bwrap === undefined || machine === undefined) {
        return yield* Effect.zipRight(examined(programs), fail("no sandbox: this machine can't have one"))
      }
      const level = options.level ?? known
      const masksFromOutside = level !== "single"
      const plan = yield* Effect.acquireRelease(
        attempt("its directory could not be made", () => {
          const plan = PlanDirectory.make(Path.dirname(directory))
          // Also where the process ends without closing the scope.
          return { ...plan, forget: SessionProcesses.atExit(() => PlanDirectory.remove(plan)) }
        }),
        (plan) =>
          Effect.sync(() => {
            plan.forget()
            PlanDirectory.remove(plan)
          })
      )
      const cgroup = isLimited ? yield* Cgroup.acquire(Launch.processes) : undefined
      const gate = cgroup !== undefined || masksFromOutside
      const variables = Environment.make(environment, [...(options.environment ?? []), ...(policy.environment ?? [])])
      const { outside, within } = Environment.divide(variables)
      const begun: Omit<SandboxPlatform.Begun, "finish"> = {
        spawnable: Launch.make({
          ...{ level, plan, programs: { ...programs, bash, bwrap }, cgroup, gate, shell, early },
          isApart: masksFromOutside && MountTable.areApart(),
          watches: masksFromOutside ? WatchLimits.find() : undefined
        }),
        descriptors: [],
        environment: outside,
        isTrial: !isExamined,
        explain
      }

      /** Walks the directories, and writes the plan. */
      const finish = Effect.gen(function* () {
        let indexes: IndexFile.Indexes | undefined
        const indexesFor = (roots: ReadonlyArray<string>) => {
          const kept = options.index === undefined ? undefined : IndexFile.make(options.index, roots)
          indexes = kept ?? IndexFile.memory()
          return indexes
        }
        const walked = Date.now()
        const layout = yield* Effect.tryPromise({
          try: () =>
            Layout.make(policy, directory, [shell.program], indexesFor, places, ToolCache.find(policy), options.shown),
          catch: (error) => fail(`no sandbox: its directories could not be searched: ${wordsOf(error)}`)
        })
        const flaw = Unworkable.find(policy, layout)
        if (flaw !== undefined) return yield* fail(`no sandbox: ${flaw}`)
        const caches =
          layout.toolCache === undefined
            ? {}
            : ToolCache.variables(layout.toolCache, variables, (path) =>
                layout.roots.some((root) => isWithin(path, root))
              )
        yield* attempt("its plan could not be written", () =>
          PlanDirectory.write(plan, {
            arguments: BubblewrapPlan.make({
              layout,
              masksFromOutside,
              gate,
              directory: plan,
              user,
              environment: { ...within, ...caches }
            }),
            gate,
            seccomp: Seccomp.make(machine, { isRoot, unixSockets: policy.unixSockets === true }),
            masks: masksFromOutside ? layout.masks : []
          })
        )
        // The indexes are written while bubblewrap works.
        if (indexes !== undefined) yield* Effect.forkScoped(Effect.interruptible(Effect.delay(indexes.save, soon)))
        const wrapped: LinuxWrapped = {
          ...begun,
          explain,
          withheld: Environment.withheld(environment, variables),
          masks: [...layout.masks, ...layout.openings.map((opening) => opening.mask)],
          policy,
          layout,
          level,
          live: (pid) => {
            lastFailure = undefined
            return {
              ...LiveMasks.make(
                LiveNamespace.make({ pid, level, layout, plan, programs, policy }),
                policy,
                layout,
                walked,
                indexes
              ),
              network: () => NetworkCounters.meter(pid)
            }
          }
        }
        return { wrapped, words: early ? `${Launch.go}\0` : "" }
      })
      return { ...begun, finish }
    })

    const explain = (stderr: string) => {
      isDisappointed = true
      return failed(Cause.sentence(Cause.of(stderr, { version: undefined, facts: Cause.readFacts("/proc") })))
    }

    const wrap = (given: SandboxPlatform.WrapOptions) =>
      Effect.flatMap(prepare(given, false), ({ finish }) => Effect.map(finish, ({ wrapped }) => wrapped))

    const begin = (given: SandboxPlatform.WrapOptions) => prepare(given, true)

    const obstacle = (environment: Readonly<Record<string, string>>) => {
      const { bash, bwrap } = Programs.find(environment["PATH"] ?? "")
      if (bwrap === undefined) return Cause.sentence(Cause.noBubblewrap)
      return bash === undefined ? Cause.sentence(Cause.noBash) : lastFailure
    }

    return { name: "bubblewrap", obstacle, wrap, begin }
  })

/**
 * A layer which wraps shells with bubblewrap, with options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerOptions = (options: LinuxOptions): Layer.Layer<SandboxPlatform.SandboxPlatform> =>
  Layer.effect(SandboxPlatform.SandboxPlatform, make(options))

/**
 * A layer which wraps shells with bubblewrap, at the highest level that the machine allows.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxPlatform.SandboxPlatform> = layerOptions({})
