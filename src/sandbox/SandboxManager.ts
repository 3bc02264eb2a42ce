/**
 * The one door to a shell: every native command goes through here, sandboxed or not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { type CommandError, ExecutionFailed, type InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { RunOptions } from "../grammar/CommandHandler.js"
import { BashSession } from "../session/BashSession.js"
import { SessionSettings } from "../session/SessionSettings.js"
import * as Negotiation from "./Negotiation.js"
import * as PathGlob from "./PathGlob.js"
import { Permission } from "./Permission.js"
import { PolicyBuilder } from "./PolicyBuilder.js"
import * as PolicyDecision from "./PolicyDecision.js"
import { type Grant, type SandboxBackend, unsandboxed } from "./SandboxBackend.js"
import { SandboxConfig } from "./SandboxConfig.js"
import type { SandboxConfigError } from "./SandboxConfigError.js"
import type { SandboxPolicy } from "./SandboxPolicy.js"
import { type SandboxProvider, SandboxProviders } from "./SandboxProvider.js"
import { SandboxSettings } from "./SandboxSettings.js"

/**
 * @since 0.1.0
 * @category tags
 */
export class SandboxManager extends Context.Tag("synapse/SandboxManager")<
  SandboxManager,
  {
    /**
     * Runs a native command in the persistent shell. What the policy denies beforehand fails with Blocked, and nothing was
     * run; what it denied meanwhile is a result with `blocked`.
     */
    readonly execute: (command: string, options?: RunOptions) => Effect.Effect<CommandResult, CommandError>
    /** Ends the shell and all that it started; the next command gets a new one. */
    readonly restart: Effect.Effect<void>
    /** The shell's current directory. */
    readonly cwd: Effect.Effect<string>
    /** Whether a regular file is there that commands may read. Answers at once, so that calls keep their order. */
    readonly isFile: (path: string) => Effect.Effect<boolean>
    /** The sandbox for a directory: made at the first call, and the same for every other (S53). */
    readonly getSandbox: (cwd: string) => Effect.Effect<SandboxBackend, ExecutionFailed>
    /** The policy for a directory, as of now; undefined where nothing is enforced. */
    readonly buildPolicy: (cwd: string) => Effect.Effect<SandboxPolicy | undefined, ExecutionFailed>
    /** Allows to write a path until this manager ends. The sandbox is built anew, and its shell with it (S56, S61). */
    readonly addRuntimeWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed>
    /** Allows to write a path for good, in `sandbox.json` (S63). */
    readonly addPermanentWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed | InvalidUsage>
    /** Ends the sandbox; the next command gets a new one (S59). */
    readonly shutdown: Effect.Effect<void>
  }
>() {}

/**
 * No sandbox: commands run in the session with the rights of the user.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SandboxManager, never, BashSession> = Layer.effect(
  SandboxManager,
  Effect.map(BashSession, (session) => {
    const backend = unsandboxed(session)
    return SandboxManager.of({
      execute: (command, options = {}) =>
        options.restart === true
          ? Effect.zipRight(session.restart, session.execute(command, options))
          : session.execute(command, options),
      restart: session.restart,
      cwd: session.cwd,
      isFile: (path) => Effect.sync(() => isFile(path)),
      getSandbox: () => Effect.succeed(backend),
      // @effect-diagnostics-next-line effectSucceedWithVoid:off
      buildPolicy: () => Effect.succeed(undefined),
      addRuntimeWhitelist: () => Effect.void,
      addPermanentWhitelist: () => noPolicy,
      shutdown: session.restart
    })
  })
)

const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true

const noPolicy = new ExecutionFailed({ cause: "sandbox", reason: "there is no sandbox that could allow anything" })

const toFailure = (error: SandboxConfigError) => new ExecutionFailed({ cause: "sandbox", reason: error.message })

/**
 * Sandboxed unless the settings or `sandbox.json` say otherwise; where the sandbox can't be had, nothing runs.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<
  SandboxManager,
  never,
  SandboxProviders | SandboxConfig | SandboxSettings | SessionSettings | PolicyBuilder | Permission | BashSession
> = Layer.scoped(
  SandboxManager,
  Effect.gen(function* () {
    const providers = yield* SandboxProviders
    const config = yield* SandboxConfig
    const settings = yield* SandboxSettings
    const builder = yield* PolicyBuilder
    const permission = yield* Permission
    const free = unsandboxed(yield* BashSession)
    const { cwd: directory = process.cwd() } = yield* SessionSettings
    /** For whoever makes or ends the sandbox. */
    const turn = yield* Effect.makeSemaphore(1)
    /** For commands: a right that is given for one of them is not there for another. */
    const line = yield* Effect.makeSemaphore(1)
    const runtime = { whitelist: [] as Array<string>, granted: [] as Array<string> }
    let notices: Array<string> = []
    let current:
      | { readonly cwd: string; readonly backend: SandboxBackend; readonly end: Effect.Effect<void> }
      | undefined

    const isEnabled =
      settings.enabled === undefined
        ? Effect.map(Effect.mapError(config.load, toFailure), ({ enabled }) => enabled)
        : Effect.succeed(settings.enabled)
    const build = (cwd: string) => Effect.mapError(builder.build(cwd, runtime), toFailure)

    /** Made by a fiber of its own: whoever waits may be interrupted, and what comes of it all the same is ended. */
    const make = (provider: SandboxProvider, policy: SandboxPolicy) =>
      Effect.flatMap(Effect.forkDaemon(provider.create(policy)), (fiber) =>
        Effect.onInterrupt(Effect.interruptible(Fiber.join(fiber)), () =>
          Effect.forkDaemon(
            Effect.flatMap(Fiber.interrupt(fiber), (exit) =>
              Exit.isSuccess(exit) ? provider.destroy(exit.value) : Effect.void
            )
          )
        )
      )

    const create = (cwd: string): Effect.Effect<SandboxBackend, ExecutionFailed> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          if (!(yield* restore(isEnabled))) {
            current = { cwd, backend: free, end: free.dispose }
            return free
          }
          const { provider: name } = yield* restore(Effect.mapError(config.load, toFailure))
          const provider = yield* providers.find(name)
          const policy = yield* restore(build(cwd))
          const backend = yield* make(provider, policy)
          current = { cwd, backend, end: provider.destroy(backend) }
          return backend
        })
      )

    const end = Effect.uninterruptible(
      Effect.suspend(() => {
        const ending = current
        current = undefined
        return ending === undefined ? Effect.void : ending.end
      })
    )

    const getSandbox = (cwd: string): Effect.Effect<SandboxBackend, ExecutionFailed> =>
      Effect.suspend(() => {
        if (current?.cwd === cwd) return Effect.succeed(current.backend)
        return turn.withPermits(1)(
          Effect.suspend(() =>
            current?.cwd === cwd ? Effect.succeed(current.backend) : Effect.zipRight(end, create(cwd))
          )
        )
      })

    const shutdown = turn.withPermits(1)(end)

    /** Ends that sandbox, unless another has taken its place by now. */
    const retire = (backend: SandboxBackend, notice?: string) =>
      turn.withPermits(1)(
        Effect.suspend(() => {
          if (current?.backend !== backend) return Effect.void
          if (notice !== undefined) notices.push(notice)
          return end
        })
      )

    /** A right becomes part of the policy, whichever sandbox comes. */
    const remember = ({ access, resource }: Grant) => {
      const [list, entry] =
        access === "write" ? [runtime.whitelist, PathGlob.escape(resource)] : [runtime.granted, resource]
      if (!list.includes(entry)) list.push(entry)
    }

    const addPermanentWhitelist = (path: string) =>
      Effect.asVoid(
        Effect.mapError(config.addWhitelist(path), (error) =>
          error._tag === "SandboxConfigError" ? toFailure(error) : error
        )
      )

    /** The sandbox is built anew with it, if it can be; a path that no policy takes leaves everything as it was. */
    const addRuntimeWhitelist = (path: string) =>
      turn.withPermits(1)(
        Effect.gen(function* () {
          const before = [...runtime.whitelist]
          remember({ access: "write", resource: path })
          yield* Effect.onError(build(current?.cwd ?? directory), () =>
            Effect.sync(() => {
              runtime.whitelist = before
            })
          )
          const cwd = current?.backend.policy === undefined ? undefined : current.cwd
          if (cwd !== undefined) yield* Effect.zipRight(end, create(cwd))
        })
      )

    /** Runs with rights that are taken back afterwards: from a sandbox that keeps one, everything is taken. */
    const withGrants = <A>(
      backend: SandboxBackend,
      grants: ReadonlyArray<Grant>,
      use: Effect.Effect<A, CommandError>
    ): Effect.Effect<A, CommandError> =>
      grants.reduceRight(
        (inner, grant) =>
          Effect.acquireUseRelease(
            backend.grant(grant),
            () => inner,
            () =>
              Effect.catchAllCause(backend.revoke(grant), () =>
                retire(
                  backend,
                  `A new shell was started: ${grant.resource} was allowed once, and that could not be taken back otherwise.`
                )
              )
          ),
        use
      )

    const runIn = (
      backend: SandboxBackend,
      command: string,
      options?: Negotiation.AttemptOptions,
      grants: ReadonlyArray<Grant> = []
    ) =>
      Effect.map(withGrants(backend, grants, backend.execute(command, options)), (result) => {
        const [...all] = [...notices, ...(result.notices ?? [])]
        notices = []
        return { backend, result: all.length === 0 ? result : { ...result, notices: all } }
      })

    const attempt: Negotiation.Attempt = (command, options, grants) =>
      line.withPermits(1)(
        Effect.flatMap(Effect.zipRight(options?.restarted ?? Effect.void, getSandbox(directory)), (backend) =>
          Effect.catchIf(
            runIn(backend, command, options, grants),
            (error) => error._tag === "ExecutionFailed" && error.cause === "crash",
            () =>
              Effect.zipRight(
                retire(backend),
                Effect.flatMap(getSandbox(directory), (next) => runIn(next, command, options, grants))
              )
          )
        )
      )

    const negotiate = Negotiation.make({
      ask: permission.ask,
      attempt,
      keep: (backend, grant, forGood) =>
        line.withPermits(1)(
          Effect.gen(function* () {
            const written = forGood ? yield* Effect.either(addPermanentWhitelist(grant.resource)) : undefined
            remember(grant)
            const given = yield* Effect.either(backend.grant(grant))
            if (given._tag === "Left") {
              yield* retire(backend, `A new shell was started: only a new sandbox can have ${grant.resource} allowed.`)
            }
            return written?._tag === "Left" ? written.left.message : undefined
          })
        ),
      tryOut: (backend, grant) =>
        line.withPermits(1)(Effect.map(Effect.either(withGrants(backend, [grant], Effect.void)), Either.getLeft))
    })

    const restart = Effect.suspend(() => current?.backend.restart ?? Effect.void)

    yield* Effect.addFinalizer(() => shutdown)
    return SandboxManager.of({
      // The command has its place in the line before the shell has ended: what is called later comes later.
      execute: (command, options = {}) =>
        options.restart === true
          ? Effect.flatMap(Effect.fork(restart), (restarting) =>
              negotiate(command, { ...options, restarted: Fiber.join(restarting) })
            )
          : negotiate(command, options),
      restart,
      isFile: (path) =>
        Effect.sync(() => {
          const { policy } = current?.backend ?? {}
          return (
            isFile(path) &&
            (policy === undefined || PolicyDecision.make(policy).explain(path, directory, "read").allowed)
          )
        }),
      cwd: Effect.suspend(() => current?.backend.cwd ?? Effect.succeed(directory)),
      getSandbox,
      buildPolicy: build,
      addRuntimeWhitelist,
      addPermanentWhitelist,
      shutdown
    })
  })
)
