/**
 * Finds what the policy denied to a command that ran, from its messages, and verifies it against the policy, the masks
 * and the host.
 *
 * A message alone proves no denial: a file that the user could not read or write without the sandbox either is not
 * reported.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Slices from "../../domain/Slices.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandPaths from "./CommandPaths.js"
import type * as Denial from "./Denial.js"
import * as FileDenial from "./FileDenial.js"
import { type Mention, mentionsIn } from "./Mention.js"
import * as NetworkDenial from "./NetworkDenial.js"
import { isOnlyPrinted, isQuoted, isReport, spokenIn, spokenOnStdout } from "./Quotation.js"
import * as RefusalLines from "./RefusalLines.js"
import * as SocketDenial from "./SocketDenial.js"
import {
  isAgents,
  isOpening,
  isWrite,
  type KernelRefusal,
  longestMessage,
  mentionsRefusal,
  type Refused,
  refusalIn
} from "./Wording.js"
import * as WorkTree from "./WorkTree.js"

/**
 * The output and the surroundings of a command that ran.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly command: string
  /** The directories that relative names may be relative to: the session's after the command, and before it. */
  readonly directories: ReadonlyArray<string>
  readonly stderr: string
  readonly stdout?: string
  /** Standard output, where it has the messages of what failed (`2>&1`). */
  readonly merged?: string
  /** The masks of the sandbox, as of now. */
  readonly masks: ReadonlyArray<Mask>
  /** The packets that found no route while it ran. */
  readonly traffic?: Traffic | undefined
  /** Tells that names are looked up by a server on this machine's loopback: such a look-up is not counted. */
  readonly resolvesLocally?: () => boolean
}

const notWhitelisted = PolicyDecision.notWhitelisted.pattern
/**
 * The most lines with a refusal that are examined, for every name in them is looked up, and further lines tell nothing
 * new.
 */
const mostLines = 100
const mostDenials = 20
/** The number of lines before and after a refusal that are searched for the name that it is about. */
const reach = 3

/** The most characters of standard error that are examined, from its end, and the most milliseconds. */
const mostExamined = 256 * 1024
const mostTime = 1000

/** Finds all denials of a command that can be proven, each once. */
type Attribution<A> = (outcome: Outcome) => A

/**
 * Returns a function which finds all denials of a command that can be proven, each once, at once. The policy's rules
 * are compiled once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  policy: SandboxPolicy,
  decision = PolicyDecision.make(policy),
  options: FileDenial.Options = {}
): Attribution<ReadonlyArray<Denial.Denial>> => {
  const attribute = steps(policy, decision, options)
  return (outcome) => Slices.now(attribute(outcome))
}

/**
 * Returns a function which does the work of `make`'s, with rests.
 *
 * @since 0.1.0
 * @category constructors
 */
export const steps =
  (
    policy: SandboxPolicy,
    decision = PolicyDecision.make(policy),
    options: FileDenial.Options = {}
  ): Attribution<Slices.Steps<ReadonlyArray<Denial.Denial>>> =>
  (outcome) =>
    denialsIn({ ...outcome, stderr: outcome.stderr.slice(-mostExamined) }, decision, options, policy)

function* denialsIn(
  outcome: Outcome,
  decision: PolicyDecision.PolicyDecision,
  options: FileDenial.Options,
  { unixSockets }: SandboxPolicy
): Slices.Steps<ReadonlyArray<Denial.Denial>> {
  const { command, merged = "", resolvesLocally = () => false, stderr, stdout = "", traffic } = outcome
  const inReport = isReport(stderr, stdout.slice(-mostExamined))
  const output = merged.slice(-mostExamined)
  const spoken = output === "" ? spokenOnStdout(command, stdout.slice(-mostExamined)) : spokenIn(command, output)
  const said = spoken === "" ? stderr : `${stderr}\n${spoken}`
  const files =
    mentionsRefusal(said) && !isOnlyPrinted(command)
      ? yield* ofFiles({ ...outcome, stderr: said }, inReport, (from) => FileDenial.make(decision, from, options))
      : []
  const socket = unixSockets === true ? undefined : yield* SocketDenial.find(command, said, inReport)
  const isCounted = (traffic?.surely ?? 0) + (traffic?.perhaps ?? 0) > 0
  // The kernel has counted that something was tried: what names the host may then be anybody's words.
  const told = output === "" ? unresolvedBy(stdout.slice(-mostExamined)) : output
  const named = isCounted && told !== "" ? `${stderr}\n${told}` : stderr
  const hosts = yield* NetworkDenial.find({ command, inReport, resolvesLocally, stderr: named, traffic })
  return [...files, ...(socket === undefined ? [] : [socket]), ...hosts]
}

/** Returns the lines in which apt says, on standard output, that it did not reach a host. */
const unresolvedBy = (stdout: string): string =>
  stdout
    .split("\n")
    .filter((line) => /^ {2}Temporary failure resolving '/.test(line))
    .join("\n")

/**
 * Returns the denial that a command most likely failed for; undefined for a command that succeeded. A denied network
 * access that only the counters show is never the cause: programs look for updates in passing.
 *
 * @since 0.1.0
 * @category attribution
 */
export const causeOf = (
  denials: ReadonlyArray<Denial.Denial>,
  { exitCode }: { readonly exitCode: number }
): Denial.Denial | undefined => (exitCode === 0 ? undefined : denials.find(({ how }) => how === "verified-text"))

/**
 * Returns the further denials beside the cause that messages tell.
 *
 * @since 0.1.0
 * @category attribution
 */
export const othersOf = (denials: ReadonlyArray<Denial.Denial>, cause: Denial.Denial): ReadonlyArray<Denial.Denial> =>
  denials.filter((each) => each !== cause && each.how === "verified-text")

/** Matches the beginning of a message that is, for a read, no reason to fail. */
const warning = /^\s*warning: /i

function* ofFiles(
  outcome: Outcome,
  inReport: boolean,
  verifyFrom: (surroundings: FileDenial.Surroundings) => FileDenial.Verify
): Slices.Steps<ReadonlyArray<Denial.Denial>> {
  const lines = outcome.stderr.split("\n")
  const verify = verifyFrom(outcome)
  let ofGit: FileDenial.Verify | undefined
  const until = performance.now() + mostTime
  const found = new Map<string, Denial.Denial>()
  let seen = 0
  for (const at of RefusalLines.inOrder(lines, outcome.masks, mostLines)) {
    const line = lines[at] ?? ""
    const refused = refusalIn(line)
    if (refused === undefined) continue
    if (refused.refusal === "access" && warning.test(line) && !isWrite("access", refused.before)) continue
    if (isQuoted(outcome.command, line, refused, inReport)) continue
    if (++seen > mostLines || found.size >= mostDenials || performance.now() > until) break
    const isGits = WorkTree.isSpokenOf(line, outcome.command)
    if (isGits) ofGit ??= verifyFrom({ ...outcome, directories: WorkTree.around(outcome) })
    const denial = yield* ofLine(outcome.command, lines, at, refused, (isGits ? ofGit : undefined) ?? verify)
    if (denial !== undefined) found.set(`${denial.access} ${denial.resource}`, denial)
    yield
  }
  return [...found.values()].slice(0, mostDenials)
}

/** Matches the beginning of a message of who makes a file by moving one to its name. */
const moving = /can't create file /i

function* ofLine(
  command: string,
  lines: ReadonlyArray<string>,
  at: number,
  { after, before, refusal: said }: Refused,
  verify: FileDenial.Verify
): Slices.Steps<Denial.Denial | undefined> {
  const refusal = said === "link" && moving.test(before) ? "readonly" : said
  const write = isWrite(refusal, before)
  // A name with a newline in it begins in the line above.
  const byRules = isAgents(before) || isAgents(lines[at - 1] ?? "")
  const look = (mentions: ReadonlyArray<Mention>) => verify.denial(mentions, refusal, write, byRules)
  const own = mentionsIn(before, after)
  const likely = yield* look(own)
  // A rule also matches the name of a missing file: then the message may mean another file, which exists.
  const isThere = likely !== undefined && (likely.rule === notWhitelisted || !HostPath.isMissing(likely.resource))
  if (isThere) return refusal === "readonly" && isOpening(before) ? { ...likely, isOfFile: true } : likely
  const other =
    refusal === "readonly"
      ? yield* look(within(CommandPaths.directories(command), own))
      : // The message may name what was moved, and not what could not be replaced.
        refusal === "busy"
        ? yield* inCommand(command, refusal, look)
        : undefined
  if (other !== undefined) return other
  if (yield* verify.explains(own, refusal)) return likely
  return (
    (yield* look(acrossLines(lines, at, before))) ??
    likely ??
    (yield* look(neighbours(lines, at))) ??
    (before.length <= longestMessage && namesNothing.test(before)
      ? yield* inCommand(command, refusal, look)
      : undefined)
  )
}

/** Returns the relative names among those mentioned, as names in other directories. */
const within = (directories: ReadonlyArray<string>, mentions: ReadonlyArray<Mention>): ReadonlyArray<Mention> =>
  directories.flatMap((directory) =>
    mentions.flatMap(({ path, sure }) =>
      sure && !path.startsWith("/") ? [{ path: Path.posix.join(directory, path), sure }] : []
    )
  )

/** Finds names with a newline in them. */
const acrossLines = (lines: ReadonlyArray<string>, at: number, before: string): ReadonlyArray<Mention> => {
  const above = lines[at - 1]
  return above === undefined || refusalIn(above) !== undefined
    ? []
    : mentionsIn(`${above}\n${before}`, "").filter(({ path }) => path.includes("\n"))
}

/** Matches a line of a stack trace, which names the program's own files. */
const stackFrame = /^\s+at\s/

/** Finds names that stand on lines of their own. */
const neighbours = (lines: ReadonlyArray<string>, at: number): ReadonlyArray<Mention> => {
  const around = [...lines.slice(Math.max(0, at - reach), at).reverse(), ...lines.slice(at + 1, at + 1 + reach)]
  return around
    .filter((line) => refusalIn(line) === undefined && !stackFrame.test(line))
    .flatMap((line) => mentionsIn(line, ""))
    .filter(({ path, sure }) => sure && path.includes("/"))
}

/** Matches a message that names the program and the severity, but no file. */
const namesNothing =
  /^(?:[\w./-]+(?: (?:warning|error|fatal|failed))?:\s*|.*(?:Error|Exception|Errno)\b[^/]*|.*\bOs \{.*)?\s*$/
/**
 * Finds the denial that a message without a name is about, among the words of the command that look like paths, those
 * in quoted code included.
 */
function* inCommand(
  command: string,
  refusal: KernelRefusal,
  look: (mentions: ReadonlyArray<Mention>) => Slices.Steps<Denial.Denial | undefined>
): Slices.Steps<Denial.Denial | undefined> {
  const paths = CommandPaths.all(command)
  if (refusal !== "readonly") return yield* look(Array.from(paths, (path) => ({ path, sure: true })))
  // Most paths can't be written anyway: the words tell the file only where there is just one such path.
  const found: Array<Denial.Denial> = []
  for (const path of paths) {
    const denial = path.startsWith("/") ? yield* look([{ path, sure: true }]) : undefined
    if (denial !== undefined) found.push(denial)
    if (found.length > 1) return undefined
  }
  return found[0]
}
