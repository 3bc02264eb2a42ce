/**
 * Finds what the policy denied to a command that ran, from its messages, and verifies it against the policy, the masks
 * and the host.
 *
 * A message alone proves no denial: a file that the user could not read or write without the sandbox either is not
 * reported.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as Attempts from "../../domain/Attempt.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"
import * as FileDenial from "./internal/FileDenial.js"
import {
  hostsIn,
  isAgents,
  isOpening,
  isWrite,
  type KernelRefusal,
  longestMessage,
  type Mention,
  mentionsIn,
  mentionsRefusal,
  type Refused,
  refusalIn,
  saysUnreachable,
  saysUnresolved,
  withPort
} from "./internal/Message.js"
import * as SystemCalls from "./internal/SystemCalls.js"

const refused = /Permission denied|EACCES/
const missing =
  /no such file|not found|does(?: not|n't) exist|(?:cannot|could(?:n't| not)) (?:open|find|access|stat)|ENOENT/i

/** The most paths that are looked up. */
const mostHidden = 300

/** A path in a message. */
const paths = /\/[^\s'"`‘’“”:,;()<>]+/g

/**
 * Returns a denial for each path that the command, or a message on its failure, names as missing, though it exists outside: the
 * sandbox's `/tmp` hides it, or a mask, of which not all programs tell it from nothing. `said` is its standard error.
 */
function findHidden(
  command: CommandLine,
  said: string,
  policy: Pick<SandboxPolicy, "temporary" | "whitelist">,
  verify: () => FileDenial.Verify
): ReadonlyArray<Denial.Denial> {
  const isMissing = missing.test(said)
  // A place to mount on has no rights.
  if (!isMissing && !refused.test(said)) return []
  const temporary = PrivateTemporary.make(policy)
  const named = new Set([
    ...CommandWords.all(command).filter((path) => said.includes(path)),
    ...said.split("\n").flatMap((line) => (missing.test(line) || refused.test(line) ? (line.match(paths) ?? []) : []))
  ])
  const found: Array<Denial.Denial> = []
  for (const path of [...named].slice(0, mostHidden)) {
    if (!path.startsWith("/") || !temporary.isHidden(path)) {
      if (!isMissing) continue
      const masked = verify().denial([{ path, sure: true }], "access", false)
      if (masked !== undefined && !HostPath.isMissing(masked.resource)) found.push(masked)
      continue
    }
    const reason = "the sandbox has a /tmp of its own, and only the machine's has this"
    found.push(Denial.make({ rule: PrivateTemporary.hiding, reason }, path, "read", "verified-text"))
  }
  return found
}

const server = /^[ \t]*nameserver[ \t]+(\S+)/gm
const loopback = /^(?:127\.|::1$)/

/**
 * Tests whether the configuration of the system's resolver names no server beyond this machine. A look-up in a sandbox
 * then ends on the sandbox's own loopback, where nothing is counted.
 */
export const isLocal = (file = "/etc/resolv.conf"): boolean =>
  Attempts.orElse(
    () => [...Fs.readFileSync(file, "utf8").matchAll(server)].every(([, address = ""]) => loopback.test(address)),
    true
  )

/**
 * Matches a message that is quoted as a whole, with the program that says it: `'cat: .env: …`, `+ cat: .env: …`; but not what
 * pytest reports of an exception.
 */
const quoted = /(?:^\s*(?!E\s+\w+Error: )[-+<>|#*E]\s+|(?<!\w)["'`“‘])(?:[\w.+-]*\/)*[\w.+-]+: [^"'`“”‘’]*$/

/** Matches the program that a message begins with. */
const speaker = /^\s*(?:[\w.+-]*\/)*([A-Za-z][\w.+-]*): /

/**
 * Matches the reports of test runs: TAP, node, pytest, unittest, jest, vitest, mocha, go, cargo. Nothing in it goes past a
 * line's end: an output of many empty lines would take a time that grows with its square.
 */
const reports =
  /^[ \t]*(?:ok|not ok) \d+\b|^[^\w\n]*(?:tests|pass|fail) \d+$|\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b|^Ran \d+ tests?\b|^[ \t]*--- FAIL: |^[ \t]*(?:PASS|FAIL)\b|^[ \t]*Tests?:? +\d+ |^test result: /m

/** Tests whether texts hold the report of a test run, in which programs' messages may be printed. */
export const isReport = (...texts: ReadonlyArray<string>): boolean => texts.some((text) => reports.test(text))

/** Matches the name of an exception, before its own message. */
const exception = /^(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception)(?: \[\w+\])?: /

/** Tests whether the command itself raises an exception with the words of a refusal, so that nothing needs to have refused. */
const isRaised = (command: string, said: string, words: string): boolean => {
  const message = said.replace(exception, "")
  if (message === said) return false
  if (message.length > 8 && command.includes(message)) return true
  const literal = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return words !== "" && new RegExp(`\\b(?:raise|throw)\\b[^\\n;]{0,80}["'\`]${literal}`, "i").test(command)
}

/** Tests whether a line only quotes a refusal. */
const isQuoted = (
  command: string,
  line: string,
  { after, before }: Pick<Refused, "before"> & Partial<Pick<Refused, "after">>,
  inReport: boolean
): boolean => {
  const said = line.trim()
  if (said.length > 8 && command.includes(said)) return true
  const words = after === undefined ? "" : line.slice(before.length, line.length - after.length)
  if (said.length <= longestMessage && isRaised(command, said, words)) return true
  const near = before.slice(-longestMessage)
  if (quoted.test(near)) return true
  const [, name] = inReport ? (speaker.exec(near) ?? []) : []
  return name !== undefined && !/error$/i.test(name) && !mentions(command, name)
}

/** The commands that open no file. */
const speaking = new Set([":", "echo", "exit", "false", "printf", "return", "true"])

/** The most characters of a command whose words are examined. */
const mostExaminedQuotation = 10_000

/** Tests whether a command does nothing but print, so that its messages are its own words. */
export const isOnlyPrinted = ({ text, tree }: CommandLine): boolean => {
  if (text.length > mostExaminedQuotation || /`|[$<>]\(/.test(text)) return false
  return CommandTree.isComplete(tree) && [...CommandTree.commandsIn(tree.lists)].every(isPrinting)
}

const isPrinting = ({ keyword, redirections, words }: CommandTree.Command): boolean => {
  const name = words.find(({ value }) => !/^\w+=/.test(value))
  return (
    keyword === undefined &&
    (name === undefined || speaking.has(name.value)) &&
    redirections.every(({ operator, target }) => operator === ">&" && /^\d$/.test(target.value))
  )
}

/**
 * Matches what shows texts of files or of a history, unless it only takes what a pipe gives it: a refusal in its output
 * may be anybody's.
 */
const showing =
  /(?<!(?<!\|)\|&?[ \t]{0,20})\b(?:awk|bat|cat|cmp|comm|cut|diff|e?grep|fold|head|jq|less|more|nl|od|paste|rev|rg|sed|sort|strings|tac|tail|uniq|xxd|zcat)\b|\bgit\b[^|;&\n]{0,200}?\s(?:blame|diff|grep|log|show)\b/

/** Tests whether a command shows no texts of files, so that its output is what its programs say. */
export const saysItself = (command: string): boolean =>
  command.length <= mostExaminedQuotation && !showing.test(command)

const absolutePath = /(?:^|[\s'"`(=:])\/[^\s'"`/]/
/** Matches node's message of a failed call on a path. */
const ofNode = /\bE[A-Z]+: [a-z -]+, [a-z]+ '[^']/

/**
 * Tests whether the words of a refusal and a path stand together in a line as nobody would write them by chance: with an
 * absolute path, or in node's form.
 */
const namesPath = (line: string): boolean =>
  (absolutePath.test(line) || ofNode.test(line)) && refusalIn(line) !== undefined

/**
 * Returns the lines of an output that programs of its command say themselves, by what they begin with (the program's name
 * in the command, bash's, or that of an exception) or name (a path, or what was refused). None where the command shows what
 * files hold; in a report of tests, only those that name a path.
 *
 * @param isMerged whether programs were told to send their messages there
 */
export const spokenIn = (command: string, output: string, isMerged = true): string => {
  if (!saysItself(command)) return ""
  const isSpoken = isMerged && !isReport(output)
  return output
    .split("\n")
    .filter((whole) => {
      const line = whole.slice(0, longestMessage)
      const [, name] = isSpoken ? (speaker.exec(line) ?? []) : []
      if (name !== undefined && (name === "bash" || name.endsWith("Error") || mentions(command, name))) return true
      return namesPath(line) || (isSpoken && (SystemCalls.isAboutCall(line) || CommandWords.isSpokenOf(line, command)))
    })
    .join("\n")
}

/** Matches what zip says on standard output, and nowhere else: the system's words, and the name in the next line. */
const ofZip = /^zip I\/O error: .*\nzip error: .*$/gm

/**
 * Returns the messages that programs of a command write to standard output, though nothing sends their errors there.
 */
const spokenOnStdout = (command: string, stdout: string): string =>
  saysItself(command) && mentions(command, "zip")
    ? (stdout.match(ofZip)?.join("\n") ?? "")
    : spokenIn(command, stdout, false)

/** Tests whether a command names a program. */
const mentions = (command: string, name: string): boolean => command.split(/[^\w.+-]+/).includes(name)

/** The messages of a command, and its traffic. */
interface Attempt {
  readonly command: CommandLine
  readonly stderr: string
  readonly traffic: Traffic | undefined
  /** Tells that names are looked up by a server on this machine's loopback: such a look-up is not counted. */
  readonly resolvesLocally: () => boolean
  /** True where the command's output is the report of a test run. */
  readonly inReport: boolean
}

/**
 * Finds the hosts that a command was refused to reach. `counter` stands for what the kernel has counted, and neither a
 * message nor the command itself confirms.
 */
function findNetworkDenial(attempt: Attempt): ReadonlyArray<Denial.Denial> {
  const { command, inReport, resolvesLocally, traffic } = attempt
  const { perhaps = 0, surely = 0 } = traffic ?? {}
  const isCounted = surely + perhaps > 0
  const silent = attempt.stderr.trim() === "" ? CommandWords.hostIn(command) : undefined
  if (!isCounted && silent === undefined && !saysUnresolved(attempt.stderr)) return []
  const stderr = attempt.stderr
    .split("\n")
    .filter((line) => !isQuoted(command.text, line, { before: line }, inReport))
    .join("\n")
  if (!isCounted && !((silent !== undefined || saysUnresolved(stderr)) && resolvesLocally())) return []
  const hosts = silent === undefined ? hostsIn(stderr) : [silent]
  if (hosts.length > 0)
    return hosts.map((host) => Denial.network("verified-text", withPort(host, command.text, stderr)))
  // Packets that another command may have sent count only where a host is named.
  if (surely === 0 && isCounted) return []
  return [Denial.network(!isCounted || saysUnreachable(stderr) ? "verified-text" : "counter")]
}

const nameSocketDenial = /(?<!\w)(?:unix:(?:\/\/)?)?((?:\/|\.\/)[^\s"'():,]+|[^\s"'():,/]+\.sock)(?=[\s"'():,]|$)/

/** The lines before a message, such as those of a stack trace, that may say what it is about. */
const reachTrace = 4
const mostLinesRefused = 2000

/** A denial by a message in a line of the text. */
interface SystemDenial {
  readonly denial: Denial.Denial
  readonly at: number
}

/** Finds the system calls that a command was refused, each rule once. */
function findRefused(
  command: string,
  said: string,
  inReport: boolean,
  confinement: SystemCalls.Confinement
): ReadonlyArray<SystemDenial> {
  if (!SystemCalls.mentionsRefusal(said)) return []
  const lines = said.split("\n")
  const found = new Map<string, SystemDenial>()
  const look = SystemCalls.make(confinement)
  const isOver = Denial.searching()
  for (let at = Math.max(0, lines.length - mostLinesRefused); at < lines.length && !isOver(); at++) {
    const line = (lines[at] ?? "").slice(0, longestMessage)
    const before = SystemCalls.beforeWords(line)
    if (before === undefined || isQuoted(command, line, { before }, inReport)) continue
    const above = lines.slice(Math.max(0, at - reachTrace), at).map((text) => text.slice(0, longestMessage))
    const trace = above.some((text) => /^\s+(?:File|at)\b/.test(text)) ? above : []
    const refusal = look(command, line, [line, ...trace].join("\n"))
    if (refusal === undefined) continue
    found.set(refusal.rule, { denial: Denial.system(refusal, nameSocketDenial.exec(line)?.[1]), at })
  }
  return [...found.values()]
}

/** Matches what may stand around a name in a message. */
const around = /[\s/:'"‘’“”(),]+/

/**
 * Returns the places of the lines with a refusal in the order in which they are examined: where they are more than `most`,
 * those that name what is hidden come first.
 */
const inOrder = (lines: ReadonlyArray<string>, masks: ReadonlyArray<Mask>, most: number): ReadonlyArray<number> => {
  const refusing = [...lines.keys()].filter((at) => mentionsRefusal(lines[at] ?? ""))
  if (refusing.length <= most) return refusing
  const names = new Set(masks.map(({ path }) => Path.posix.basename(path)))
  const naming = new Set(refusing.filter((at) => (lines[at] ?? "").split(around).some((word) => names.has(word))))
  return [...naming, ...refusing.filter((at) => !naming.has(at))]
}

/** The output of a command that ran, and the files visible to it. */
export interface Outcome {
  readonly command: CommandLine
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
  /** True where the user has an ssh-agent, which commands do not get. */
  readonly hasAgent?: boolean
  /** The most processes and threads that commands can have; undefined where nothing limits them. */
  readonly processes?: number | undefined
}

/**
 * The most lines with a refusal that are examined, for every name in them is looked up, and further lines tell nothing
 * new.
 */
const mostLines = 100
const mostDenials = 20
/** The number of lines before and after a refusal that are searched for the name that it is about. */
const reach = 3

/** The most characters of standard error that are examined, from its end. */
const mostExamined = 256 * 1024

/** Returns a function which finds all denials of a command that can be proven, each once. */
export const make =
  (policy: SandboxPolicy, decision = PolicyDecision.make(policy), options: FileDenial.Options = {}) =>
  (outcome: Outcome): ReadonlyArray<Denial.Denial> =>
    denialsIn({ ...outcome, stderr: outcome.stderr.slice(-mostExamined) }, decision, options, policy)

function denialsIn(
  outcome: Outcome,
  decision: PolicyDecision.PolicyDecision,
  options: FileDenial.Options,
  policy: SandboxPolicy
): ReadonlyArray<Denial.Denial> {
  const { command, merged = "", resolvesLocally = () => false, stderr, stdout = "", traffic } = outcome
  const inReport = isReport(stderr, stdout.slice(-mostExamined))
  const output = merged.slice(-mostExamined)
  const spoken =
    output === "" ? spokenOnStdout(command.text, stdout.slice(-mostExamined)) : spokenIn(command.text, output)
  const said = spoken === "" ? stderr : `${stderr}\n${spoken}`
  const verifyFrom = (from: FileDenial.CommandPlaces) => FileDenial.make(decision, from, options)
  const files =
    mentionsRefusal(said) && !isOnlyPrinted(command) ? ofFiles({ ...outcome, stderr: said }, inReport, verifyFrom) : []
  const refused = isOnlyPrinted(command)
    ? []
    : findRefused(command.text, said, inReport, {
        isRoot: process.getuid?.() === 0,
        unixSockets: policy.unixSockets !== undefined,
        hasAgent: outcome.hasAgent,
        processes: outcome.processes
      })
  const isCounted = (traffic?.surely ?? 0) + (traffic?.perhaps ?? 0) > 0
  // The kernel has counted that something was tried: what names the host may then be anybody's words.
  const named = isCounted && output !== "" ? `${stderr}\n${output}` : stderr
  const hosts = findNetworkDenial({ command, inReport, resolvesLocally, stderr: named, traffic })
  const system = refused.map(({ denial }) => denial)
  const hidden = findHidden(command, said, policy, () => verifyFrom(outcome))
  const others = [...files, ...hidden.filter(({ resource }) => files.every((file) => file.resource !== resource))]
  // The last refusal is the one that the command ended for.
  const last = said.split("\n").findLastIndex(mentionsRefusal)
  const isLast = refused.some(({ at }) => at >= last)
  return isLast ? [...system, ...others, ...hosts] : [...others, ...system, ...hosts]
}

/**
 * Returns the denial that a command most likely failed for; undefined for a command that succeeded. A denied network
 * access that only the counters show is never the cause: programs look for updates in passing.
 */
export const causeOf = (
  denials: ReadonlyArray<Denial.Denial>,
  { exitCode }: { readonly exitCode: number }
): Denial.Denial | undefined => {
  const [first, ...others] =
    exitCode === 0 ? [] : denials.filter(({ how }) => how === "verified-text" || how === "event")
  return first?.isMet === true ? (others.find(({ isMet }) => isMet !== true) ?? first) : first
}

/** Returns the further denials beside the cause that messages tell. */
export const othersOf = (denials: ReadonlyArray<Denial.Denial>, cause: Denial.Denial): ReadonlyArray<Denial.Denial> =>
  denials.filter((each) => each !== cause && (each.how === "verified-text" || each.how === "event"))

/** Matches the beginning of a message that is, for a read, no reason to fail. */
const warning = /^\s*warning: /i

function ofFiles(
  outcome: Outcome,
  inReport: boolean,
  verifyFrom: (from: FileDenial.CommandPlaces) => FileDenial.Verify
): ReadonlyArray<Denial.Denial> {
  const lines = outcome.stderr.split("\n")
  const verify = verifyFrom({ ...outcome, directories: CommandWords.directoriesOf(outcome) })
  let ofGit: FileDenial.Verify | undefined
  const isOver = Denial.searching()
  const found = new Map<string, Denial.Denial>()
  let seen = 0
  for (const at of inOrder(lines, outcome.masks, mostLines)) {
    const line = lines[at] ?? ""
    const refused = refusalIn(line)
    if (refused === undefined) continue
    if (refused.refusal === "access" && warning.test(line) && !isWrite("access", refused.before)) continue
    if (isQuoted(outcome.command.text, line, refused, inReport)) continue
    if (++seen > mostLines || found.size >= mostDenials || (seen > 1 && isOver())) break
    const isGits = CommandWords.isSpokenOf(line, outcome.command.text)
    if (isGits) ofGit ??= verifyFrom({ ...outcome, directories: CommandWords.around(outcome) })
    const objects = isGits ? CommandWords.objectsOf(outcome) : []
    const denial = ofLine(outcome.command, lines, at, refused, (isGits ? ofGit : undefined) ?? verify, objects)
    if (denial === undefined) continue
    const isMet = denial.access === "read" && CommandWords.isMet(line, denial.resource, outcome)
    found.set(`${denial.access} ${denial.resource}`, isMet ? { ...denial, isMet } : denial)
  }
  return [...found.values()].slice(0, mostDenials)
}

/** Matches the beginning of a message of who makes a file by moving one to its name. */
const moving = /can't create file /i

function ofLine(
  command: CommandLine,
  lines: ReadonlyArray<string>,
  at: number,
  { after, before, refusal: said }: Refused,
  verify: FileDenial.Verify,
  objects: ReadonlyArray<string>
): Denial.Denial | undefined {
  const refusal = said === "link" && moving.test(before) ? "readonly" : said
  const write = isWrite(refusal, before)
  // A name with a newline in it begins in the line above.
  const byRules = isAgents(before) || isAgents(lines[at - 1] ?? "")
  const look = (mentions: ReadonlyArray<Mention>) => verify.denial(mentions, refusal, write, byRules)
  const own = mentionsIn(before, after)
  const likely = look(own)
  // A rule also matches the name of a missing file: then the message may mean another file, which exists.
  const isThere = likely !== undefined && (Denial.isUnlisted(likely) || !HostPath.isMissing(likely.resource))
  if (isThere) return refusal === "readonly" && isOpening(before) ? { ...likely, isOfFile: true } : likely
  // The message may name what was moved, and not what could not be replaced.
  const other = refusal === "busy" ? inCommand(command, refusal, look) : undefined
  if (other !== undefined) return other
  if (verify.explains(own, refusal)) return likely
  return (
    look(acrossLines(lines, at, before)) ??
    likely ??
    look(neighbours(lines, at)) ??
    (before.length <= longestMessage && namesNothing.test(before) ? inCommand(command, refusal, look) : undefined) ??
    // git names no path where it can't add an object.
    look(objects.map((path) => ({ path, sure: true })))
  )
}

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
function inCommand(
  command: CommandLine,
  refusal: KernelRefusal,
  look: (mentions: ReadonlyArray<Mention>) => Denial.Denial | undefined
): Denial.Denial | undefined {
  const paths = CommandWords.all(command)
  if (refusal !== "readonly") return look(Array.from(paths, (path) => ({ path, sure: true })))
  // Most paths can't be written anyway: the words tell the file only where there is just one such path.
  const found: Array<Denial.Denial> = []
  for (const path of paths) {
    const denial = path.startsWith("/") ? look([{ path, sure: true }]) : undefined
    if (denial !== undefined) found.push(denial)
    if (found.length > 1) return undefined
  }
  return found[0]
}
