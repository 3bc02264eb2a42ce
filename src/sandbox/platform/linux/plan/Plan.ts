/** The plan of a sandbox: its layout, written down as what bubblewrap and the launch read. */
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import { isWithin } from "../../../policy/HostPath.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import * as ToolCache from "../../ToolCache.js"
import * as BubblewrapPlan from "./BubblewrapPlan.js"
import * as IndexFile from "./IndexFile.js"
import * as Layout from "./Layout.js"
import * as NoSandbox from "./NoSandbox.js"
import * as PlanDirectory from "./PlanDirectory.js"
import * as Seccomp from "./Seccomp.js"
import type { Machine } from "./Syscall.js"
import * as Unworkable from "./Unworkable.js"

/** The options of `make`. */
export interface PlanOptions extends Pick<BubblewrapPlan.PlanOptions, "gate" | "masksFromOutside"> {
  readonly policy: SandboxPolicy
  /** The private directory of the session. */
  readonly session: string
  /** The shell's program. */
  readonly program: string
  /** The places for private directories of the user's sessions. */
  readonly places: ReadonlyArray<string>
  /** Directories that commands read also where the sandbox has a directory for temporary files of its own around them. */
  readonly shown: ReadonlyArray<string> | undefined
  /** A directory for the indexes of the directories that are walked. */
  readonly index: string | undefined
  /** The directory that the plan is written to. */
  readonly directory: PlanDirectory.PlanDirectory
  readonly machine: Machine
  /** The variables of the commands; `within` are those that only the commands may have, not bubblewrap itself. */
  readonly variables: Readonly<Record<string, string>>
  readonly within: Readonly<Record<string, string>>
}

/** A plan that has been written. */
export interface Plan {
  readonly layout: Layout.Layout
  /** The indexes of the directories that were walked. */
  readonly indexes: IndexFile.Indexes | undefined
  /** The time of `Date.now()` at which the walk began. */
  readonly walked: number
}

/**
 * Walks the directories that a policy names, and writes the plan; fails where it can't be built as the policy says.
 */
export const make = (options: PlanOptions): Effect.Effect<Plan, ExecutionFailed> =>
  Effect.gen(function* () {
    const { directory, gate, machine, masksFromOutside, policy, variables } = options
    let indexes: IndexFile.Indexes | undefined
    const indexesFor = (roots: ReadonlyArray<string>) => {
      const kept = options.index === undefined ? undefined : IndexFile.make(options.index, roots)
      indexes = kept ?? IndexFile.memory()
      return indexes
    }
    const walked = Date.now()
    const layout = yield* NoSandbox.attemptPromise("its directories could not be searched", () =>
      Layout.make(
        policy,
        options.session,
        [options.program],
        indexesFor,
        options.places,
        ToolCache.find(policy),
        options.shown
      )
    )
    const flaw = Unworkable.find(policy, layout)
    if (flaw !== undefined) return yield* NoSandbox.because(`no sandbox: ${flaw}`)
    const caches =
      layout.toolCache === undefined
        ? {}
        : ToolCache.variables(layout.toolCache, variables, (path) => layout.roots.some((root) => isWithin(path, root)))
    const isRoot = process.getuid?.() === 0
    yield* NoSandbox.attempt("its plan could not be written", () =>
      PlanDirectory.write(directory, {
        arguments: BubblewrapPlan.make({
          layout,
          masksFromOutside,
          gate,
          directory,
          user: isRoot ? undefined : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
          environment: { ...options.within, ...caches }
        }),
        gate,
        seccomp: Seccomp.make(machine, { isRoot, unixSockets: policy.unixSockets === true }),
        masks: masksFromOutside ? layout.masks : []
      })
    )
    return { layout, indexes, walked }
  })
