import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import * as Attempt from "../domain/Attempt.js"
import * as CallContext from "../domain/CallContext.js"
import type { CommandError, ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type * as CommandResult from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import * as Yield from "../domain/Yield.js"
import * as BashSession from "../session/BashSession.js"
import { provided, SessionJobs } from "../session/JobTable.js"
import * as ProcessTable from "../session/ProcessTable.js"
import type { Observer, QueuedCommand } from "../session/QueuedCommand.js"
import * as SessionProcesses from "../session/SessionProcesses.js"
import { SessionSettings } from "../session/SessionSettings.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import { SandboxSettings, type Settings } from "./config/SandboxSettings.js"
import * as StartupFiles from "./config/StartupFiles.js"
import * as CommandWords from "./denial/CommandWords.js"
import { longestLook } from "./denial/WithheldVariables.js"
import { CommandDenials, isOfNetwork, isUneventful } from "./internal/CommandDenials.js"
import * as CurrentSandbox from "./internal/CurrentSandbox.js"
import * as RunningSandbox from "./internal/RunningSandbox.js"
import { type Change, StartupGuard } from "./internal/StartupGuard.js"
import { SandboxNetwork } from "./network/SandboxNetwork.js"
import { CurrentUpstream } from "./network/Upstream.js"
import * as LoginShell from "./platform/LoginShell.js"
import { SandboxPlatform } from "./platform/SandboxPlatform.js"
import * as HostPath from "./policy/HostPath.js"
import * as Name from "./policy/Name.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import type { Rule, SandboxPolicy } from "./policy/SandboxPolicy.js"
import type { Execute, Grant, NetworkQuestions, SandboxBackend, SandboxResult } from "./SandboxBackend.js"
import { executed } from "./SandboxBackend.js"
import type * as SandboxProvider from "./SandboxProvider.js"

/** The shortest pause between two scans, in ms. After a long scan, the pause is `share` times the scan's duration. */
const shortest = 1000
const share = 20

/**
 * Returns a function to call after each command. It only wakes a background loop, which scans once the pause since the
 * last scan is over. A failed scan is reported to `onFailure`, and the loop goes on.
 */
export const makeRescan = <E>(
  scan: Effect.Effect<void, E>,
  onFailure: (cause: Cause.Cause<E>) => Effect.Effect<void> = (cause) => Effect.logDebug("a scan has failed", cause)
): Effect.Effect<() => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ended = yield* Queue.sliding<void>(1)
    const loop = (pause: number): Effect.Effect<never> =>
      Effect.sleep(pause).pipe(
        Effect.zipRight(Queue.take(ended)),
        Effect.zipRight(Effect.timed(Effect.catchAllCause(scan, onFailure))),
        Effect.flatMap(([duration]) => loop(Math.max(shortest, share * Duration.toMillis(duration))))
      )
    // The start of the sandbox has just scanned.
    yield* Effect.forkScoped(Effect.interruptible(loop(shortest)))
    return () => void ended.unsafeOffer(undefined)
  })

/**
 * Delay before work that no command should wait for, in ms. A short command that follows at once ends within it, and a
 * longer one is not held up.
 */
const pause = 2

/** How many sentences about reverted changes wait for the next result. */
const mostSentences = 5

/** The most servers that one result names. */
const mostServers = 5

/** The remarks that a session's results make once: what git may write, files that read as empty, new servers. */
class OnceTold {
  /** The repository that git may write, until a result has said so. */
  private repository: Rule | undefined
  private readonly mayHaveEmpty: boolean
  private readonly empty = new Set<string>()
  private heard: ReadonlyArray<number> = []

  constructor(
    private readonly policy: SandboxPolicy,
    private readonly running: RunningSandbox.RunningSandbox,
    private readonly network: SandboxNetwork,
    private readonly jobs: { readonly running: number }
  ) {
    this.repository = policy.whitelist.find(({ source }) => source === "git")
    this.mayHaveEmpty = policy.blacklist.some(({ hidden }) => hidden === "empty")
  }

  /** Explains what git may write when a command first uses it. */
  ofRepository(command: string): string | undefined {
    const { repository } = this
    if (repository === undefined || !/\bgit\b/.test(command.slice(0, longestLook))) return undefined
    this.repository = undefined
    return `The sandbox lets git write ${Name.of(repository.path)}, but not its hooks.`
  }

  /** Names the files that read as empty since the last time. */
  ofEmpty(): string | undefined {
    if (!this.mayHaveEmpty) return undefined
    const fresh = this.running.masks().filter(({ path, standIn }) => standIn === "" && !this.empty.has(path))
    const first = fresh.find(({ path }) => HostPath.isWithin(path, this.policy.cwd)) ?? fresh[0]
    if (first === undefined) return undefined
    for (const { path } of fresh) this.empty.add(path)
    const what = fresh.length === 1 ? "an empty file" : `an empty file, and ${fresh.length - 1} more`
    return `The sandbox shows ${Name.of(first.path)} as ${what} (rule ${Name.ofEntry(first.rule.pattern)}).`
  }

  /** Returns the ports of the servers that commands have started since the last time. */
  newServers(mayAsk: boolean): ReadonlyArray<number> {
    // A server that outlives its command belongs to a job, or to a person's shell, which keeps its own.
    if (!mayAsk && this.jobs.running === 0 && this.heard.length === 0) return []
    const now = this.running.listening()
    const fresh = now.filter((port) => !this.heard.includes(port))
    this.heard = now
    return fresh.slice(0, mostServers)
  }

  /** Says how the user reaches servers. */
  ofServers(ports: ReadonlyArray<number>): string | undefined {
    const open = ports.map((port) => {
      const outside = this.network.outsideOf(port)
      const way =
        outside === undefined
          ? `to open it, outside of the sandbox: synapse port ${port}`
          : `open at http://127.0.0.1:${outside}`
      return `Listening on ${port}: ${way}.`
    })
    return open.length === 0 ? undefined : open.join(" ")
  }
}

/** Makes a sandbox. Its shell starts with the first command and ends with the scope. */
const makeLocalSandboxBackend = (
  policy: SandboxPolicy,
  { userHome, variables: known }: Pick<Settings, "userHome" | "variables">
): Effect.Effect<
  Omit<SandboxBackend, "dispose">,
  never,
  SandboxPlatform | SessionSettings | ShellBridge | Scope.Scope
> =>
  Effect.gen(function* () {
    const given = yield* SessionSettings
    const { variables } = yield* UserEnvironment
    const scope = yield* Effect.scope
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const runPromise = Runtime.runPromise(yield* Effect.runtime())
    const decision = PolicyDecision.make(policy)
    const profile = policy.profile === true ? yield* LoginShell.read(userHome, decision) : undefined
    const settings =
      profile === undefined
        ? given
        : {
            ...given,
            environment: {
              ...LoginShell.added(profile, ShellEnvironment.make("", given.environment, variables)),
              ...given.environment
            }
          }
    /** The number of running and queued commands, and when the first of them began (`performance.now()`). */
    let busy = 0
    let since = 0
    const guard = new StartupGuard(policy, userHome)
    /** Sentences about changes that were reverted after a scan, for the next result. */
    let taken: ReadonlyArray<string> = []
    /** Sentences about changes that are being reverted. */
    let pending: ReadonlyArray<string> = []
    let forget = () => {}
    // The listener of the first command, which makes the sandbox.
    const { onHint } = yield* FiberRef.get(CommandListener.current)
    const takeBackAtEnd = (repositories?: ReadonlyArray<string>): void => {
      forget()
      const all = new Set([
        ...taken,
        ...pending,
        ...guard.allChanges(repositories).map(({ apply, said }) =>
          // A path may be gone, or belong to another user.
          Attempt.orElse(() => apply() === undefined, false) ? said : `${said} That failed.`
        )
      ])
      for (const said of [...all].slice(0, mostSentences)) onHint?.(said)
      if (all.size > mostSentences) onHint?.(`${all.size - mostSentences} more changes like these were taken back.`)
    }
    let heads: ReadonlyArray<string> = []
    // Finalizers run in reverse order, so this one runs after all processes of the sandbox have ended.
    yield* Effect.addFinalizer(() => Effect.sync(() => takeBackAtEnd(heads)))
    const makeUpstream = yield* CurrentUpstream
    const network = new SandboxNetwork(() => makeUpstream(known), policy.published)
    network.hosts = policy.hosts
    let current: QueuedCommand | undefined
    let questions: NetworkQuestions | undefined
    const running: RunningSandbox.RunningSandbox = yield* RunningSandbox.make(
      policy,
      () => {
        // The running command may go on writing files that it has just made. Older processes are in the background, so
        // they are evicted.
        runFork(running.evict(busy === 0 ? undefined : ProcessTable.ticksAt(since)), { scope })
      },
      (heads) => guard.begin(heads),
      (live) => network.attach(live)
    )
    const built = yield* Layer.build(BashSession.layer(running.launcher)).pipe(
      Effect.provideService(SessionSettings, { ...settings, cwd: policy.cwd })
    )
    const session = Context.get(built, BashSession.BashSession)
    // Registered after the session's, which kills the processes first.
    forget = SessionProcesses.atExit(() => takeBackAtEnd())

    const once = new OnceTold(policy, running, network, yield* provided)
    /** Asks a person about each server that a command has started, and opens its port to the machine after a yes. */
    const offer = (ports: ReadonlyArray<number>, command: string) =>
      Effect.forEach(
        ports.filter((port) => !network.isPublished(port)),
        (port) =>
          Effect.flatMap(questions?.open(port, command) ?? Effect.succeed(false), (isAllowed) => {
            if (!isAllowed) return Effect.void
            network.publish({ inside: port, outside: port })
            return running.attach
          }),
        { discard: true }
      )
    /** Only a new sandbox searches a directory for the sockets of programs outside. */
    const mayHoldSockets = (path: string) => policy.unixSockets === "own" && HostPath.isDirectory(path)
    const takesNewSandbox = (path: string) =>
      !running.canChange() || mayHoldSockets(path) || StartupFiles.takesNewSandbox(path, userHome)
    const environment = () => ShellEnvironment.make("", settings.environment, variables)
    const denials = new CommandDenials({ policy, decision, running, network, userHome, environment, takesNewSandbox })

    /**
     * Renews the masks over paths that the host has replaced or created. If that fails, a new shell is started, and a
     * notice says so.
     */
    const mend = Effect.catchAll(Effect.as(running.mend, undefined), ({ message }) =>
      Effect.as(session.restart, `A new shell was started: ${message}.`)
    )

    /** Work that no command should wait for. It runs while the shell is idle or during a long command. */
    const inPassing = yield* Effect.acquireRelease(
      Effect.sync(() =>
        setTimeout(() => {
          running.network()?.note(busy === 0)
          // A failure is retried before the next command, whose result then reports it.
          if (running.isDue("ahead")) runFork(Effect.ignore(running.mend), { scope })
        }, pause).unref()
      ),
      (timer) => Effect.sync(() => clearTimeout(timer))
    )

    let unread = profile?.failure
    const takeBack = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlyArray<string>> => {
      pending = changes.map(({ said }) => said)
      const taking = Effect.forEach(changes, ({ apply, path, said }) =>
        Effect.match(running.protect(path, apply, guard.isAdded(path)), {
          onFailure: ({ message }) => `${said} That failed: ${message}.`,
          onSuccess: (isHeld) => {
            if (!isHeld || HostPath.isMissing(path)) return said
            denials.protect(path)
            return `${said} ${Name.of(path.replace(`${policy.cwd}/`, ""))} is read-only until a new shell starts.`
          }
        })
      )
      const end = Effect.sync(() => {
        pending = []
      })
      return Effect.ensuring(taking, end)
    }
    // What was taken back is told, also where the session ends meanwhile.
    const takeBackAll = Effect.uninterruptible(
      Effect.suspend(() =>
        Effect.map(takeBack(guard.allChanges(running.heads())), (said) => {
          taken = [...taken, ...said].slice(-mostSentences)
        })
      )
    )

    /** Keeps what there is to say for the next command: nobody sees the result of reading an entry. */
    const afterEntry = (line: string, cwd: string, result: CommandResult.CommandResult, notice?: string) =>
      Effect.map(takeBack(guard.afterCommand(line, [cwd])), (said): SandboxResult => {
        taken = [...taken, ...(notice === undefined ? [] : [notice]), ...said].slice(-mostSentences)
        return { ...result, blocked: false }
      })

    /** Why the last scan failed, until a result has reported it. */
    let unsearched: string | undefined
    let isTold = false
    /** The number of commands since the first that may write, and the number at the begin of the last scan that succeeded. */
    let ran = 0
    let searched = 0
    /** When the last scan began and ended (`performance.now()`). */
    let scanned = [performance.now(), performance.now()] as const
    const scan = Effect.suspend(() => {
      const begun = performance.now()
      const before = ran
      return Effect.flatMap(running.scan, () => {
        isTold = false
        searched = before
        scanned = [begun, performance.now()]
        return takeBackAll
      })
    })
    const onFailure = (cause: Cause.Cause<unknown>) =>
      Effect.sync(() => {
        if (isTold || Cause.isInterruptedOnly(cause)) return
        isTold = true
        unsearched = `New files that the blacklist names could not be looked for, and may be readable: ${firstLine(cause)}.`
      })
    const rescan = yield* makeRescan(scan, onFailure)
    /** True if the last scan has ended so long ago that another one is worth its time. */
    const isOld = () => {
      const [begun, ended] = scanned
      return performance.now() - ended > share * (ended - begun)
    }
    // What commands have made since the last scan, such as the one command of `synapse exec`.
    yield* Effect.addFinalizer(() =>
      Effect.map(ran > searched ? Effect.ignore(running.scan) : Effect.void, () => {
        // What the last scan has found may not be taken back yet: its end may have been interrupted.
        heads = running.heads()
      })
    )
    /** Looks for new secrets before a command if the last scan is old: the user may have created files since. */
    const upToDate = Effect.suspend(() => (busy === 0 && isOld() ? Effect.catchAllCause(scan, onFailure) : Effect.void))

    const observer: Observer = {
      onBegin: (queued) => {
        current = queued
        // What an earlier command left running may write as well.
        if (ran > 0 || !CommandWords.isReading(queued.line)) ran++
        if (busy++ === 0) since = performance.now()
      },
      onEnd: ({ line }, result) => {
        busy--
        if (result === undefined || isUneventful(line.text, result) || !isOfNetwork(line, result))
          running.network()?.pass()
        inPassing.refresh()
      }
    }

    const run = (
      line: CommandLine.CommandLine,
      cwd: string,
      options: BashSession.ExecuteOptions | undefined,
      notice?: string
    ): Effect.Effect<SandboxResult, ExecutionFailed | InvalidUsage> => {
      const { text: command } = line
      const told = (result: CommandResult.CommandResult) => {
        const servers = once.newServers(questions !== undefined)
        return servers.length === 0 || questions === undefined
          ? reported(result, servers)
          : Effect.zipRight(
              offer(servers, command),
              Effect.suspend(() => reported(result, servers))
            )
      }
      const reported = (result: CommandResult.CommandResult, servers: ReadonlyArray<number>) => {
        const told = [
          ...noticesOf([network.notice(), running.overMemory(), unread], "denied"),
          ...noticesOf([notice, once.ofEmpty(), once.ofRepository(command), once.ofServers(servers)]),
          ...noticesOf([running.notice(), unsearched])
        ]
        unsearched = unread = undefined
        const now = result.movedTo ?? cwd
        const changes = guard.afterCommand(command, cwd === now ? [cwd] : [cwd, now])
        const changed = [...taken, guard.told()]
        taken = []
        // A command that gave up while a person was being asked is told the answer.
        const answered = result.exitCode === ExitCode.success ? Effect.void : network.settled
        return Effect.flatMap(Effect.zipLeft(takeBack(changes), answered), (said) => {
          const noted = Diagnostic.tell(result, ...noticesOf([...changed, ...said], "changed"), ...told)
          return denials.explain(line, { before: cwd, now, questions }, noted)
        })
      }
      const execution = session.execute(command, { timeout: options?.timeout, yield: options?.yield, line, observer })
      const ended = Effect.zip(Yield.pass(command, execution), CallContext.get("terminal"))
      return Effect.flatMap(ended, ([result, terminal]) => {
        rescan()
        const after = Effect.suspend(() =>
          terminal === "entry" ? afterEntry(command, cwd, result, notice) : told(result)
        )
        return running.isEvictionDue() ? Effect.zipRight(running.evict(), after) : after
      })
    }

    /** Starts the shell if needed: a grant may be requested before the first command. */
    const started = Effect.suspend(() =>
      running.isThere() ? Effect.void : Effect.mapError(session.execute(":"), toUnchangeable)
    )

    /** Asks a person. The command's time limit is paused meanwhile. */
    const hold = (asked: Effect.Effect<boolean>) =>
      // The runtime comes from the creation of the sandbox, which is uninterruptible. So the question must be made
      // interruptible.
      runPromise(Effect.interruptible(Effect.ensuring(asked, Effect.sync(current?.hold?.() ?? (() => {})))))
    /** Attaches the network to a command that may use one, so that a person can be asked about its hosts. */
    const connected = (command: CommandLine.CommandLine) =>
      network.ask === undefined || network.isTried || CommandWords.isLocal(command)
        ? Effect.void
        : Effect.ignore(Effect.zipRight(started, attachNetwork))
    const attachNetwork = Effect.suspend(() => {
      network.hosts ??= { allowed: [], denied: [] }
      return running.attach
    })

    const grantGuarded = (grant: Grant) =>
      Effect.suspend(() => {
        if (mayHoldSockets(grant.resource)) return RunningSandbox.unchangeable()
        if (grant.access === "read" || !HostPath.isDirectory(grant.resource)) return running.grant(grant)
        if (takesNewSandbox(grant.resource)) return RunningSandbox.unchangeable()
        // The guard must know the place before a command can write there.
        guard.add(grant.resource)
        return Effect.tapError(running.grant(grant), () => Effect.sync(() => guard.leave(grant.resource)))
      })

    const execute: Execute = (command, options) => {
      const line = options?.line ?? CommandLine.parse(command)
      return executed(
        Effect.zipRight(
          connected(line),
          Effect.flatMap(session.cwd, (cwd) => executeIn(line, cwd, options))
        )
      )
    }
    const executeIn = (line: CommandLine.CommandLine, cwd: string, options: BashSession.ExecuteOptions | undefined) => {
      const refused = denials.refused(line, cwd)
      if (refused !== undefined) return Effect.succeed(refused)
      return Effect.zipRight(
        upToDate,
        Effect.suspend(() =>
          running.isDue() ? Effect.flatMap(mend, (notice) => run(line, cwd, options, notice)) : run(line, cwd, options)
        )
      )
    }

    return {
      policy,
      execute,
      grant: (grant) => Effect.zipRight(started, grantGuarded(grant)),
      setHosts: (hosts, ask) =>
        Effect.suspend(() => {
          network.hosts = hosts ?? (network.hosts && { allowed: [], denied: [] })
          questions = ask
          network.ask = ask && ((...asked) => hold(ask.reach(current?.line.text ?? "", ...asked)))
          if (network.isThere) return network.update
          return hosts === undefined ? Effect.void : running.attach
        }),
      revoke: (grant) =>
        grant.access === "write" && guard.isAdded(grant.resource)
          ? // A repository that the command has made there is not found afterwards.
            Effect.ignore(running.scan).pipe(
              Effect.zipRight(takeBackAll),
              Effect.zipRight(running.revoke(grant)),
              Effect.tap(() => Effect.sync(() => guard.leave(grant.resource)))
            )
          : running.revoke(grant),
      alone: running.alone,
      restart: session.restart,
      cwd: session.cwd,
      setStatus: session.setStatus
    }
  })

const firstLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? ""
}

const noticesOf = (texts: ReadonlyArray<string | undefined>, about?: "changed" | "denied") =>
  texts.flatMap((text) => (text === undefined ? [] : [Diagnostic.notice(text, about)]))

const toUnchangeable = (error: CommandError): ExecutionFailed =>
  error._tag === "ExecutionFailed" ? error : RunningSandbox.unchangeable()

/** Makes the provider `local`. If the platform enforces nothing, its backends are shells without a sandbox. */
export const make: Effect.Effect<
  SandboxProvider.SandboxProvider,
  never,
  SandboxPlatform | SandboxSettings | SessionSettings | ShellBridge
> = Effect.gen(function* () {
  const settings = yield* SandboxSettings
  const { enforces, obstacle, refine = Effect.succeed } = yield* SandboxPlatform
  const { environment } = yield* SessionSettings
  const { variables } = yield* UserEnvironment
  const createUnsandboxed = yield* CurrentSandbox.makeUnsandboxed
  const services = Context.make(SandboxPlatform, yield* SandboxPlatform).pipe(
    Context.add(SessionSettings, yield* SessionSettings),
    Context.add(ShellBridge, yield* ShellBridge),
    Context.add(SessionJobs, yield* provided)
  )
  return {
    name: "local",
    enforces,
    obstacle: () => obstacle?.(ShellEnvironment.make("", environment, variables)),
    create: (policy) =>
      enforces === false
        ? createUnsandboxed(policy.cwd)
        : Effect.uninterruptible(
            Effect.gen(function* () {
              const refined = yield* refine(policy, settings.userHome)
              const scope = yield* Scope.make()
              const backend = yield* makeLocalSandboxBackend(refined, settings).pipe(
                Scope.extend(scope),
                Effect.provide(services)
              )
              return { ...backend, dispose: Scope.close(scope, Exit.void) }
            })
          ),
    destroy: (backend) => backend.dispose
  }
})
