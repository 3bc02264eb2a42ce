/**
 * The only way to a shell: every native command runs through the manager, sandboxed or not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import type { LineOptions } from "../command/CommandHandler.js"
import type { CommandError, ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import * as Yield from "../domain/Yield.js"
import { CommandQueue } from "../session/CommandQueue.js"
import * as QueuedCommand from "../session/QueuedCommand.js"
import { SessionSettings } from "../session/SessionSettings.js"
import * as Nesting from "../session/ShellBridge.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import type * as Conditions from "./Conditions.js"
import type { PolicyBuilder } from "./config/PolicyBuilder.js"
import { SandboxConfig } from "./config/SandboxConfig.js"
import { SandboxSettings } from "./config/SandboxSettings.js"
import * as CurrentSandbox from "./internal/CurrentSandbox.js"
import * as Granting from "./internal/Granting.js"
import * as Negotiation from "./Negotiation.js"
import { Permission } from "./permission/Permission.js"
import * as HostEntry from "./policy/HostEntry.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import * as PrivateTemporary from "./policy/PrivateTemporary.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import * as SubPolicy from "./policy/SubPolicy.js"
import type { Grant, NetworkQuestions, SandboxBackend, SandboxResult } from "./SandboxBackend.js"
import type { SandboxProviders } from "./SandboxProvider.js"
import * as VisibleFiles from "./VisibleFiles.js"

interface AttemptDeps {
  readonly current: CurrentSandbox.CurrentSandbox
  /** The directory whose sandbox runs commands that name no directory. */
  readonly directory: string
  readonly granting: Pick<Granting.Granting, "lend">
  readonly runtime: Pick<CurrentSandbox.RuntimeGrants, "endOnce">
  readonly queue: CommandQueue
}

const isCrash = (error: CommandError) => error._tag === "ExecutionFailed" && error.kind === "crash"

const makeAttempts = ({ current, directory, granting, queue, runtime }: AttemptDeps) => {
  let begun = 0
  /** The command whose sandbox is being made. */
  let starting: { isGivenUp: boolean } | undefined

  const run = (
    backend: SandboxBackend,
    command: string,
    options: Negotiation.AttemptOptions | undefined,
    grants: ReadonlyArray<Grant>
  ) => {
    const started = Effect.suspend(() => {
      begun++
      return Yield.pass(command, backend.execute(command, options))
    })
    // If no host is asked for, nothing changes with `sandbox.json`, and nothing ends with the command.
    const executed =
      backend.setHosts === undefined
        ? started
        : Effect.ensuring(
            Effect.zipRight(current.refresh("check"), started),
            Effect.suspend(() => (runtime.endOnce() ? current.refresh() : Effect.void))
          )
    const answer: Effect.Effect<SandboxResult, CommandError> =
      grants.length === 0 ? executed : granting.lend(backend, grants, executed)
    return Effect.map(answer, (result) => ({ backend, result: current.tell(result) }))
  }

  return {
    /** Returns the number of commands that have begun. */
    begun: () => begun,
    attempt: (
      command: string,
      options: Negotiation.AttemptOptions | undefined,
      grants: ReadonlyArray<Grant>
    ): ReturnType<Negotiation.Deps["attempt"]> => {
      const { cwd = directory, restarted } = options ?? {}
      const runIn = (backend: SandboxBackend) =>
        Effect.catchAll(run(backend, command, options, grants), (error) =>
          isCrash(error)
            ? Effect.zipRight(
                current.retire(backend),
                Effect.flatMap(current.get(cwd), (next) => run(next, command, options, grants))
              )
            : Effect.fail(error)
        )
      const inTurn = Effect.suspend(() => {
        const now = current.now()
        if (now?.cwd === cwd) return runIn(now.backend)
        const self = { isGivenUp: false }
        starting = self
        return Effect.flatMap(current.get(cwd), (backend) => {
          if (starting === self) starting = undefined
          return self.isGivenUp ? QueuedCommand.restarted() : runIn(backend)
        })
      })
      return queue.enter(restarted === undefined ? inTurn : Effect.zipRight(restarted, inTurn))
    },
    /** Gives up the command whose sandbox is being made, and stops waiting for calls that need no shell. */
    giveUp: () => {
      if (starting !== undefined) starting.isGivenUp = true
      queue.pass()
    }
  }
}

interface RestartDeps {
  readonly attempts: ReturnType<typeof makeAttempts>
  /** The bridge by which the shell calls Synapse commands. They may not restart the shell, since it waits for them. */
  readonly bridge: unknown
  readonly current: Pick<CurrentSandbox.CurrentSandbox, "isOutdated" | "now" | "retire">
}

/** Makes the two functions that restart the shell. */
const makeRestart = ({ attempts, bridge, current }: RestartDeps) => {
  const restart = Effect.suspend(() => {
    const backend = current.now()?.backend
    if (backend === undefined) return Effect.void
    // If the backend restarted itself, it would use its original policy and miss what was allowed or denied since.
    return current.isOutdated() ? current.retire(backend) : backend.restart
  })
  return {
    /** Ends the shell and all that it started. The next command starts a new one. */
    now: Effect.suspend(() => {
      attempts.giveUp()
      return restart
    }),
    /**
     * Runs `use` after a restart. The restart begins at once, to end what is running; `use` takes its place in the
     * queue at once too, so that later calls stay behind it. If other queued commands ran meanwhile, `restarted`
     * restarts the shell again.
     */
    before: <A, E>(use: (restarted: Effect.Effect<void>) => Effect.Effect<A, E>) =>
      Nesting.refuse(
        bridge,
        Effect.flatMap(Effect.zipRight(Effect.sync(attempts.giveUp), Effect.fork(restart)), (fiber) => {
          const before = attempts.begun()
          const again = Effect.suspend(() => (attempts.begun() === before ? Effect.void : restart))
          return use(Effect.zipRight(Fiber.join(fiber), again))
        })
      )
  }
}

/**
 * The options of `execute`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManagerOptions extends LineOptions {
  /**
   * The directory whose sandbox runs the command; the session's directory by default. There is one sandbox at a time:
   * naming another directory ends the current one.
   */
  readonly cwd?: string | undefined
  /** The parsed command, if it is already parsed. */
  readonly line?: CommandLine.CommandLine | undefined
}

/**
 * A policy, and the name of the provider that enforces it.
 *
 * @since 0.1.0
 * @category models
 */
export interface InForce {
  readonly policy: SandboxPolicy
  readonly provider: string
}

/**
 * Runs commands in one shell, in a sandbox if one is enabled, and asks for permission when the policy denies something.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxManager extends Context.Tag("synapse/SandboxManager")<
  SandboxManager,
  {
    /**
     * Runs a native command in the persistent shell. Fails with Blocked, without running it, if the policy denies
     * something that the command names. A denial during the run is a result with `blocked`. A string in place of the
     * options is the directory.
     */
    readonly execute: (command: string, options?: ManagerOptions | string) => Effect.Effect<CommandResult, CommandError>
    /**
     * Runs a call that needs no shell after the earlier calls have ended. Later calls wait for it, until one of them
     * restarts the shell. With `restart`, the shell is restarted first, as for a command.
     */
    readonly inOrder: <A, E>(call: Effect.Effect<A, E>, restart?: boolean) => Effect.Effect<A, E | ExecutionFailed>
    /** Ends the shell and all that it started. The next command starts a new one. */
    readonly restart: Effect.Effect<void>
    /** The shell's current directory. */
    readonly cwd: Effect.Effect<string>
    /** Sets `$?` for the next command, after a command that ran without the shell. */
    readonly setStatus: (status: number) => Effect.Effect<void>
    /**
     * Tests whether a path is a regular file that commands may read. Answers synchronously, so that calls keep their
     * order.
     */
    readonly isFile: (path: string) => Effect.Effect<boolean>
    /** Lists programs, and files near the shell's directory, for advice. Empty while there is no shell. */
    readonly visibleFiles: Effect.Effect<VisibleFiles.VisibleFiles>
    /** Returns the last known limits that commands run under. */
    readonly conditions: () => Conditions.Conditions
    /** Refreshes `conditions`, from the settings if there is no sandbox yet. Starts nothing. */
    readonly findConditions: Effect.Effect<void>
    /** Returns the sandbox for a directory. The first call makes it, and later calls return the same. */
    readonly getSandbox: (cwd: string) => Effect.Effect<SandboxBackend, ExecutionFailed>
    /** Builds the current policy for a directory; undefined if nothing is enforced. */
    readonly buildPolicy: (cwd: string) => Effect.Effect<SandboxPolicy | undefined, ExecutionFailed>
    /**
     * Returns the policy now in force, including what a person has allowed, and its provider's name; undefined if
     * nothing is enforced. Makes the sandbox if needed, but starts no shell.
     */
    readonly inForce: Effect.Effect<InForce | undefined, ExecutionFailed>
    /** Allows writing to a path until this manager ends. The sandbox and its shell are rebuilt. */
    readonly addRuntimeWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed>
    /**
     * Allows writing to an existing real path until this manager ends, or reading it with `access`. The shell is kept.
     * If only a new sandbox can have the grant, the next command starts one and says so.
     */
    readonly allow: (path: string, access?: Grant["access"]) => Effect.Effect<void, ExecutionFailed>
    /** Allows commands to reach a host until this manager ends. */
    readonly allowHost: (entry: string) => Effect.Effect<void>
    /** Allows writing to a path permanently, in `sandbox.json`. */
    readonly addPermanentWhitelist: (path: string) => Effect.Effect<void, ExecutionFailed | InvalidUsage>
    /** Ends the sandbox. The next command makes a new one. */
    readonly shutdown: Effect.Effect<void>
  }
>() {}

const executed = Span.within("SandboxManager.execute")

/**
 * Span attributes that name the command without its arguments, which may hold secrets.
 *
 * @since 0.1.0
 * @internal
 */
export const attributesOf = (line: CommandLine.CommandLine): Span.Attributes<CommandResult> => ({
  begun: () => ({ "synapse.command": line.name }),
  ended: ({ exitCode }) => ({ "process.exit.code": exitCode })
})

const optionsOf = (command: string, given: ManagerOptions | string = {}) => {
  const options: ManagerOptions = typeof given === "string" ? { cwd: given } : given
  return { ...options, line: options.line ?? CommandLine.parse(command) }
}

const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true

type Services =
  | Permission
  | PolicyBuilder
  | SandboxConfig
  | SandboxProviders
  | SandboxSettings
  | SessionSettings
  | ShellBridge

/**
 * Makes the manager, as `layer` does.
 *
 * @since 0.1.0
 * @internal
 */
export const make: Effect.Effect<Context.Tag.Service<SandboxManager>, never, Services | Scope.Scope> = Effect.gen(
  function* () {
    const bridge = yield* ShellBridge
    const config = yield* SandboxConfig
    const settings = yield* SandboxSettings
    const permission = yield* Permission
    const { cwd: directory = process.cwd(), environment, timeout, yield: yields } = yield* SessionSettings
    const { variables } = yield* UserEnvironment
    const searched = ShellEnvironment.make("", environment, variables)["PATH"] ?? ""
    const enabled = settings.enabled ?? undefined

    const queue = new CommandQueue(bridge)
    const grants = new CurrentSandbox.RuntimeGrants()
    const ruleOf = (pattern: string, path: string) => ({ pattern, path, kind: "path", source: "default" }) as const
    const allowHost = (entry: string, once = false) =>
      Effect.suspend(() => {
        grants.addHost(entry, once)
        return current.refresh()
      })
    /** Asks about a host. An allowed host is open in the sandbox before the answer arrives. */
    const askToReach: NetworkQuestions["reach"] = (command, host, port, privately) =>
      Effect.gen(function* () {
        const resource = HostEntry.grantFor(host, port, privately !== undefined)
        // The machine's own servers are known only after the sandbox's localhost has refused the connection.
        const isOver = host === "localhost"
        const answer = yield* permission.ask({
          resource,
          access: "network",
          rule: ruleOf(HostEntry.unnamed, resource),
          command,
          reason: isOver
            ? HostEntry.notInside
            : `${privately ?? "no entry names it"}; the command waits for the answer`,
          ...(isOver ? { hasRun: true } : {})
        })
        if (answer === "deny") return false
        if (answer === "allow_permanent") yield* Effect.ignore(config.addHost("allowedHosts", resource))
        // The grant holds for this session even if it could not be written.
        yield* allowHost(resource, answer === "allow_once")
        return true
      })
    const answers = new Map<number, boolean>()
    /** Asks once in a session whether a server may be opened. */
    const askToOpen: NetworkQuestions["open"] = (port, command) => {
      const known = answers.get(port)
      if (known !== undefined) return Effect.succeed(known)
      const resource = `127.0.0.1:${port}`
      const rule = ruleOf("--publish", resource)
      const reason = "only the sandbox reaches it so far"
      return Effect.map(permission.ask({ resource, access: "open", rule, command, reason, hasRun: true }), (answer) => {
        answers.set(port, answer !== "deny")
        return answer !== "deny"
      })
    }
    const current: CurrentSandbox.CurrentSandbox = yield* CurrentSandbox.make(
      grants,
      enabled,
      directory,
      permission.isDeaf === true ? undefined : { reach: askToReach, open: askToOpen }
    )
    const granting = Granting.make({ config, current, directory, grants, home: settings.home, queue })
    const attempts = makeAttempts({ current, directory, granting, queue, runtime: grants })
    const restart = makeRestart({ attempts, bridge, current })
    const negotiate = Negotiation.make({
      ask: permission.ask,
      attempt: attempts.attempt,
      keep: granting.keep,
      tryOut: granting.tryOut
    })

    return SandboxManager.of({
      execute: (command, given) => {
        const options = optionsOf(command, given)
        return executed(
          options.restart === true
            ? restart.before((restarted) => negotiate(command, { ...options, restarted }))
            : negotiate(command, options),
          attributesOf(options.line)
        )
      },
      inOrder: (call, isRestart) =>
        isRestart === true
          ? restart.before((restarted) => queue.enterPassable(Effect.zipRight(restarted, call)))
          : queue.enterPassable(call),
      restart: restart.now,
      isFile: (path) =>
        Effect.sync(() => {
          const { policy } = current.now()?.backend ?? {}
          return (
            isFile(policy === undefined ? path : PrivateTemporary.make(policy).toOutside(path)) &&
            (policy === undefined || PolicyDecision.make(policy).explain(path, directory, "read").allowed)
          )
        }),
      visibleFiles: Effect.sync(() => {
        const { backend } = current.now() ?? {}
        return backend === undefined ? VisibleFiles.none : VisibleFiles.make(backend.policy, searched)
      }),
      conditions: () => ({
        timeout,
        yield: yields,
        // A getter, so that a command that only needs the times does not wait for the confinement.
        get confinement() {
          return current.confinement()
        }
      }),
      findConditions: current.findConfinement,
      setStatus: current.setStatus,
      cwd: Effect.suspend(() => current.now()?.backend.cwd ?? Effect.succeed(directory)),
      getSandbox: current.get,
      buildPolicy: current.build,
      inForce: Effect.suspend(() => {
        const place = current.now()?.cwd ?? directory
        return Effect.flatMap(current.get(place), ({ policy }) =>
          policy === undefined
            ? Effect.sync(() => undefined)
            : Effect.map(Effect.zipRight(current.refresh("check"), current.build(place)), (built) => ({
                policy: SubPolicy.inForce(policy, built, current.now()?.given),
                provider: current.provider()
              }))
        )
      }),
      addRuntimeWhitelist: granting.allowAnew,
      allow: granting.allow,
      allowHost: (entry) => allowHost(entry),
      addPermanentWhitelist: granting.allowForGood,
      shutdown: current.shutdown
    })
  }
)

/**
 * A layer which runs commands in a sandbox unless the settings or `sandbox.json` disable it. If the sandbox can't be
 * built, commands fail instead of running without one.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxManager, never, Services> = Layer.scoped(SandboxManager, make)
