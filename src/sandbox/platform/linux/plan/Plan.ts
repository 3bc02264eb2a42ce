/** The plan of a sandbox: its layout, written down as what bubblewrap and the launch read. */
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import { isWithin } from "../../../policy/HostPath.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type * as TemporaryDirectory from "../../TemporaryDirectory.js"
import * as ToolCache from "../../ToolCache.js"
import * as BubblewrapPlan from "./BubblewrapPlan.js"
import * as Layout from "./Layout.js"
import * as NoSandbox from "./NoSandbox.js"
import * as PlanDirectory from "./PlanDirectory.js"
import type { Machine } from "./Seccomp.js"
import * as Seccomp from "./Seccomp.js"
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
  /** The directory that the sandbox has in the place of `/tmp`. */
  readonly temporary: TemporaryDirectory.Held | undefined
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
  /** The time of `Date.now()` at which the walk began. */
  readonly walked: number
}

/**
 * Walks the directories that a policy names, and writes the plan; fails where it can't be built as the policy says.
 */
export const make = (options: PlanOptions): Effect.Effect<Plan, ExecutionFailed> =>
  Effect.gen(function* () {
    const { directory, gate, machine, masksFromOutside, policy, variables } = options
    const walked = Date.now()
    const layout = yield* NoSandbox.attemptPromise("its directories could not be searched", () =>
      Layout.make(policy, {
        session: options.session,
        needed: [options.program],
        places: options.places,
        toolCache: ToolCache.find(policy),
        kept: options.temporary?.path,
        shown: options.shown
      })
    )
    const flaw = Unworkable.find(policy, layout)
    if (flaw !== undefined) return yield* NoSandbox.because(`no sandbox: ${flaw}`)
    yield* NoSandbox.attempt("its directory for temporary files could not be prepared", () => {
      for (const { inside, isPassing, kind } of Layout.mountPoints(layout)) {
        options.temporary?.point(inside, kind, isPassing ? "passing" : undefined)
      }
    })
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
    return { layout, walked }
  })
