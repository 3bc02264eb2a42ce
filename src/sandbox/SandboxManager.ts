/**
 * The one way to a shell: every native command runs through the manager, sandboxed or not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LineOptions } from "../command/CommandHandler.js"
import { type CommandError, ExecutionFailed, type InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import type { BashSession } from "../session/BashSession.js"
import { defaults, SessionSettings } from "../session/SessionSettings.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Attempt from "./Attempt.js"
import * as Conditions from "./Conditions.js"
import * as CurrentSandbox from "./CurrentSandbox.js"
import { PolicyBuilder } from "./config/PolicyBuilder.js"
import { SandboxConfig } from "./config/SandboxConfig.js"
import { SandboxSettings } from "./config/SandboxSettings.js"
import * as Granting from "./Granting.js"
import * as Negotiation from "./Negotiation.js"
import { Permission } from "./permission/Permission.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import * as SubPolicy from "./policy/SubPolicy.js"
import { RuntimeGrants } from "./RuntimeGrants.js"
import { type SandboxBackend, unsandboxed } from "./SandboxBackend.js"
import * as SandboxPlanner from "./SandboxPlanner.js"
import { SandboxProviders } from "./SandboxProvider.js"
import * as ShellRestart from "./ShellRestart.js"
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
    // Anything but `false` itself is no wish to run without a sandbox.
    const enabled = settings.enabled === undefined || settings.enabled === null ? undefined : settings.enabled !== false

    const grants = new RuntimeGrants()
    const planner = SandboxPlanner.make({ builder, config, enabled, grants, providers, unsandboxed })
    const current = CurrentSandbox.make(planner.plan)
    const granting = Granting.make({ config, current, directory, grants, home: settings.home, planner })
    const attempts = Attempt.make({ current, directory, granting })
    const restart = ShellRestart.make({ attempts, bridge, current, grants })
    const negotiate = Negotiation.make({
      ask: permission.ask,
      attempt: attempts.attempt,
      keep: granting.keep,
      tryOut: granting.tryOut
    })
    const known: Conditions.Known = { builder, config, current, directory, enabled, providers, runtime: grants }

    yield* Effect.addFinalizer(() => current.close)
    return SandboxManager.of({
      execute: (command, given = {}) => {
        const options = optionsOf(given)
        return executed(
          options.restart === true
            ? restart.before((restarted) => negotiate(command, { ...options, restarted }))
            : negotiate(command, options)
        )
      },
      inOrder: (isRestart) => (isRestart === true ? restart.before(attempts.inOrder) : attempts.inOrder()),
      restart: restart.now,
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
          if (backend === undefined) planner.keepStatus(code)
          return backend?.setStatus?.(code) ?? Effect.void
        }),
      cwd: Effect.suspend(() => current.peek()?.backend.cwd ?? Effect.succeed(directory)),
      getSandbox: current.get,
      buildPolicy: planner.build,
      inForce: Effect.suspend(() => {
        const place = current.peek()?.cwd ?? directory
        return Effect.flatMap(current.get(place), ({ policy }) =>
          policy === undefined
            ? Effect.sync(() => undefined)
            : Effect.map(planner.build(place), (built) => ({
                policy: SubPolicy.inForce(policy, built),
                provider: planner.provider()
              }))
        )
      }),
      addRuntimeWhitelist: granting.allowAnew,
      allow: granting.allow,
      addPermanentWhitelist: granting.allowForGood,
      shutdown: current.shutdown
    })
  })
)
