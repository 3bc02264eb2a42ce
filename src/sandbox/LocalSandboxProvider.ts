/**
 * The provider named `local`, whose sandboxes this machine's kernel enforces.
 */
import * as Path from "node:path"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as CommandLine from "../bash/CommandLine.js"
import * as CommandStatus from "../bash/CommandStatus.js"
import * as CommandTree from "../bash/CommandTree.js"
import * as Attempt from "../domain/Attempt.js"
import * as CallContext from "../domain/CallContext.js"
import type { CommandError, ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import * as Yield from "../domain/Yield.js"
import * as BashSession from "../session/BashSession.js"
import { provided, SessionJobs } from "../session/JobTable.js"
import * as ProcessTable from "../session/ProcessTable.js"
import type { Observer, QueuedCommand } from "../session/QueuedCommand.js"
import { SessionSettings } from "../session/SessionSettings.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import { SandboxSettings, type Settings } from "./config/SandboxSettings.js"
import * as StartupFiles from "./config/StartupFiles.js"
import * as Attribution from "./denial/Attribution.js"
import * as CommandWords from "./denial/CommandWords.js"
import * as Denial from "./denial/Denial.js"
import * as Explanation from "./denial/Explanation.js"
import * as GitAdvice from "./denial/GitAdvice.js"
import * as NpmCi from "./denial/NpmCi.js"
import * as PassingDenial from "./denial/PassingDenial.js"
import * as Preflight from "./denial/Preflight.js"
import { longestLook, longestOutput, WithheldVariables } from "./denial/WithheldVariables.js"
import * as CurrentSandbox from "./internal/CurrentSandbox.js"
import * as RunningSandbox from "./internal/RunningSandbox.js"
import { type Change, StartupGuard } from "./internal/StartupGuard.js"
import { SandboxNetwork, type Seen } from "./network/SandboxNetwork.js"
import { CurrentUpstream } from "./network/Upstream.js"
import * as LoginShell from "./platform/LoginShell.js"
import { SandboxPlatform } from "./platform/SandboxPlatform.js"
import * as ToolCache from "./platform/ToolCache.js"
import * as HostPath from "./policy/HostPath.js"
import * as Name from "./policy/Name.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import type { Execute, Grant, NetworkQuestions, SandboxBackend, SandboxResult } from "./SandboxBackend.js"
import { executed } from "./SandboxBackend.js"
import type * as SandboxProvider from "./SandboxProvider.js"

const withMissed = (result: CommandResult.CommandResult, names: ReadonlyArray<string>): CommandResult.CommandResult => {
  const left = `leaves ${names.join(", ")} out of the environment`
  const options = `${names.map((name) => `--env ${name}`).join(" ")}, or "env" in sandbox.json.`
  const notice = `The sandbox ${left}; the user can let ${names.length === 1 ? "it" : "them"} through: ${options}`
  return withPersonal(withNotice(result, notice), `the sandbox ${left}: ${options}`)
}

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

/** How many servers one result names. */
const mostServers = 5

/** Returns the resource that a denial is reported under in `blockedResource`. */
const resourceOf = (denial: Denial.Denial) =>
  denial.access === "network" || denial.access === "system" || Denial.isUnlisted(denial) ? denial.resource : denial.rule

const reached = "The command tried to reach a network, and the sandbox has none: that may be why it failed."
const request = "If so, ask the user to allow the host that it needs: synapse sandbox allow HOST"

/** Tests whether the command or a part of its pipeline failed, so that a denial may explain it. */
const isAsked = ({ exitCode, pipeline }: CommandResult.CommandResult): boolean =>
  exitCode !== ExitCode.success || pipeline !== undefined

/** Returns the programs that failed in the last pipeline; of a failed part in brackets, all of its programs. */
const failedIn = (
  { tree }: CommandLine.CommandLine,
  { exitCode, pipeline = [] }: CommandResult.CommandResult
): ReadonlyArray<string> =>
  CommandStatus.lastPipeline(tree, pipeline, exitCode)?.flatMap(({ program }, at) =>
    pipeline[at] === 0 ? [] : program === undefined ? nestedIn(tree) : [Path.basename(program)]
  ) ?? []

/** Returns the programs of the pipelines' compound commands in a text. */
const nestedIn = ({ lists }: CommandTree.CommandTree): ReadonlyArray<string> =>
  [...lists, ...[...CommandTree.commandsIn(lists)].flatMap((command) => command.lists)]
    .flatMap(({ pipelines }) => pipelines)
    .flatMap(({ commands }) => (commands.length > 1 ? commands : []))
    .flatMap((command) => [...CommandTree.commandsIn(command.lists)])
    .flatMap(({ words }) => (CommandStatus.unwrapped(words) ?? words).slice(0, 1))
    .map(({ value }) => Path.basename(value))

/** Tests whether the command succeeded in silence, as most do: then only its output is reported. */
const isUneventful = (command: string, { exitCode, pipeline, stderr }: CommandResult.CommandResult): boolean =>
  exitCode === ExitCode.success &&
  pipeline === undefined &&
  stderr === "" &&
  !merges.test(command) &&
  !/\bgit\b/.test(command) &&
  !CommandWords.mayFetch.test(command)

/**
 * Tests whether the network traffic of a command matters: it failed, fetches something, or says that it did not reach a
 * host.
 */
const isOfNetwork = (command: CommandLine.CommandLine, result: CommandResult.CommandResult): boolean =>
  isAsked(result) ||
  [result.stderr, mergedOf(command.text, result)].some((text) => text !== "" && PassingDenial.isOffline(text)) ||
  CommandWords.programIn(command) !== undefined

/** Matches a command that sends its messages to standard output. */
const merges = /2>(?:[ \t]{0,20}&[ \t]{0,20}1|[ \t]{0,20}\/dev\/(?:stdout|fd\/1))|\|&|&>>?[ \t]{0,20}\/dev\/stdout/

/** Returns standard output if the command's messages went there, else an empty string. */
const mergedOf = (command: string, { stdout }: CommandResult.CommandResult): string =>
  merges.test(command) ? stdout : ""

/** Matches messages about a connection that failed or was cut. */
const cut = /reset|hang up|\bSSL|\bTLS|EOF|empty reply|connect|unreachable|resol|network|fetch|timed? ?out/i

/**
 * Tests whether a refused host explains the failure: the command is silent, names the host, or reports a connection
 * error.
 */
const saysOfHosts = (
  command: CommandLine.CommandLine,
  { stderr, stdout }: CommandResult.CommandResult,
  { refused }: Seen
): boolean => {
  const said = `${stderr}\n${stdout.slice(-longestOutput)}`
  return (
    refused.length > 0 &&
    (stderr.trim() === "" ||
      cut.test(stderr) ||
      CommandWords.programIn(command) !== undefined ||
      refused.some(({ host }) => command.text.includes(host) || said.includes(host)))
  )
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
    const preflight = Preflight.make(policy, decision)
    /** The number of running and queued commands, and when the first of them began (`performance.now()`). */
    let busy = 0
    let since = 0
    const guard = new StartupGuard(policy, userHome)
    // Finalizers run in reverse order, so this one runs after all processes of the sandbox have ended.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        // A path may be gone, or belong to another user.
        for (const { apply } of guard.allChanges([])) Attempt.ignore(apply)
      })
    )
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
    const session = yield* BashSession.make(running.launcher).pipe(
      Effect.provideService(SessionSettings, { ...settings, cwd: policy.cwd })
    )

    const repository = policy.whitelist.find(({ source }) => source === "git")
    let isRepositoryTold = repository === undefined
    /** When git is first used, explains what it may write. */
    const ofRepository = (command: string): string | undefined => {
      if (!/\bgit\b/.test(command.slice(0, longestLook))) return undefined
      isRepositoryTold = true
      return `The sandbox lets git write ${Name.of(repository?.path ?? "")}, but not its hooks.`
    }
    const hasEmpty = policy.blacklist.some(({ hidden }) => hidden === "empty")
    const toldEmpty = new Set<string>()
    /** Names each file that reads as empty, once. */
    const ofEmpty = (): string | undefined => {
      const fresh = running.masks().filter(({ path, standIn }) => standIn === "" && !toldEmpty.has(path))
      const first = fresh.find(({ path }) => HostPath.isWithin(path, policy.cwd)) ?? fresh[0]
      if (first === undefined) return undefined
      for (const { path } of fresh) toldEmpty.add(path)
      const what = fresh.length === 1 ? "an empty file" : `an empty file, and ${fresh.length - 1} more`
      return `The sandbox shows ${Name.of(first.path)} as ${what} (rule ${Name.ofEntry(first.rule.pattern)}).`
    }
    const jobs = yield* provided
    let heard: ReadonlyArray<number> = []
    /** Returns the ports of the servers that commands have started, each once. */
    const newServers = (): ReadonlyArray<number> => {
      // A server that outlives its command belongs to a job, or to a person's shell, which keeps its own.
      if (questions === undefined && jobs.running === 0 && heard.length === 0) return []
      const now = running.listening()
      const fresh = now.filter((port) => !heard.includes(port))
      heard = now
      return fresh.slice(0, mostServers)
    }
    const ofServers = (ports: ReadonlyArray<number>): string | undefined => {
      const open = ports.map((port) => {
        const outside = network.outsideOf(port)
        const way =
          outside === undefined
            ? `synapse port ${port} opens it to the user`
            : `the user has it at http://127.0.0.1:${outside}`
        return `Listening on ${port}: ${way}.`
      })
      return open.length === 0 ? undefined : open.join(" ")
    }
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
    const withheld = new WithheldVariables()
    const passing = new PassingDenial.PassingDenials()

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

    /** Sentences about changes that were reverted after a scan, for the next result. */
    let taken: ReadonlyArray<string> = []
    let unread = profile?.failure
    let held = policy.readonly
    // The modules that this needs are loaded on first use.
    let attribute = (outcome: Attribution.Outcome) => Attribution.make(policy, decision)(outcome)
    const takeBack = (changes: ReadonlyArray<Change>): Effect.Effect<ReadonlyArray<string>> =>
      Effect.forEach(changes, ({ apply, path, said }) =>
        Effect.match(running.protect(path, apply, guard.isAdded(path)), {
          onFailure: ({ message }) => `${said} That failed: ${message}.`,
          onSuccess: (isHeld) => {
            if (!isHeld || HostPath.isMissing(path)) return said
            held = [...held, { pattern: path, path, kind: "path", source: "startup" }]
            attribute = Attribution.make({ ...policy, readonly: held })
            return `${said} Until the session ends, ${Name.of(path.replace(`${policy.cwd}/`, ""))} is read-only.`
          }
        })
      )
    const takeBackAll = Effect.suspend(() =>
      Effect.map(takeBack(guard.allChanges(running.heads())), (said) => {
        taken = [...taken, ...said].slice(-mostSentences)
      })
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
    /** When the last scan began and ended (`performance.now()`). */
    let scanned = [performance.now(), performance.now()] as const
    const scan = Effect.suspend(() => {
      const begun = performance.now()
      return Effect.flatMap(running.scan, () => {
        isTold = false
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
    /** Looks for new secrets before a command if the last scan is old: the user may have created files since. */
    const upToDate = Effect.suspend(() => {
      const [begun, ended] = scanned
      return busy === 0 && performance.now() - ended > share * (ended - begun)
        ? Effect.catchAllCause(scan, onFailure)
        : Effect.void
    })

    const takesNewSandbox = (path: string) => !running.canChange() || StartupFiles.takesNewSandbox(path, userHome)
    const blocked = (
      result: CommandResult.CommandResult,
      denial: Denial.Denial,
      others: ReadonlyArray<Denial.Denial>,
      rest?: string
    ): SandboxResult => {
      const denied = Explanation.of(denial, policy, others, rest, takesNewSandbox)
      return {
        ...result,
        blocked: true,
        blockedReason: Diagnostic.denialText(denied),
        blockedResource: resourceOf(denial),
        blockedRule: denial.rule,
        denied,
        denial
      }
    }

    /** Refuses `npm ci` if it would empty `node_modules` and could not fill it again. */
    const ofNpm = (command: CommandLine.CommandLine, cwd: string): SandboxResult | undefined => {
      if (command.text.length > longestLook) return undefined
      const { HOME = userHome, npm_config_cache } = ShellEnvironment.make("", settings.environment, variables)
      const users = Path.join(HOME, ".npm")
      if ((npm_config_cache ?? users) !== users || decision.decide(users, "write").allowed) return undefined
      const directory = ToolCache.find(policy)
      if (directory === undefined) return undefined
      const lacks = NpmCi.lacking(command, cwd, { users, directory, own: "npm" })
      if (lacks.length === 0) return undefined
      const named = `${lacks.slice(0, 3).map(Name.ofEntry).join(", ")}${lacks.length > 3 ? `, and ${lacks.length - 3} more` : ""}`
      const rest = `npm ci would empty node_modules, and its cache lacks ${named}.`
      return blocked(CommandResult.make({ exitCode: ExitCode.blocked }), Denial.network("preflight"), [], rest)
    }

    /** True if a command may have set a limit of its own, which the shell keeps. */
    let mayBeLimited = false
    const trace = (
      command: CommandLine.CommandLine,
      before: string,
      cwd: string,
      given: CommandResult.CommandResult
    ): Effect.Effect<SandboxResult> => {
      mayBeLimited ||= command.text.includes("ulimit")
      const seen = network.take()
      const result = seen.reached.length === 0 ? given : { ...given, hosts: seen.reached }
      if (seen.refused.length + seen.late.length === 0 && isUneventful(command.text, result))
        return Effect.succeed({ ...result, blocked: false })
      const asked = isAsked(result)
      const merged = mergedOf(command.text, result)
      const events = seen.refused.map((refused) => Denial.host(refused, command.text, `${result.stderr}\n${merged}`))
      if (
        events.length === 0 &&
        seen.late.length + seen.failed.length === 0 &&
        !asked &&
        !PassingDenial.isLikely(command, { stderr: result.stderr, merged })
      )
        return Effect.succeed({ ...result, blocked: false })
      const outcome = {
        command,
        policy,
        directories: [...new Set([cwd, before, ...CommandWords.entered(CommandWords.invocations(command), before)])],
        stderr: result.stderr,
        stdout: result.stdout,
        merged,
        failed: asked ? failedIn(command, result) : undefined,
        resolvesLocally: network.isThere ? () => false : Attribution.isLocal,
        masks: running.masks(),
        processes: mayBeLimited ? undefined : running.processes(),
        hasAgent: running.withheld().includes("SSH_AUTH_SOCK"),
        // The traffic counters do not matter if the whole command succeeded and does not mention the network.
        traffic: isOfNetwork(command, result) ? running.network()?.settle() : undefined
      }
      const spoken = { ...outcome, stderr: merged === "" ? result.stderr : `${result.stderr}\n${merged}` }
      const said = Attribution.saysItself(command.text) ? `${result.stdout}\n${result.stderr}` : result.stderr
      const server = asked ? Denial.findMachineServer(command.text, said, result.exitCode) : undefined
      const reach = server === undefined ? undefined : questions?.reach("localhost", server, command.text)
      return Effect.map(reach ?? Effect.succeed(false), (isAllowed): SandboxResult => {
        const allowed = isAllowed ? [`localhost:${server}`] : []
        const late = result.exitCode === ExitCode.success ? [] : [...seen.late, ...allowed]
        if (late.length > 0) {
          return {
            ...withNotice(result, `Allowed meanwhile: ${late.join(", ")}: run the command again.`),
            blocked: false
          }
        }
        const attributed = attribute(outcome)
        const isOfMachine = asked && seen.failed.length > 0 && events.length === 0
        if (isOfMachine && attributed.every(({ access }) => access === "network")) {
          const failed = `Allowed, and not reached from this machine: ${seen.failed.join(", ")}.`
          return { ...withDenied(result, failed), blocked: false }
        }
        const isOfHosts = isAsked(result) && saysOfHosts(command, result, seen)
        const machine = server === undefined ? [] : [Denial.machine(server)]
        const denials = [...attributed, ...machine, ...(isOfHosts ? events : [])]
        const denial = Attribution.causeOf(denials, result)
        if (denial !== undefined) {
          passing.note(denial)
          const rest = GitAdvice.rest(spoken) ?? (denial.access === "read" ? undefined : GitAdvice.worktree(command))
          return blocked(result, denial, Attribution.othersOf(denials, denial), rest)
        }
        const refusedHosts = passing.ofHosts([...machine, ...events])
        if (refusedHosts !== undefined) return { ...withDenied(result, refusedHosts), blocked: false }
        const isFailed = result.exitCode !== ExitCode.success
        const passed = { ...spoken, denials, isFailed: asked }
        const denied = isFailed ? undefined : passing.denied(passed)
        if (denied !== undefined) {
          return { ...withPersonal(result, Diagnostic.denialForPerson(denied)), denied, blocked: false }
        }
        // Programs also look for updates in passing, so that traffic alone does not explain a failure.
        const isSilent = isFailed && result.stderr.trim() === ""
        if (
          asked &&
          !network.isThere &&
          denials.some(({ how }) => how === "counter") &&
          passing.tellsTraffic(isSilent)
        ) {
          const advice = policy.unattended === true ? "" : ` ${request}`
          return { ...withNotice(result, `${reached}${advice}`), blocked: false }
        }
        return { ...withDenied(result, isFailed ? passing.hidden(spoken) : passing.notice(passed)), blocked: false }
      })
    }

    const observer: Observer = {
      onBegin: (queued) => {
        current = queued
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
        const servers = newServers()
        return servers.length === 0 || questions === undefined
          ? reported(result, servers)
          : Effect.zipRight(
              offer(servers, command),
              Effect.suspend(() => reported(result, servers))
            )
      }
      const reported = (result: CommandResult.CommandResult, servers: ReadonlyArray<number>) => {
        const failures = [unsearched, unread] as const
        unsearched = unread = undefined
        const notices = [
          failures[0],
          running.notice(),
          ofServers(servers),
          isRepositoryTold ? undefined : ofRepository(command),
          hasEmpty ? ofEmpty() : undefined,
          notice
        ]
        const denied = [failures[1], network.notice()]
        let noted = result
        for (const one of notices) if (one !== undefined) noted = withNotice(noted, one)
        for (const one of denied) if (one !== undefined) noted = withDenied(noted, one)
        const merged = mergedOf(command, result)
        const said = {
          isFailed: isAsked(result),
          messages: `${merged}\n${result.stderr}`,
          rest: merged === "" ? result.stdout : ""
        }
        const missed = withheld.missed(command, running.withheld(), said)
        if (missed.length > 0) noted = withMissed(noted, missed)
        const now = result.movedTo ?? cwd
        const changes = guard.afterCommand(command, cwd === now ? [cwd] : [cwd, now])
        const told = guard.told()
        const sentences = told === undefined ? taken : [...taken, told]
        taken = []
        // A command that gave up while a person was being asked is told the answer.
        const answered = result.exitCode === ExitCode.success ? Effect.void : network.settled
        return Effect.flatMap(Effect.zipLeft(takeBack(changes), answered), (said) =>
          trace(line, cwd, now, withChanged(noted, [...sentences, ...said]))
        )
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
    /** Attaches the network to a command that fetches something, so that a person can be asked about its hosts. */
    const connected = (command: CommandLine.CommandLine) =>
      network.ask === undefined || network.isThere || CommandWords.programIn(command) === undefined
        ? Effect.void
        : Effect.ignore(Effect.zipRight(started, attachNetwork))
    const attachNetwork = Effect.suspend(() => {
      network.hosts ??= { allowed: [], denied: [] }
      return running.attach
    })

    const grantGuarded = (grant: Grant) =>
      Effect.suspend(() => {
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
      const { text: command } = line
      const [denial, ...others] = preflight(line, { cwd, home: userHome }).filter(
        ({ access, resource }) => !(access === "read" && running.isGranted(resource))
      )
      if (denial !== undefined) {
        return Effect.succeed(blocked(CommandResult.make({ exitCode: ExitCode.blocked }), denial, others))
      }
      const stopped = /\bgit\b/.test(command)
        ? GitAdvice.stopped(line, cwd, policy, (path, access) =>
            running.isGranted(path) ? { allowed: true } : decision.decide(path, access)
          )
        : undefined
      if (stopped !== undefined) {
        const none = CommandResult.make({ exitCode: ExitCode.blocked })
        return Effect.succeed(blocked(none, stopped.denial, stopped.others, stopped.rest))
      }
      const unfetched = /\bnpm\b/.test(command) ? ofNpm(line, cwd) : undefined
      if (unfetched !== undefined) return Effect.succeed(unfetched)
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
          network.ask = ask && ((host, port) => hold(ask.reach(host, port, current?.line.text ?? "")))
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

const withNotice = (result: CommandResult.CommandResult, notice: string | undefined) =>
  notice === undefined ? result : { ...result, notices: [notice, ...(result.notices ?? [])] }

const withDenied = (result: CommandResult.CommandResult, denied: string | undefined) =>
  denied === undefined ? result : withPersonal(withNotice(result, denied), denied)

const withPersonal = (result: CommandResult.CommandResult, line: string): CommandResult.CommandResult => ({
  ...result,
  personal: {
    ...result.personal,
    denied: [result.personal?.denied, line].filter((text) => text !== undefined).join("\n")
  }
})

const withChanged = (result: CommandResult.CommandResult, sentences: ReadonlyArray<string>) =>
  sentences.length === 0
    ? result
    : { ...sentences.reduceRight(withNotice, result), personal: { ...result.personal, changed: sentences.join(" ") } }

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
