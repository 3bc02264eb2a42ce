/**
 * Holds the sandbox that commands currently run in: creates it on demand from `sandbox.json` and the settings, ends it,
 * and replaces it.
 */
import * as Fs from "node:fs"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Struct from "effect/Struct"
import { ExecutionFailed } from "../../domain/CommandError.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as BashSession from "../../session/BashSession.js"
import { provided, SessionJobs } from "../../session/JobTable.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import { ShellBridge } from "../../session/ShellBridge.js"
import * as ShellLauncher from "../../session/ShellLauncher.js"
import { Confinement, ofPolicy } from "../Conditions.js"
import { PolicyBuilder, type RuntimeRules } from "../config/PolicyBuilder.js"
import { SandboxConfig } from "../config/SandboxConfig.js"
import type { SandboxConfigError } from "../config/SandboxConfigError.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import { type Rule, realOf, type SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as SubPolicy from "../policy/SubPolicy.js"
import {
  executed,
  type Grant,
  type NetworkQuestions,
  type SandboxBackend,
  type SandboxResult
} from "../SandboxBackend.js"
import { type SandboxProvider, SandboxProviders } from "../SandboxProvider.js"
import { unchangeable } from "./RunningSandbox.js"

/** The grants of a session as rules for all policies built from then on. They hold until the session ends. */
export class RuntimeGrants implements RuntimeRules {
  private writable: ReadonlyArray<string> = []
  /** The identities of the readable files, because commands can replace a file by another or by a link. */
  private readonly readable = new Map<string, string>()
  private readonly outdated = new WeakSet<object>()
  private hosts: ReadonlyArray<string> = []
  private hostsOnce: ReadonlyArray<string> = []

  /**
   * Adds a grant; `running` is the sandbox that was made without it. A readable file is bound to the grant's identity,
   * or to its current one. Returns a function that undoes a new grant.
   */
  add({ access, identity, resource }: Grant, running: object | undefined): () => void {
    if (running !== undefined) this.outdated.add(running)
    if (access === "read") {
      const known = identity ?? HostPath.identityOf(resource)
      if (known !== undefined) this.readable.set(resource, known)
      return () => {}
    }
    const before = this.writable
    const entry = PathGlob.escape(resource)
    if (!before.includes(entry)) this.writable = [...before, entry]
    return () => {
      this.writable = before
    }
  }

  get whitelist(): ReadonlyArray<string> {
    return this.writable
  }

  /** Adds an entry for a host. With `once`, it ends with the command. */
  addHost(entry: string, once: boolean): void {
    if (once) this.hostsOnce = [...this.hostsOnce, entry]
    else this.hosts = [...this.hosts, entry]
  }

  /** Revokes what was allowed for one command. Returns whether anything was revoked. */
  endOnce(): boolean {
    const had = this.hostsOnce.length > 0
    this.hostsOnce = []
    return had
  }

  get allowedHosts(): ReadonlyArray<string> {
    return [...this.hosts, ...this.hostsOnce]
  }

  /** The readable paths that still hold the files that were allowed. */
  get granted(): ReadonlyArray<string> {
    return [...this.readable].flatMap(([path, identity]) => (HostPath.identityOf(path) === identity ? [path] : []))
  }

  /** Tests whether grants were added since a sandbox was made. */
  areNewer(backend: object): boolean {
    return this.outdated.has(backend)
  }
}

/**
 * Makes a function that creates backends without a sandbox. Their shell starts in `cwd` and has all of the user's
 * rights.
 */
export const makeUnsandboxed: Effect.Effect<
  (cwd: string) => Effect.Effect<SandboxBackend>,
  never,
  SessionSettings | ShellBridge
> = Effect.gen(function* () {
  const settings = yield* SessionSettings
  const given = Context.make(ShellBridge, yield* ShellBridge).pipe(Context.add(SessionJobs, yield* provided))
  return (cwd) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const built = yield* Layer.buildWithScope(BashSession.layer(ShellLauncher.plain), scope).pipe(
          Effect.provide(Context.add(given, SessionSettings, { ...settings, cwd }))
        )
        const { execute, ...session } = Context.get(built, BashSession.BashSession)
        return {
          ...session,
          policy: undefined,
          execute: (command, options) =>
            executed(Effect.map(execute(command, options), (result) => ({ ...result, blocked: false }))),
          dispose: Scope.close(scope, Exit.void)
        }
      })
    )
})

/** The effects that create and destroy one sandbox. */
interface Plan {
  readonly create: Effect.Effect<SandboxBackend, ExecutionFailed>
  readonly destroy: (backend: SandboxBackend) => Effect.Effect<void>
}

export type CurrentSandbox = Effect.Effect.Success<ReturnType<typeof make>>

/** Returns what `sandbox.json` has come to allow since a sandbox was made. */
const allowedSince = (enforced: SandboxPolicy, built: SandboxPolicy): ReadonlyArray<Grant> => {
  const given = (access: Grant["access"], rules: ReadonlyArray<Rule> = [], before: ReadonlyArray<Rule> = []) =>
    rules.flatMap(({ kind, path, real: resource = path, source }): ReadonlyArray<Grant> => {
      const isNew = kind === "path" && source === "file" && !before.some((rule) => realOf(rule) === resource)
      return isNew
        ? [{ access, resource, ...(access === "read" ? { identity: HostPath.identityOf(resource) } : {}) }]
        : []
    })
  return [...given("write", built.whitelist, enforced.whitelist), ...given("read", built.granted, enforced.granted)]
}

export const toFailure = (error: SandboxConfigError): ExecutionFailed =>
  new ExecutionFailed({ kind: "sandbox", reason: error.message, cause: error })

/**
 * Makes an empty holder for one sandbox. The sandbox ends with the scope, after which `get` fails.
 *
 * @param enabled enables or disables the sandbox; if undefined, `sandbox.json` decides
 * @param directory the directory whose sandbox is made first
 * @param ask asks a person about hosts and ports
 */
export const make = Effect.fnUntraced(function* (
  grants: RuntimeGrants,
  enabled: boolean | undefined,
  directory: string,
  ask?: NetworkQuestions
) {
  const builder = yield* PolicyBuilder
  const config = yield* SandboxConfig
  const providers = yield* SandboxProviders
  const createUnsandboxed = yield* makeUnsandboxed
  /** The provider of the most recently planned sandbox. */
  let provider: SandboxProvider | undefined
  /** The initial `$?` of the next sandbox. */
  let status: number | undefined

  /** Held by whoever makes or ends the sandbox. */
  const turn = Effect.unsafeMakeSemaphore(1)
  let isClosed = false
  let current:
    | {
        readonly cwd: string
        readonly backend: SandboxBackend
        readonly end: Effect.Effect<void>
        /**
         * Grants added to `sandbox.json` since the start, by name; true if this sandbox has them, false if only a new
         * one can.
         */
        readonly given: Map<string, boolean>
        /** The state of `sandbox.json` that the sandbox was made from. */
        readonly madeFrom: string
      }
    | undefined

  /** The state of `sandbox.json` that the running sandbox has its hosts from. */
  let known = ""
  const stamp = () => {
    const stats = Fs.statSync(config.file, { throwIfNoEntry: false })
    return stats === undefined ? "" : `${stats.mtimeMs} ${stats.size} ${stats.ino}`
  }

  /** Paths that `sandbox.json` allows but that do not exist yet. */
  let awaited: ReadonlyArray<string> = []

  /** Returns what confines commands; undefined until it has been looked at. */
  let confinement: (() => Confinement) | undefined
  /** Sets the policy that confines commands, as long as its sandbox can be made; undefined for none. */
  const confine = (policy: (() => SandboxPolicy) | undefined) => {
    const obstacle = provider?.obstacle
    confinement = () => {
      if (policy === undefined) return Confinement.Open()
      const reason = obstacle?.()
      return reason === undefined ? ofPolicy(policy()) : Confinement.Impossible({ reason })
    }
  }

  /** For the next command's result: why a sandbox was ended, and which paths are allowed for a new one only. */
  let untold: ReadonlyArray<Diagnostic.Diagnostic> = []

  /** The paths that `sandbox.json` lets commands write, but in a new sandbox only. */
  let waiting: ReadonlyArray<Grant> = []
  const noteAwaiting = (path: string) => {
    const name = Name.of(path)
    const isNoted = untold.some((each) => each._tag === "Awaiting" && each.name === name)
    if (!isNoted) untold = [...untold, { _tag: "Awaiting", name }]
  }

  /** Gives a sandbox what was allowed since it was made. Grants that only a new sandbox can have wait for a restart. */
  const give = (backend: SandboxBackend, built: SandboxPolicy, given: Map<string, boolean>) => {
    const since = backend.policy === undefined ? [] : allowedSince(backend.policy, built)
    const isWaiting = ({ access, resource }: Grant) =>
      access === "write" && given.get(SubPolicy.nameOf(access, resource)) === false
    const gave = Effect.forEach(since, (grant) => {
      const name = SubPolicy.nameOf(grant.access, grant.resource)
      if (given.has(name)) return Effect.void
      given.set(name, false)
      // A mask can be removed, which makes the path readable. Only a new sandbox can make it writable.
      const isMasked =
        grant.access === "write" && built.opened?.some((rule) => realOf(rule) === grant.resource) === true
      return Effect.zipRight(
        grant.access === "write" ? config.remember([grant.resource]) : Effect.void,
        isMasked ? unchangeable() : (backend.grant?.(grant) ?? Effect.void)
      ).pipe(
        Effect.match({
          onSuccess: () => void given.set(name, true),
          onFailure: ({ _tag }) => {
            if (_tag === "ExecutionFailed") return noteAwaiting(grant.resource)
            given.delete(name)
            awaited = [...awaited, grant.resource]
          }
        })
      )
    })
    return Effect.map(gave, () => {
      waiting = since.filter(isWaiting)
    })
  }

  const refresh = (check?: "check") =>
    Effect.suspend(() => {
      if (current?.backend.setHosts === undefined) return Effect.void
      const { backend, cwd, given } = current
      const now = stamp()
      if (check !== undefined && now === known && awaited.every(HostPath.isMissing)) return Effect.void
      known = now
      awaited = []
      // An unreadable file changes nothing now; the next sandbox reports it.
      return Effect.matchEffect(builder.build(cwd, grants), {
        onFailure: () => Effect.void,
        onSuccess: (built) => {
          const { policy } = backend
          confine(policy && (() => SubPolicy.inForce(policy, built, given)))
          return Effect.zipRight(backend.setHosts?.(built.hosts, ask) ?? Effect.void, give(backend, built, given))
        }
      })
    })
  /** Applies what is allowed and revoked while a command runs. */
  const watching = Effect.forever(Effect.zipRight(Effect.sleep(500), refresh("check")))

  const build = (cwd: string) => Effect.mapError(builder.build(cwd, grants), toFailure)

  /** Remembers the places that a policy lets commands write, unless they are the sandbox's own. */
  const remember = (policy: SandboxPolicy) =>
    policy.shown === undefined ? config.remember(PrivateTemporary.make(policy).whitelist.map(realOf)) : Effect.void

  /** Builds the policy of the next sandbox and finds its provider; undefined if there is to be no sandbox. */
  const next = (cwd: string) =>
    Effect.gen(function* () {
      if (enabled === false) return undefined
      const file = yield* Effect.mapError(config.load, toFailure)
      if (enabled === undefined && !file.enabled) return undefined
      const policy = yield* build(cwd)
      provider = yield* providers.find(file.provider)
      return { policy, provider }
    }).pipe(
      Effect.tapError(({ message: reason }) =>
        Effect.sync(() => {
          confinement = () => Confinement.Impossible({ reason })
        })
      )
    )

  const findConfinement = Effect.suspend(() => {
    if (current === undefined) {
      return Effect.map(next(directory), (found) =>
        confine(found && found.provider.enforces !== false ? () => found.policy : undefined)
      )
    }
    const { backend, cwd, given } = current
    const { policy } = backend
    return policy === undefined
      ? Effect.void
      : Effect.map(build(cwd), (built) => confine(() => SubPolicy.inForce(policy, built, given)))
  }).pipe(Effect.ignore)

  const plan = (cwd: string): Effect.Effect<Plan, ExecutionFailed> =>
    Effect.gen(function* () {
      const planned = yield* next(cwd)
      if (planned === undefined) return { create: createUnsandboxed(cwd), destroy: ({ dispose }) => dispose }
      const { policy } = planned
      yield* config.claim(policy)
      const { create, destroy } = planned.provider
      return { create: Effect.zipLeft(create(policy), remember(policy)), destroy }
    })

  /**
   * Creates a sandbox in its own fiber, so that whoever waits can be interrupted. If creation completes anyway, the
   * sandbox is destroyed.
   */
  const open = ({ create, destroy }: Plan) =>
    Effect.flatMap(Effect.forkDaemon(create), (fiber) =>
      Effect.onInterrupt(Effect.interruptible(Fiber.join(fiber)), () =>
        Effect.forkDaemon(
          Effect.flatMap(Fiber.interrupt(fiber), (exit) => (Exit.isSuccess(exit) ? destroy(exit.value) : Effect.void))
        )
      )
    )

  const create = (cwd: string): Effect.Effect<SandboxBackend, ExecutionFailed> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (isClosed) return yield* new ExecutionFailed({ kind: "shell", reason: "the session has ended" })
        const madeFrom = stamp()
        const planned = yield* restore(plan(cwd))
        const backend = yield* open(planned)
        const watch =
          backend.policy?.hosts === undefined ? undefined : yield* Effect.forkDaemon(Effect.interruptible(watching))
        const destroyed = planned.destroy(backend)
        current = {
          cwd,
          backend,
          given: new Map(),
          madeFrom,
          end: watch === undefined ? destroyed : Effect.zipRight(Fiber.interrupt(watch), destroyed)
        }
        known = stamp()
        awaited = waiting = []
        const { policy } = backend
        confine(policy && (() => policy))
        if (ask !== undefined) yield* backend.setHosts?.(backend.policy?.hosts, ask) ?? Effect.void
        if (status !== undefined) yield* backend.setStatus?.(status) ?? Effect.void
        status = undefined
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

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosed = true
      return turn.withPermits(1)(end)
    })
  )
  return {
    now: () => current,
    /** Returns the last known confinement; undefined until it has been looked at. */
    confinement: () => confinement?.(),
    /** Refreshes the confinement. Starts nothing. */
    findConfinement,
    /** Tests whether a new sandbox would have another policy than the current one. */
    isOutdated: (): boolean =>
      current !== undefined && (current.madeFrom !== stamp() || grants.areNewer(current.backend)),
    /** Builds the policy for a directory, including what a person has allowed. */
    build,
    /** Returns the name of the most recently planned sandbox's provider. */
    provider: () => provider?.name ?? "",
    /** Sets `$?` of the next command; if there is no sandbox yet, of its first command. */
    setStatus: (code: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (current === undefined) status = code
        return current?.backend.setStatus?.(code) ?? Effect.void
      }),
    /** Returns the sandbox for a directory. Creates it if needed, after ending the sandbox of any other directory. */
    get: (cwd: string): Effect.Effect<SandboxBackend, ExecutionFailed> =>
      Effect.suspend(() => {
        if (current?.cwd === cwd) return Effect.succeed(current.backend)
        return turn.withPermits(1)(
          Effect.suspend(() =>
            current?.cwd === cwd ? Effect.succeed(current.backend) : Effect.zipRight(end, create(cwd))
          )
        )
      }),
    /**
     * Gives the running sandbox the hosts and paths that are allowed now; with `check`, only if `sandbox.json` has
     * changed.
     */
    refresh,
    /**
     * Runs `change`. If it succeeds and the sandbox enforces a policy, replaces the sandbox by a new one for the same
     * directory.
     */
    rebuild: (change: Effect.Effect<unknown, ExecutionFailed>): Effect.Effect<void, ExecutionFailed> =>
      turn.withPermits(1)(
        Effect.flatMap(change, () =>
          current?.backend.policy === undefined ? Effect.void : Effect.zipRight(end, create(current.cwd))
        )
      ),
    /** Ends this sandbox, unless another has already replaced it. The next command's result gets the notice. */
    retire: (backend: SandboxBackend, notice?: string): Effect.Effect<void> =>
      turn.withPermits(1)(
        Effect.suspend(() => {
          if (current?.backend !== backend) return Effect.void
          if (notice !== undefined) untold = [...untold, Diagnostic.notice(notice)]
          return end
        })
      ),
    /** Adds to a command's result, once, what it has to tell. */
    tell: (result: SandboxResult): SandboxResult => {
      const { denial, denied } = result
      const path = denial && waiting.find(({ resource }) => HostPath.isWithin(denial.resource, resource))?.resource
      if (path !== undefined) noteAwaiting(path)
      const told = Diagnostic.tell(result, ...untold)
      untold = []
      if (path === undefined || denied === undefined) return told
      // What is allowed already needs no advice on how to allow it.
      const plain = { ...Struct.omit(denied, "allow", "hidden", "lift"), advice: [] }
      return { ...told, denied: plain, blockedReason: Diagnostic.forModel(plain) }
    },
    shutdown: turn.withPermits(1)(end)
  }
})
