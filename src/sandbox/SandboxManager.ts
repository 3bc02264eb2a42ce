/**
 * The one way to a shell: every native command runs through the manager, sandboxed or not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { LineOptions } from "../command/CommandHandler.js"
import { type CommandError, ExecutionFailed, type InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import type { BashSession } from "../session/BashSession.js"
import * as Nesting from "../session/Nesting.js"
import { defaults, SessionSettings } from "../session/SessionSettings.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Attempt from "./Attempt.js"
import * as Conditions from "./Conditions.js"
import * as CurrentSandbox from "./CurrentSandbox.js"
import { PolicyBuilder } from "./config/PolicyBuilder.js"
import { SandboxConfig } from "./config/SandboxConfig.js"
import type { SandboxConfigError } from "./config/SandboxConfigError.js"
import { SandboxSettings } from "./config/SandboxSettings.js"
import * as WrittenPlaces from "./config/WrittenPlaces.js"
import * as Negotiation from "./Negotiation.js"
import * as NewFile from "./NewFile.js"
import { Permission } from "./permission/Permission.js"
import * as PathGlob from "./policy/PathGlob.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import * as RealPath from "./policy/RealPath.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import * as SubPolicy from "./policy/SubPolicy.js"
import { ReadGrants } from "./ReadGrants.js"
import { type Grant, type SandboxBackend, unsandboxed } from "./SandboxBackend.js"
import { SandboxProviders } from "./SandboxProvider.js"
import * as Surroundings from "./Surroundings.js"
import * as UnsandboxedProvider from "./UnsandboxedProvider.js"

/**
 * The options of `execute`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManagerOptions extends LineOptions {
  /**
   * The directory whose sandbox the command runs in; by default, that of the session's settings. There is one sandbox
   * at a time: naming another directory ends the one that is there.
   */
  readonly cwd?: string | undefined
}

/**
 * A policy, and the name of the provider whose sandbox enforces it.
 *
 * @since 0.1.0
 * @category models
 */
export interface InForce {
  readonly policy: SandboxPolicy
  readonly provider: string
}

/**
 * Runs commands in the one shell, in a sandbox where one is enabled, and asks for permission where the policy denies
 * something.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxManager extends Context.Tag("synapse/SandboxManager")<
  SandboxManager,
  {
    /**
     * Runs a native command in the persistent shell. Fails with Blocked, without running it, where the policy denies
     * something that the command names; a denial while it ran is a result with `blocked`. A string in place of the
     * options is the directory.
     */
    readonly execute: (command: string, options?: ManagerOptions | string) => Effect.Effect<CommandResult, CommandError>
    /**
     * Waits until the commands that were called earlier have ended, for what runs without the shell; returns at once
     * where none runs or waits. With `restart`, the shell is restarted as it is for a command.
     */
    readonly inOrder: (restart?: boolean) => Effect.Effect<void, ExecutionFailed>
    /** Ends the shell and all that it started; the next command starts a new one. */
    readonly restart: Effect.Effect<void>
    /** The shell's current directory. */
    readonly cwd: Effect.Effect<string>
    /** Sets `$?` of the next command, after a command that ran without the shell. */
    readonly setStatus: (status: number) => Effect.Effect<void>
    /**
     * Returns whether the path is a regular file that the policy lets commands read. Answers synchronously, so that
     * calls keep their order.
     */
    readonly isFile: (path: string) => Effect.Effect<boolean>
    /** Lists the programs and the files near the shell's directory, for advice; empty while there is no shell. */
    readonly surroundings: Effect.Effect<Surroundings.Surroundings>
    /** Returns the conditions that commands run under, as of now. It starts nothing. */
    readonly conditions: () => Conditions.Conditions
    /** Returns the sandbox for a directory; the first call makes it, and later calls return the same. */
    readonly getSandbox: (cwd: string) => Effect.Effect<SandboxBackend, ExecutionFailed>
    /** Builds the policy for a directory, as of now; undefined where nothing is enforced. */
    readonly buildPolicy: (cwd: string) => Effect.Effect<SandboxPolicy | undefined, ExecutionFailed>
    /**
     * Returns the policy that commands are under by now, with what a person has allowed, and the name of the provider that
     * enforces it; undefined where nothing is enforced. Makes the sandbox where there is none; starts no shell.
     */
    readonly inForce: Effect.Effect<InForce | undefined, ExecutionFailed>
    /** Allows writing to a path until this manager ends. The sandbox is built anew, and its shell with it. */
    readonly addRuntimeWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed>
    /**
     * Allows writing to an existing path, given as its real one, until this manager ends. The shell goes on; where only a
     * new sandbox can have it, the next command starts that one and says so.
     */
    readonly allow: (path: string) => Effect.Effect<void, ExecutionFailed>
    /** Allows writing to a path permanently, in `sandbox.json`. */
    readonly addPermanentWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed | InvalidUsage>
    /** Ends the sandbox; the next command makes a new one. */
    readonly shutdown: Effect.Effect<void>
  }
>() {}

/**
 * Makes a manager which runs all commands in a given session, and enforces nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromSession = (session: BashSession): Context.Tag.Service<SandboxManager> => {
  const backend = { ...unsandboxed(session), dispose: session.restart }
  return {
    execute: (command, options = {}) => {
      const execution = session.execute(command, optionsOf(options))
      return executed(optionsOf(options).restart === true ? Effect.zipRight(session.restart, execution) : execution)
    },
    inOrder: (restart) =>
      Effect.zipRight(
        restart === true ? session.restart : Effect.void,
        Effect.ignore(session.exclusive(() => Effect.void))
      ),
    restart: session.restart,
    cwd: session.cwd,
    setStatus: (status) => session.setStatus?.(status) ?? Effect.void,
    isFile: (path) => Effect.sync(() => isFile(path)),
    surroundings: Effect.succeed(Surroundings.none),
    conditions: () => ({ timeout: defaults.timeout, confinement: Conditions.Confinement.Open() }),
    getSandbox: () => Effect.succeed(backend),
    // @effect-diagnostics-next-line effectSucceedWithVoid:off
    buildPolicy: () => Effect.succeed(undefined),
    inForce: Effect.sync(() => undefined),
    addRuntimeWhitelist: () => Effect.void,
    allow: () => Effect.void,
    addPermanentWhitelist: noPolicy,
    shutdown: session.restart
  }
}

const executed = Span.within("SandboxManager.execute")

const optionsOf = (options: ManagerOptions | string): ManagerOptions =>
  typeof options === "string" ? { cwd: options } : options

const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true

const noPolicy = () => new ExecutionFailed({ kind: "sandbox", reason: "there is no sandbox that could allow anything" })

const toFailure = (error: SandboxConfigError) =>
  new ExecutionFailed({ kind: "sandbox", reason: error.message, cause: error })

/**
 * A layer which runs commands in a sandbox, unless the settings or `sandbox.json` disable it. Where the sandbox can't
 * be built, commands fail instead of running without one.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<
  SandboxManager,
  never,
  Permission | PolicyBuilder | SandboxConfig | SandboxProviders | SandboxSettings | SessionSettings | ShellBridge
> = Layer.scoped(
  SandboxManager,
  Effect.gen(function* () {
    const bridge = yield* ShellBridge
    const providers = yield* SandboxProviders
    const config = yield* SandboxConfig
    const settings = yield* SandboxSettings
    const builder = yield* PolicyBuilder
    const permission = yield* Permission
    const unsandboxed = yield* UnsandboxedProvider.make
    const { cwd: directory = process.cwd(), environment, timeout } = yield* SessionSettings
    const searched = ShellEnvironment.make("", environment)["PATH"] ?? ""
    const reads = new ReadGrants()
    const runtime = {
      whitelist: [] as Array<string>,
      get granted() {
        return reads.paths
      }
    }

    // Anything but `false` itself is no wish to run without a sandbox.
    const enabled = settings.enabled === undefined || settings.enabled === null ? undefined : settings.enabled !== false
    const isEnabled =
      enabled === undefined
        ? Effect.map(Effect.mapError(config.load, toFailure), (file) => file.enabled)
        : Effect.succeed(enabled)
    const build = (cwd: string) => Effect.mapError(builder.build(cwd, runtime), toFailure)

    /** The name of the provider that has made the last sandbox. */
    let enforcer = ""

    /** The status that was set while there was no sandbox. */
    let status: number | undefined

    const withStatus = <E>(create: Effect.Effect<SandboxBackend, E>): Effect.Effect<SandboxBackend, E> =>
      Effect.tap(create, ({ setStatus }) => {
        const before = status
        status = undefined
        return before === undefined ? Effect.void : (setStatus?.(before) ?? Effect.void)
      })

    /** Remembers the places of a policy, unless they are the sandbox's own. */
    const remembered = ({ shown, whitelist }: SandboxPolicy) =>
      shown === undefined ? config.remember(whitelist.map(({ path, real = path }) => real)) : Effect.void

    const current = CurrentSandbox.make((cwd) =>
      Effect.gen(function* () {
        if (!(yield* isEnabled))
          return { create: withStatus(unsandboxed.create(cwd)), destroy: ({ dispose }) => dispose }
        const { provider } = yield* Effect.mapError(config.load, toFailure)
        const policy = yield* build(cwd)
        yield* config.claim(policy)
        const { create, destroy } = yield* providers.find(provider)
        enforcer = provider
        return { create: withStatus(Effect.zipLeft(create(policy), remembered(policy))), destroy }
      })
    )
    const { get: getSandbox, shutdown } = current
    const known: Conditions.Known = { builder, config, current, directory, enabled, providers, runtime }

    /** The sandboxes that were given rights while they ran. */
    const outdated = new WeakSet<SandboxBackend>()

    /** Adds a grant to the policy of every sandbox that is made from now on. */
    const remember = ({ access, identity, resource }: Grant) => {
      const backend = current.peek()?.backend
      if (backend !== undefined) outdated.add(backend)
      if (access === "read") return reads.add(resource, identity)
      const entry = PathGlob.escape(resource)
      if (!runtime.whitelist.includes(entry)) runtime.whitelist.push(entry)
    }

    const addPermanentWhitelist = (path: string) =>
      Effect.asVoid(
        Effect.mapError(config.addWhitelist(path), (error) =>
          error._tag === "SandboxConfigError" ? toFailure(error) : error
        )
      )

    /** Builds the sandbox anew with the path, where there is one; a path that no policy takes changes nothing. */
    const addRuntimeWhitelist = (path: string) =>
      current.rebuild(
        Effect.suspend(() => {
          const before = [...runtime.whitelist]
          remember({ access: "write", resource: path })
          return Effect.onError(build(current.peek()?.cwd ?? directory), () =>
            Effect.sync(() => {
              runtime.whitelist = before
            })
          )
        })
      )

    /** The number of commands that have begun. */
    let begun = 0
    const attempts = Attempt.make({
      current,
      directory,
      onGrant: ({ access, isNew, resource }) =>
        Effect.zipRight(
          isNew === true ? NewFile.make(resource) : Effect.void,
          access === "write" ? config.remember([resource]) : Effect.void
        ),
      onBegin: () => {
        begun++
      },
      remember,
      rememberForGood: ({ resource }) => addPermanentWhitelist(resource)
    })
    const negotiate = Negotiation.make({ ask: permission.ask, ...attempts })

    const restartNow = Effect.suspend(() => {
      const backend = current.peek()?.backend
      if (backend === undefined) return Effect.void
      // Its own next sandbox would be built by the policy that it began with, without what was allowed since.
      return outdated.has(backend) ? current.retire(backend) : backend.restart
    })
    const restart = Effect.suspend(() => {
      attempts.giveUp()
      return restartNow
    })

    /**
     * Runs what is to come after a restart. The restart begins at once, for what runs is to end; `use` takes its place in
     * the queue before that is done, so that later calls run later, and by then restarts the shell again where others that
     * were queued have run meanwhile.
     */
    const restarting = <A, E>(use: (restarted: Effect.Effect<void>) => Effect.Effect<A, E>) =>
      Nesting.refuse(
        bridge,
        Effect.flatMap(Effect.zipRight(Effect.sync(attempts.giveUp), Effect.fork(restartNow)), (restart) => {
          const before = begun
          const again = Effect.suspend(() => (begun === before ? Effect.void : restartNow))
          return use(Effect.zipRight(Fiber.join(restart), again))
        })
      )

    yield* Effect.addFinalizer(() => current.close)
    return SandboxManager.of({
      execute: (command, given = {}) => {
        const options = optionsOf(given)
        return executed(
          options.restart === true
            ? restarting((restarted) => negotiate(command, { ...options, restarted }))
            : negotiate(command, options)
        )
      },
      inOrder: (restart) => (restart === true ? restarting(attempts.inOrder) : attempts.inOrder()),
      restart,
      isFile: (path) =>
        Effect.sync(() => {
          const { policy } = current.peek()?.backend ?? {}
          return (
            isFile(path) &&
            (policy === undefined || PolicyDecision.make(policy).explain(path, directory, "read").allowed)
          )
        }),
      surroundings: Effect.sync(() => {
        const { backend } = current.peek() ?? {}
        return backend === undefined ? Surroundings.none : Surroundings.make(backend.policy, searched)
      }),
      conditions: () => ({ timeout, confinement: Conditions.confinement(known) }),
      setStatus: (code) =>
        Effect.suspend(() => {
          const { backend } = current.peek() ?? {}
          if (backend === undefined) status = code
          return backend?.setStatus?.(code) ?? Effect.void
        }),
      cwd: Effect.suspend(() => current.peek()?.backend.cwd ?? Effect.succeed(directory)),
      getSandbox,
      buildPolicy: build,
      inForce: Effect.suspend(() => {
        const place = current.peek()?.cwd ?? directory
        return Effect.flatMap(getSandbox(place), ({ policy }) =>
          policy === undefined
            ? Effect.sync(() => undefined)
            : Effect.map(build(place), (built) => ({ policy: SubPolicy.inForce(policy, built), provider: enforcer }))
        )
      }),
      addRuntimeWhitelist,
      allow: (path) =>
        Effect.gen(function* () {
          const backend = yield* getSandbox(current.peek()?.cwd ?? directory)
          if (backend.policy === undefined) return
          const doubt = WrittenPlaces.doubt(settings.home, path)
          if (doubt !== undefined) {
            const reason = `${WrittenPlaces.describe(doubt)}; if that is what is meant, allow ${doubt.real}`
            return yield* new ExecutionFailed({ kind: "sandbox", reason })
          }
          const resource = RealPath.follow(path).real
          const { now } = yield* attempts.keep(backend, { resource, access: "write" }, false)
          if (now !== undefined) return yield* new ExecutionFailed({ kind: "sandbox", reason: now })
        }),
      addPermanentWhitelist,
      shutdown
    })
  })
)
