/**
 * The denials of a session's commands: refuses what can only fail before it runs, and finds afterwards which rule of the
 * sandbox explains a failure.
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as CommandLine from "../../bash/CommandLine.js"
import * as CommandStatus from "../../bash/CommandStatus.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Attribution from "../denial/Attribution.js"
import * as CommandWords from "../denial/CommandWords.js"
import * as Denial from "../denial/Denial.js"
import * as Explanation from "../denial/Explanation.js"
import * as GitAdvice from "../denial/GitAdvice.js"
import * as NpmCi from "../denial/NpmCi.js"
import * as PassingDenial from "../denial/PassingDenial.js"
import * as Preflight from "../denial/Preflight.js"
import { longestLook, longestOutput, WithheldVariables } from "../denial/WithheldVariables.js"
import type { SandboxNetwork, Seen } from "../network/SandboxNetwork.js"
import * as ToolCache from "../platform/ToolCache.js"
import * as Name from "../policy/Name.js"
import type * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { Grant, NetworkQuestions, SandboxResult } from "../SandboxBackend.js"
import type { RunningSandbox } from "./RunningSandbox.js"

/** Returns the resource that a denial is reported under in `blockedResource`. */
const resourceOf = (denial: Denial.Denial) =>
  denial.access === "network" || denial.access === "system" || Denial.isUnlisted(denial) ? denial.resource : denial.rule

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
export const isUneventful = (command: string, { exitCode, pipeline, stderr }: CommandResult.CommandResult): boolean =>
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
export const isOfNetwork = (command: CommandLine.CommandLine, result: CommandResult.CommandResult): boolean =>
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

/** Returns the directories that relative names may start from. */
const directoriesOf = (command: CommandLine.CommandLine, before: string, now: string): ReadonlyArray<string> => [
  ...new Set([now, before, ...CommandWords.entered(CommandWords.invocations(command), before)])
]

const passed = (result: CommandResult.CommandResult): SandboxResult => ({ ...result, blocked: false })

/** The parts of a session that can refuse something to a command: its policy, its running sandbox and its network. */
interface Surroundings {
  readonly policy: SandboxPolicy
  readonly decision: PolicyDecision.PolicyDecision
  readonly running: RunningSandbox
  readonly network: SandboxNetwork
  readonly userHome: string
  /** Returns the environment that the shell was given. */
  readonly environment: () => Readonly<Record<string, string | undefined>>
  /** Tests whether a path can be allowed in a new sandbox only. */
  readonly takesNewSandbox: (path: string) => boolean
}

/** The directories in which a command began and ended, and who can be asked about hosts. */
interface Circumstances {
  readonly before: string
  readonly now: string
  readonly questions: NetworkQuestions | undefined
}

/** The denials of one session, which remembers what it has told. */
export class CommandDenials {
  private readonly preflight: ReturnType<typeof Preflight.make>
  private readonly withheld = new WithheldVariables()
  private readonly passing = new PassingDenial.PassingDenials()
  /** True if a command may have set a limit of its own, which the shell keeps. */
  private mayBeLimited = false
  private protectedPaths: ReadonlyArray<Rule> = []
  private readonly temporary: PrivateTemporary.PrivateTemporary
  /** The files of the machine's `/tmp` that were told. */
  private readonly toldOfMachine = new Set<string>()
  constructor(private readonly at: Surroundings) {
    this.preflight = Preflight.make(at.policy, at.decision)
    this.temporary = PrivateTemporary.make(at.policy)
  }

  /** Adds a path that stays read-only from now on. */
  protect(path: string): void {
    this.protectedPaths = [...this.protectedPaths, { pattern: path, path, kind: "path", source: "startup" }]
  }

  /** Returns the policy with what was allowed and protected since the sandbox began. */
  private inForce(): SandboxPolicy {
    const { policy, running } = this.at
    const grants = running.granted()
    if (grants.length + this.protectedPaths.length === 0) return policy
    const rulesOf = (access: Grant["access"], like: Pick<Rule, "source"> & Partial<Rule>) =>
      grants
        .filter((grant) => grant.access === access)
        .map(({ resource: path }): Rule => ({ pattern: path, path, kind: "path", ...like }))
    const read = rulesOf("read", { pattern: Denial.readOnly, source: "default" })
    const machines = read.filter(({ path }) => this.temporary.toOutside(path) !== path)
    return {
      ...policy,
      whitelist: [...policy.whitelist, ...rulesOf("write", { source: "runtime" })],
      readonly: [...policy.readonly, ...this.protectedPaths, ...machines]
    }
  }

  /** Returns the refusal of a command that would be denied for sure, or would leave something half done. */
  refused(line: CommandLine.CommandLine, cwd: string): SandboxResult | undefined {
    const { decision, policy, running, userHome } = this.at
    const none = CommandResult.make({ exitCode: ExitCode.blocked })
    const [denial, ...others] = this.preflight(line, { cwd, home: userHome }).filter(
      ({ access, resource }) => !(access === "read" && running.isGranted(resource))
    )
    if (denial !== undefined) return this.blocked(none, denial, others)
    const stopped = /\bgit\b/.test(line.text)
      ? GitAdvice.stopped(line, cwd, policy, (path, access) =>
          running.isGranted(path) ? { allowed: true } : decision.decide(path, access)
        )
      : undefined
    if (stopped !== undefined) return this.blocked(none, stopped.denial, stopped.others, stopped.rest)
    const unfetched = /\bnpm\b/.test(line.text) ? this.unfetched(line, cwd) : undefined
    return unfetched === undefined ? undefined : this.blocked(none, Denial.network("preflight"), [], unfetched)
  }

  private blocked(
    result: CommandResult.CommandResult,
    denial: Denial.Denial,
    others: ReadonlyArray<Denial.Denial>,
    rest?: string
  ): SandboxResult {
    const denied = Explanation.of(denial, this.inForce(), others, rest, this.at.takesNewSandbox)
    return {
      ...result,
      blocked: true,
      blockedReason: Diagnostic.forModel(denied),
      blockedResource: resourceOf(denial),
      blockedRule: denial.rule,
      denied,
      denial
    }
  }

  /** Says what `npm ci` lacks if it would empty `node_modules` and could not fill it again. */
  private unfetched(command: CommandLine.CommandLine, cwd: string): string | undefined {
    const { decision, environment, policy, userHome } = this.at
    if (command.text.length > longestLook) return undefined
    const { HOME = userHome, npm_config_cache } = environment()
    const users = Path.join(HOME, ".npm")
    if ((npm_config_cache ?? users) !== users || decision.decide(users, "write").allowed) return undefined
    const directory = ToolCache.find(policy)
    if (directory === undefined) return undefined
    const lacks = NpmCi.lacking(command, cwd, { users, directory, own: "npm" })
    if (lacks.length === 0) return undefined
    const named = `${lacks.slice(0, 3).map(Name.ofEntry).join(", ")}${lacks.length > 3 ? `, and ${lacks.length - 3} more` : ""}`
    return `npm ci would empty node_modules, and its cache lacks ${named}.`
  }

  /** Names the variables that the command may have needed, and that the sandbox keeps from it. */
  private withMissed(command: string, result: CommandResult.CommandResult): CommandResult.CommandResult {
    const merged = mergedOf(command, result)
    const missed = this.withheld.missed(command, this.at.running.withheld(), {
      isFailed: isAsked(result),
      messages: `${merged}\n${result.stderr}`,
      rest: merged === "" ? result.stdout : ""
    })
    return missed.length === 0 ? result : Diagnostic.tell(result, { _tag: "Withheld", names: missed })
  }

  /** Adds to the result of a command what the sandbox denied it, and once each file that only the machine's `/tmp` has. */
  explain(
    command: CommandLine.CommandLine,
    circumstances: Circumstances,
    own: CommandResult.CommandResult
  ): Effect.Effect<SandboxResult> {
    const explained = this.explainDenials(command, circumstances, own)
    const texts = [command.text, circumstances.before, circumstances.now, own.stderr, own.stdout]
    return this.temporary.places.some((path) => texts.some((text) => text.includes(path)))
      ? Effect.map(explained, (result) => this.withMachines(command, circumstances, result))
      : explained
  }

  private withMachines(
    command: CommandLine.CommandLine,
    { before, now }: Circumstances,
    result: SandboxResult
  ): SandboxResult {
    const { policy } = this.at
    const said = `${result.stderr}\n${mergedOf(command.text, result)}`
    const found = Attribution.ofMachines(
      { command, directories: directoriesOf(command, before, now) },
      said,
      this.temporary
    )
    const [denial, ...others] = found.filter(({ resource }) => !this.toldOfMachine.has(resource))
    for (const { resource } of found) this.toldOfMachine.add(resource)
    if (denial === undefined || result.denied !== undefined) return result
    const denied = Explanation.of(denial, policy, others)
    return { ...result, blocked: false, denied }
  }

  private explainDenials(
    command: CommandLine.CommandLine,
    { before, now, questions }: Circumstances,
    own: CommandResult.CommandResult
  ): Effect.Effect<SandboxResult> {
    const { network, policy, running } = this.at
    this.mayBeLimited ||= command.text.includes("ulimit")
    const seen = network.take()
    const given = this.withMissed(command.text, own)
    const result = seen.reached.length === 0 ? given : { ...given, hosts: seen.reached }
    if (seen.refused.length + seen.late.length === 0 && isUneventful(command.text, result))
      return Effect.succeed(passed(result))
    const asked = isAsked(result)
    const merged = mergedOf(command.text, result)
    const events = seen.refused.map((refused) => Denial.host(refused, command.text, `${result.stderr}\n${merged}`))
    if (
      events.length === 0 &&
      seen.late.length + seen.failed.length === 0 &&
      !asked &&
      !PassingDenial.isLikely(command, { stderr: result.stderr, merged })
    )
      return Effect.succeed(passed(result))
    const outcome = {
      command,
      policy,
      directories: directoriesOf(command, before, now),
      stderr: result.stderr,
      stdout: result.stdout,
      merged,
      failed: asked ? failedIn(command, result) : undefined,
      resolvesLocally: network.isThere ? () => false : Attribution.isLocal,
      masks: running.masks(),
      processes: this.mayBeLimited ? undefined : running.processes(),
      hasAgent: running.withheld().includes("SSH_AUTH_SOCK"),
      // The traffic counters do not matter if the whole command succeeded and does not mention the network.
      traffic: isOfNetwork(command, result) ? running.network()?.settle() : undefined
    }
    const spoken = { ...outcome, stderr: merged === "" ? result.stderr : `${result.stderr}\n${merged}` }
    const said = Attribution.saysItself(command.text) ? `${result.stdout}\n${result.stderr}` : result.stderr
    const server = asked ? Denial.findMachineServer(command.text, said, result.exitCode) : undefined
    const reach = server === undefined ? undefined : questions?.reach(command.text, "localhost", server)
    const tell = (text: string | undefined, about?: "denied") =>
      passed(text === undefined ? result : Diagnostic.tell(result, Diagnostic.notice(text, about)))
    return Effect.map(reach ?? Effect.succeed(false), (isAllowed): SandboxResult => {
      const allowed = isAllowed ? [`localhost:${server}`] : []
      const late = result.exitCode === ExitCode.success ? [] : [...seen.late, ...allowed]
      if (late.length > 0) {
        return tell(`Allowed meanwhile: ${late.join(", ")}: run the command again.`)
      }
      const inForce = this.inForce()
      const attributed = Attribution.make(inForce, inForce === policy ? this.at.decision : undefined)(outcome)
      const isOfMachine = asked && seen.failed.length > 0 && events.length === 0
      if (isOfMachine && attributed.every(({ access }) => access === "network")) {
        return tell(`Allowed, and not reached from this machine: ${seen.failed.join(", ")}.`, "denied")
      }
      const isOfHosts = isAsked(result) && saysOfHosts(command, result, seen)
      const machine = server === undefined ? [] : [Denial.machine(server)]
      const denials = [...attributed, ...machine, ...(isOfHosts ? events : [])]
      const denial = Attribution.causeOf(denials, result)
      if (denial !== undefined) {
        this.passing.note(denial)
        const rest = GitAdvice.rest(spoken) ?? (denial.access === "read" ? undefined : GitAdvice.worktree(command))
        return this.blocked(result, denial, Attribution.othersOf(denials, denial), rest)
      }
      const refusedHosts = this.passing.ofHosts([...machine, ...events])
      if (refusedHosts !== undefined) return passed(Diagnostic.tell(result, refusedHosts))
      const isFailed = result.exitCode !== ExitCode.success
      const quiet = { ...spoken, denials, isFailed: asked }
      const denied = isFailed ? undefined : this.passing.denied(quiet)
      if (denied !== undefined) {
        return { ...passed(result), denied }
      }
      // Programs also look for updates in passing, so that traffic alone does not explain a failure.
      const isSilent = isFailed && result.stderr.trim() === ""
      if (
        asked &&
        !network.isThere &&
        denials.some(({ how }) => how === "counter") &&
        this.passing.tellsTraffic(isSilent)
      ) {
        return passed(Diagnostic.tell(result, { _tag: "Offline", canBeAllowed: policy.unattended !== true }))
      }
      return tell(isFailed ? this.passing.hidden(spoken) : this.passing.notice(quiet), "denied")
    })
  }
}
