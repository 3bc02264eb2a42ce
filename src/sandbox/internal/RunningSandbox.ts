/**
 * Follows the sandbox around a session's shell: its masks, grants and network, and how they change while it runs. The
 * sandbox outlives single shells and ends when the session's shells are restarted.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { ShellLauncher } from "../../session/ShellLauncher.js"
import type { NetworkMeter } from "../platform/NetworkMeter.js"
import {
  begin,
  type LiveSandbox,
  type Mask,
  type MaskWatch,
  SandboxPlatform,
  type Stopped,
  type Wrapped
} from "../platform/SandboxPlatform.js"
import * as HostPath from "../policy/HostPath.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import { type Grant, NotThere } from "../SandboxBackend.js"

/** Wraps the shells of one session, and changes the running sandbox. */
export type RunningSandbox = Effect.Effect.Success<ReturnType<typeof make>>

interface Running {
  readonly live: LiveSandbox | undefined
  /** The masks at the start of the sandbox. They count if no watch keeps track of them. */
  readonly masks: ReadonlyArray<Mask>
  readonly watch: MaskWatch | undefined
  readonly network: NetworkMeter | undefined
  readonly scope: Scope.Scope
  /** The grants given while it ran. */
  granted: ReadonlyArray<Grant>
  /**
   * When (`performance.now()`) the masks are next checked before a command, and (`checkAhead`) when they may be checked
   * in the background.
   */
  checkAt: number
  checkAhead: number
}

/**
 * The pause between two checks of the masks, in ms: `checkRarely` times the duration of a check, because reading a long
 * mount table is slow; between `checkEvery` and `checkAtLast`. The README names this limit.
 */
const checkEvery = 5
const checkRarely = 50
const checkAtLast = 100
/**
 * The fraction of that pause after which the masks may be checked in the background, so that the next command need not
 * wait.
 */
const ahead = 0.75

const pauseChecks = (running: Running, pause: number): void => {
  const now = performance.now()
  running.checkAt = now + pause
  running.checkAhead = now + pause * ahead
}

/** How many sentences wait for the next result. */
const mostNotices = 5

/** The result of stopping processes if only the shell runs. */
const nobody: Stopped = { count: 0, goOn: () => {} }

const stoppedMeanwhile = "Background processes were stopped meanwhile: what was allowed once is not theirs."

const isSame = (one: Grant) => (other: Grant) => one.access === other.access && one.resource === other.resource

/** The error for a change that only a new sandbox could have. */
export const unchangeable = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: "this sandbox can't be changed while it runs"
  })

/**
 * Makes the launcher for a policy, and follows the sandbox that it starts.
 *
 * @param onMasked called when something has been masked while the sandbox runs
 * @param onProven called before the first command of a sandbox
 * @param attach adds to a sandbox before its first command, while its masks are verified; undefined if there is nothing
 *   to add
 */
export const make = (
  policy: SandboxPolicy,
  onMasked?: () => void,
  onProven?: (heads: ReadonlyArray<string>) => void,
  attach: (live: LiveSandbox) => Effect.Effect<void, never, Scope.Scope> | undefined = () => undefined
) =>
  Effect.gen(function* () {
    const platform = yield* SandboxPlatform
    /** Held by whoever changes the mounts. */
    const mounting = yield* Effect.makeSemaphore(1)
    let running: Running | undefined
    let withheld: ReadonlyArray<string> = []
    let processes: number | undefined
    let killed: Wrapped["killed"]
    let killedBefore = 0
    let isTold = false
    let notices: ReadonlyArray<string> = []
    let attaching: Fiber.Fiber<void> | undefined

    const isGranted = (now: Running | undefined, path: string) =>
      now?.granted.some(({ access, resource }) => access === "read" && resource === path) === true
    const masksOf = (now: Running | undefined) => now?.watch?.masks() ?? now?.masks ?? []

    /**
     * Registers the sandbox as the running one until the scope closes. No command runs before its masks are verified.
     */
    const start = (wrapped: Wrapped, pid: number): Effect.Effect<void, ExecutionFailed, Scope.Scope> =>
      Effect.gen(function* () {
        const live = wrapped.live?.(pid)
        const network = live?.network()
        if (network !== undefined) yield* Effect.addFinalizer(() => Effect.sync(network.close))
        let ours: Running | undefined
        const watch =
          live?.canChange === true
            ? yield* live.watch({
                isGranted: (path) => isGranted(ours, path),
                exclusive: mounting.withPermits(1),
                ...(onMasked === undefined ? {} : { onMasked })
              })
            : undefined
        ours = {
          live,
          masks: wrapped.masks,
          watch,
          network,
          scope: yield* Effect.scope,
          granted: [],
          checkAt: 0,
          checkAhead: 0
        }
        running = ours
        const attached = live && attach(live)
        attaching = attached && (yield* Effect.forkScoped(mounting.withPermits(1)(attached)))
        // Once the process has ended, its pid may be another process's.
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            if (running === ours) running = undefined
          })
        )
        if (live !== undefined) {
          yield* live.prove(watch?.learn)
          // The start counts as a check.
          pauseChecks(ours, checkEvery)
        }
        onProven?.(live?.heads?.() ?? [])
      })

    const isDue = (ahead?: "ahead"): boolean => {
      if (running?.live === undefined) return false
      return performance.now() >= (ahead === undefined ? running.checkAt : running.checkAhead)
    }

    /** Runs a check of the masks, and sets when the next one is due. */
    const checked = <E>(check: Effect.Effect<void, E>): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        const now = running
        const began = performance.now()
        return Effect.map(check, () => {
          const took = performance.now() - began
          if (now !== undefined) pauseChecks(now, Math.min(checkAtLast, Math.max(checkEvery, checkRarely * took)))
        })
      })

    const mend = Effect.suspend(() => {
      const now = running
      if (now?.live === undefined) return Effect.void
      const refreshed: Effect.Effect<void, ExecutionFailed> =
        now.watch?.refresh ?? (now.live.lost(now.masks).length === 0 ? Effect.void : unchangeable())
      return checked(refreshed)
    })

    const launcher: ShellLauncher = ({ cwd, directory, environment, shell }) =>
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const begun = yield* begin(platform, { policy, shell, directory, environment })
        const finish = yield* Effect.cached(Scope.extend(begun.finish, scope))
        return {
          spawnable: begun.spawnable,
          environment: begun.environment,
          isTrial: begun.isTrial ?? false,
          ready: Effect.map(finish, ({ words, wrapped }) => {
            withheld = wrapped.withheld ?? []
            processes = wrapped.processes
            killed = wrapped.killed
            killedBefore = 0
            return words
          }),
          prove: (pid) => Effect.flatMap(finish, ({ wrapped }) => Scope.extend(start(wrapped, pid), scope)),
          // The shell may have taken so long to answer that the masks are due for a check.
          started: Effect.zipRight(
            Effect.suspend(() => (cwd === policy.cwd ? (running?.live?.arrive ?? Effect.void) : Effect.void)),
            Effect.suspend(() => (isDue() ? mend : Effect.void))
          ).pipe(
            Effect.zipRight(Effect.suspend(() => (attaching === undefined ? Effect.void : Fiber.join(attaching))))
          ),
          explain: (stderr) => begun.explain?.(stderr)
        }
      })

    return {
      /** Wraps the session's shells, which follow one another in one sandbox. */
      launcher,
      isThere: () => running !== undefined,
      /** Tests whether the sandbox can be changed while it runs. */
      canChange: () => running === undefined || running.live?.canChange === true,
      /** Tests whether a person granted this sandbox to read a path. */
      isGranted: (path: string) => isGranted(running, path),
      /** Returns what was granted to the sandbox since it began: the same list until that changes. */
      granted: () => running?.granted ?? [],
      masks: () => masksOf(running),
      /** Returns the names of the variables that the sandbox removes. */
      withheld: () => withheld,
      /** Returns the sandbox's limit of processes and threads, if any. */
      processes: () => processes,
      /** Reports processes that the kernel has killed since the last call, at the limit of memory. */
      overMemory: (): string | undefined => {
        const before = killedBefore
        killedBefore = killed?.() ?? 0
        if (killedBefore <= before || policy.memory === undefined) return undefined
        return `The kernel killed what used most memory: commands have ${policy.memory} MiB. More is given by "policy": { "limits": { "memory": ${2 * policy.memory} } } in sandbox.json.`
      },
      /** Returns the meter of the sandbox's network traffic, if any. */
      network: () => running?.network,
      /**
       * Ends the processes that hold open what has been masked meanwhile; `notice` reports them. With `before`, in
       * clock ticks since boot, only older processes.
       */
      evict: (before?: number) =>
        Effect.suspend(() =>
          Effect.map(running?.watch?.evict(before) ?? Effect.succeed([]), (said) => {
            notices = [...notices, ...said].slice(-mostNotices)
          })
        ),
      // Looked at while holding `mounting`: the start of the sandbox may still be attaching to it.
      /** Attaches to the running sandbox, if any, until it ends. */
      attach: mounting.withPermits(1)(
        Effect.suspend(() => {
          const { live, scope } = running ?? {}
          const attached = live && attach(live)
          return attached === undefined || scope === undefined ? Effect.void : Scope.extend(attached, scope)
        })
      ),
      /** Returns the ports at which the sandbox's servers listen. */
      listening: () => running?.live?.listening?.() ?? [],
      /** Tests whether something was masked and its holders have not been looked for. */
      isEvictionDue: () => running?.watch?.isEvictionDue() === true,
      /** Returns, once, sentences about unusual measures to keep the masks in place. */
      notice: () => {
        if (notices.length > 0) {
          const said = notices.join(" ")
          notices = []
          return said
        }
        if (isTold || running?.watch?.isPolling() !== true) return undefined
        isTold = true
        return "The system has no file watches left: what the policy denies is looked for every 0.1 s instead."
      },
      /**
       * Tests whether the masks must be checked before the next command; with `ahead`, whether they may be checked in
       * the background.
       */
      isDue,
      /** Renews masks over what the host has replaced or created. Fails if only a new sandbox can mask it. */
      mend,
      /** Returns the directories with a `HEAD`, as in a git directory, that the last scan found. */
      heads: () => running?.live?.heads?.() ?? [],
      /**
       * Changes a path outside and makes the result read-only in the running sandbox, unless `only`. Returns whether it
       * is read-only.
       */
      protect: (path: string, change: () => void, only: boolean): Effect.Effect<boolean, ExecutionFailed> =>
        Effect.suspend(() => {
          const alone = Effect.try({
            try: () => {
              change()
              return false
            },
            catch: (error) => new ExecutionFailed({ kind: "sandbox", reason: `${path}: ${(error as Error).message}` })
          })
          const protect = running?.live?.canChange === true && !only ? running.live.protect?.(path, change) : undefined
          return protect === undefined
            ? alone
            : Effect.orElse(Effect.as(mounting.withPermits(1)(Effect.uninterruptible(protect)), true), () => alone)
        }),
      /** Scans the directories for new files that the policy masks, and masks them. */
      scan: Effect.suspend(() => {
        const { live, watch } = running ?? {}
        return live === undefined || watch === undefined ? Effect.void : checked(Effect.flatMap(live.scan, watch.learn))
      }),
      /**
       * Gives a grant to the running sandbox. Fails with NotThere for writing to a missing path, and with
       * ExecutionFailed if only a new sandbox can have the grant.
       */
      grant: (grant: Grant) =>
        Effect.suspend((): Effect.Effect<void, ExecutionFailed | NotThere> => {
          const now = running
          const live = now?.live
          if (now === undefined || live === undefined) return unchangeable()
          if (grant.access === "write" && HostPath.isMissing(grant.resource)) {
            return new NotThere({ resource: grant.resource })
          }
          // Recorded first, because the watch restores a mask that is removed without a grant.
          now.granted = [...now.granted, grant]
          const given =
            grant.access === "read"
              ? Effect.as(live.removeMask(grant.resource, grant.identity), [])
              : live.addBind(grant.resource, grant.identity)
          return mounting
            .withPermits(1)(Effect.uninterruptible(given))
            .pipe(
              Effect.tapError(() =>
                Effect.sync(() => {
                  now.granted = now.granted.filter((one) => !isSame(grant)(one))
                })
              ),
              Effect.flatMap((masks) => now.watch?.learn(masks) ?? Effect.void)
            )
        }),
      /** Runs with the sandbox's current processes stopped, except the shell. The next `notice` reports them. */
      alone: <A, E>(use: Effect.Effect<A, E>): Effect.Effect<A, E | ExecutionFailed> =>
        Effect.acquireUseRelease(
          Effect.suspend(() => running?.live?.stopOthers ?? Effect.succeed(nobody)),
          ({ count }) => {
            if (count > 0) notices = [...notices, stoppedMeanwhile].slice(-mostNotices)
            return use
          },
          ({ goOn }) => Effect.sync(goOn)
        ),
      /** Revokes a grant, if the sandbox has it. */
      revoke: (grant: Grant): Effect.Effect<void, ExecutionFailed> =>
        mounting.withPermits(1)(
          Effect.suspend(() => {
            const now = running
            // A sandbox that has ended meanwhile has no grants any more.
            if (now?.live === undefined || !now.granted.some(isSame(grant))) return Effect.void
            now.granted = now.granted.filter((given) => !isSame(grant)(given))
            if (grant.access === "write" || now.live.isHidden?.(grant.resource) === true) {
              return now.live.removeBind(grant.resource)
            }
            return now.live.addMasks(now.live.lost(masksOf(now).filter(({ path }) => path === grant.resource)))
          })
        )
    }
  })
