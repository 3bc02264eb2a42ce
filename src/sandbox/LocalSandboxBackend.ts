/**
 * A sandbox on this machine: a persistent shell, wrapped by the platform, whose denials are traced to their rules.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as BashSession from "../session/BashSession.js"
import { SessionSettings } from "../session/SessionSettings.js"
import type { Launch, ShellLauncher } from "../session/ShellLauncher.js"
import * as Attribution from "./denial/Attribution.js"
import type { Denial } from "./denial/Denial.js"
import * as Explanation from "./denial/Explanation.js"
import * as NetworkCounters from "./denial/NetworkCounters.js"
import * as Preflight from "./denial/Preflight.js"
import * as PolicyDecision from "./PolicyDecision.js"
import * as Rescan from "./Rescan.js"
import type { Grant, SandboxBackend, SandboxResult } from "./SandboxBackend.js"
import { type LiveSandbox, type Mask, type MaskWatch, SandboxPlatform } from "./SandboxPlatform.js"
import type { SandboxPolicy } from "./SandboxPolicy.js"

/** What is known of the sandbox that runs; another one after the shell was started anew. */
interface Running {
  readonly live: LiveSandbox | undefined
  /** A process inside, for the network's counters. */
  readonly inside: number | undefined
  /** What is masked, where nobody watches over it. */
  readonly masks: ReadonlyArray<Mask>
  readonly watch: MaskWatch | undefined
  /** Rights that were given while it ran. */
  granted: ReadonlyArray<Grant>
  /** When the masks are looked at next. */
  checkAt: number
  /** The network's counters as of the last command. */
  network: NetworkCounters.NetworkCounters | undefined
}

/**
 * Milliseconds within which the masks are not looked at again, at least; and how many times as long as a look takes, for the
 * kernel's table of mounts is slow to read where there are many. A limit that the README names.
 */
const checkEvery = 5
const checkRarely = 20
const checkAtLast = 100

/** What a denial is called where programs look for it (S65). */
const resourceOf = ({ access, resource, rule }: Denial) =>
  access === "network" || rule === PolicyDecision.notWhitelisted.pattern ? resource : rule

/**
 * The sandbox is started with the first command, and ends with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  policy: SandboxPolicy,
  userHome: string
): Effect.Effect<Omit<SandboxBackend, "dispose">, never, SandboxPlatform | SessionSettings | Scope.Scope> =>
  Effect.gen(function* () {
    const platform = yield* SandboxPlatform
    const settings = yield* SessionSettings
    const runtime = yield* Effect.runtime()
    const decision = PolicyDecision.make(policy)
    const preflight = Preflight.make(policy, decision)
    const attribute = Attribution.make(policy, decision)
    let running: Running | undefined

    /** For whoever changes what is mounted. */
    const mounting = yield* Effect.makeSemaphore(1)
    const isGranted = (now: Running, path: string) =>
      now.granted.some(({ access, resource }) => access === "read" && resource === path)

    /** As long as the launch's scope is open. */
    const watchOver = (live: LiveSandbox, isGranted: (path: string) => boolean, scope: Scope.Scope) =>
      Runtime.runSync(runtime)(live.watch({ isGranted, exclusive: mounting.withPermits(1) }).pipe(Scope.extend(scope)))

    const launcher =
      (shell: Launch["spawnable"]): ShellLauncher =>
      async ({ directory, environment }) => {
        const scope = await Runtime.runPromise(runtime)(Scope.make())
        const wrapped = await Runtime.runPromiseExit(runtime)(
          platform.wrap({ policy, shell, directory, environment }).pipe(Scope.extend(scope))
        )
        let ours: Running | undefined
        const close = () => {
          // A pid means something else once its process has ended.
          if (running === ours) running = undefined
          return Runtime.runPromise(runtime)(Scope.close(scope, Exit.void))
        }
        if (Exit.isFailure(wrapped)) {
          await close()
          throw failureOf(wrapped)
        }
        const { descriptors, explain, live, masks, spawnable } = wrapped.value
        return {
          spawnable,
          descriptors,
          environment: wrapped.value.environment,
          started: (pid) => {
            const inside = NetworkCounters.insideOf(pid)
            const door = live?.(pid)
            const isAllowed = (path: string) => ours !== undefined && isGranted(ours, path)
            ours = {
              live: door,
              inside,
              masks,
              watch: door?.canChange === true ? watchOver(door, isAllowed, scope) : undefined,
              granted: [],
              checkAt: performance.now() + checkEvery,
              network: inside === undefined ? undefined : NetworkCounters.read(inside)
            }
            running = ours
          },
          explain: (stderr) => explain?.(stderr),
          close
        }
      }

    const session = yield* BashSession.makeWith(launcher).pipe(
      Effect.provideService(SessionSettings, { ...settings, cwd: policy.cwd })
    )

    /** Those of the masks that should be in force and are not. */
    const mask = (live: LiveSandbox, masks: ReadonlyArray<Mask>) =>
      Effect.suspend(() => live.addMasks(live.lost(masks)))

    /**
     * What the host has replaced or made is masked before the next command; where that can't be, a new sandbox has it.
     */
    const mend: Effect.Effect<string | undefined> = Effect.suspend(() => {
      const now = running
      const began = performance.now()
      // @effect-diagnostics-next-line effectSucceedWithVoid:off
      if (now?.live === undefined || began < now.checkAt) return Effect.succeed(undefined)
      const refreshed: Effect.Effect<void, ExecutionFailed> =
        now.watch?.refresh ?? (now.live.lost(now.masks).length === 0 ? Effect.void : unchangeable)
      return refreshed.pipe(
        Effect.map(() => {
          const ended = performance.now()
          now.checkAt = ended + Math.min(checkAtLast, Math.max(checkEvery, checkRarely * (ended - began)))
          return undefined
        }),
        Effect.catchAll(({ message }) => Effect.as(session.restart, `A new shell was started: ${message}.`))
      )
    })

    const rescan = yield* Rescan.make(
      Effect.suspend(() => {
        const { live, watch } = running ?? {}
        return live === undefined || watch === undefined ? Effect.void : Effect.flatMap(live.scan, watch.learn)
      })
    )

    const blocked = (denial: Denial) => ({
      blocked: true,
      blockedReason: Explanation.describe(denial, policy),
      blockedResource: resourceOf(denial),
      blockedRule: denial.rule,
      denial
    })

    const refused = (denial: Denial): SandboxResult => ({
      ...CommandResult.make({ exitCode: ExitCode.blocked }),
      ...blocked(denial)
    })

    const count = (): NetworkCounters.NetworkCounters | undefined => {
      if (running?.inside === undefined) return undefined
      running.network = NetworkCounters.read(running.inside)
      return running.network
    }

    const trace = (
      command: string,
      before: { readonly cwd: string; readonly network: NetworkCounters.NetworkCounters | undefined },
      after: { readonly cwd: string; readonly result: CommandResult.CommandResult }
    ): SandboxResult => {
      const { result } = after
      if (result.exitCode === ExitCode.success) {
        // Nobody waits for what a success has sent: it is counted when there is time.
        setImmediate(count)
        return { ...result, blocked: false }
      }
      const network = count()
      const denials = attribute({
        command,
        directories: [after.cwd, before.cwd],
        stderr: result.stderr,
        masks: running?.watch?.masks() ?? running?.masks ?? [],
        unrouted: NetworkCounters.between(before.network, network)
      })
      const denial = Attribution.causeOf(denials, result)
      return denial === undefined ? { ...result, blocked: false } : { ...result, ...blocked(denial) }
    }

    /** The sandbox that runs; a right can be asked for before the first command. */
    const started = Effect.suspend(() =>
      running === undefined ? Effect.map(session.execute(":"), () => running) : Effect.succeed(running)
    )

    return {
      policy,
      execute: (command, options) =>
        Effect.flatMap(session.cwd, (cwd) => {
          const denial = preflight(command, { cwd, home: userHome })
          if (denial !== undefined && !(running !== undefined && isGranted(running, denial.resource))) {
            return Effect.succeed(refused(denial))
          }
          return Effect.flatMap(mend, (notice) => {
            const before = { cwd, network: running?.network }
            return session.execute(command, options).pipe(
              Effect.zipLeft(rescan),
              Effect.flatMap((result) =>
                Effect.map(session.cwd, (cwd) => trace(command, before, { cwd, result: withNotice(result, notice) }))
              )
            )
          })
        }),
      restart: session.restart,
      cwd: session.cwd,
      grant: (grant) =>
        Effect.flatMap(Effect.mapError(started, toUnchangeable), (now) => {
          const live = now?.live
          if (now === undefined || live === undefined) return unchangeable
          // First noted, for a mask that is taken away would be put back.
          now.granted = [...now.granted, grant]
          const given =
            grant.access === "read" ? Effect.as(live.removeMask(grant.resource), []) : live.addBind(grant.resource)
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
      revoke: (grant) =>
        mounting.withPermits(1)(
          Effect.suspend(() => {
            const now = running
            // What ended meanwhile has taken its rights with it.
            if (now?.live === undefined || !now.granted.some(isSame(grant))) return Effect.void
            now.granted = now.granted.filter((given) => !isSame(grant)(given))
            if (grant.access === "write") return now.live.removeBind(grant.resource)
            const masks = now.watch?.masks() ?? now.masks
            return mask(
              now.live,
              masks.filter(({ path }) => path === grant.resource)
            )
          })
        )
    }
  })

const withNotice = (result: CommandResult.CommandResult, notice: string | undefined) =>
  notice === undefined ? result : { ...result, notices: [notice, ...(result.notices ?? [])] }

const isSame = (one: Grant) => (other: Grant) => one.access === other.access && one.resource === other.resource

const toUnchangeable = (error: CommandError): ExecutionFailed =>
  error._tag === "ExecutionFailed" ? error : unchangeable

const unchangeable = new ExecutionFailed({ cause: "sandbox", reason: "this sandbox can't be changed while it runs" })

const failureOf = (exit: Exit.Failure<unknown, ExecutionFailed>) => {
  const { cause } = exit
  return cause._tag === "Fail" ? cause.error : new Error(String(cause))
}
