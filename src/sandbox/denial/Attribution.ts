/**
 * Finds what the policy denied to a command, from its messages, and verifies it against the policy, the masks and the
 * host.
 *
 * A message alone proves nothing: a file that the user could not access without the sandbox either is not reported.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as Attempts from "../../domain/Attempt.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import * as RealPath from "../policy/RealPath.js"
import { realOf, type SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"
import * as FileDenial from "./internal/FileDenial.js"
import {
  hostsIn,
  isAgents,
  isOpening,
  isRemoval,
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

/** Matches an absolute path, and a name in node's message: `ENOENT: no such file or directory, open '.env'`. */
const paths = /\/[^\s'"`‘’“”:,;()<>]+|(?<=ENOENT: no such file or directory, [a-z]+ ')[\w.][\w./-]*(?=')/g

/** Makes the denial of a file that only the machine's `/tmp` has. */
export const ofMachine = (path: string): Denial.Denial => {
  const denial = Denial.make(
    { rule: PrivateTemporary.hiding, reason: PrivateTemporary.hidden(path) },
    path,
    "read",
    "verified-text"
  )
  const { real } = RealPath.follow(path)
  return real === path ? denial : { ...denial, next: `Use ${Name.of(real)} instead, which may need to be allowed.` }
}

/** Returns the paths that a word may mean. The name of a program means no file. */
const meanings = (word: string, { command, directories }: CommandWords.Place): ReadonlyArray<string> =>
  word.startsWith("/")
    ? [word]
    : CommandWords.invocations(command).some(([name]) => name === word)
      ? []
      : directories.map((directory) => Path.posix.resolve(directory, word))

/** Matches programs after which a file of the sandbox's own may be gone, or whose words may be a message. */
const removing = /\b(?:rm|mv|unlink|rename|git)\b/

/** Returns a denial for each file of the machine's `/tmp` that the command or a message about a missing file names. */
export const ofMachines = (
  place: CommandWords.Place,
  said: string,
  { isHidden }: PrivateTemporary.PrivateTemporary
): ReadonlyArray<Denial.Denial> => {
  const { command } = place
  if (isOnlyPrinted(command) || removing.test(command.text)) return []
  const lines = said.slice(-mostExamined).split("\n")
  const named = lines.flatMap((line) => (missing.test(line) ? (line.match(paths) ?? []) : []))
  const found = [...CommandWords.all(command), ...named]
    .slice(0, mostHidden)
    .flatMap((word) => meanings(word, place))
    .filter(isHidden)
  const isWithin = (path: string) => found.some((other) => path.startsWith(`${other}/`))
  return [...new Set(found)].filter((path) => !isWithin(path)).map(ofMachine)
}

/**
 * Returns a denial for each path that the command or an error message names as missing although it exists outside. The
 * sandbox's `/tmp` hides it, or a mask, which some programs report as a missing file. `said` is standard error.
 */
function findHidden(
  command: CommandLine,
  said: string,
  policy: Pick<SandboxPolicy, "temporary" | "whitelist">,
  directories: ReadonlyArray<string>,
  verify: () => FileDenial.Verify
): ReadonlyArray<Denial.Denial> {
  const isMissing = missing.test(said)
  // A mount point has no access rights.
  if (!isMissing && !refused.test(said)) return []
  const temporary = PrivateTemporary.make(policy)
  const named = new Set([
    ...CommandWords.all(command).filter((path) => said.includes(path)),
    ...said.split("\n").flatMap((line) => (missing.test(line) || refused.test(line) ? (line.match(paths) ?? []) : []))
  ])
  const found: Array<Denial.Denial> = []
  for (const path of [...named].slice(0, mostHidden)) {
    const hidden = meanings(path, { command, directories }).find(temporary.isHidden)
    if (hidden === undefined) {
      if (!isMissing) continue
      const masked = verify().denial([{ path, sure: true }], "access", false)
      if (masked !== undefined && !HostPath.isMissing(masked.resource)) found.push(masked)
      continue
    }
    found.push(ofMachine(hidden))
  }
  return found
}

const server = /^[ \t]*nameserver[ \t]+(\S+)/gm
const loopback = /^(?:127\.|::1$)/

/**
 * Tests whether the system's resolver uses only servers on this machine. In a sandbox, such a lookup ends at the
 * sandbox's own loopback, where nothing is counted.
 */
export const isLocal = (file = "/etc/resolv.conf"): boolean =>
  Attempts.orElse(
    () => [...Fs.readFileSync(file, "utf8").matchAll(server)].every(([, address = ""]) => loopback.test(address)),
    true
  )

/**
 * Matches a message quoted as a whole, with its program: `'cat: .env: …`, `+ cat: .env: …`. Does not match what pytest
 * reports of an exception.
 */
const quoted = /(?:^\s*(?!E\s+\w+Error: )[-+<>|#*E]\s+|(?<!\w)["'`“‘])(?:[\w.+-]*\/)*[\w.+-]+: [^"'`“”‘’]*$/

/** Matches the program that a message begins with. */
const speaker = /^\s*(?:[\w.+-]*\/)*([A-Za-z][\w.+-]*): /

/**
 * Matches reports of test runs: TAP, node, pytest, unittest, jest, vitest, mocha, go, cargo. No part matches past the
 * end of a line, since many empty lines would otherwise take quadratic time.
 */
const reports =
  /^[ \t]*(?:ok|not ok) \d+\b|^[^\w\n]*(?:tests|pass|fail) \d+$|\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b(?! -)|^Ran \d+ tests?\b|^[ \t]*--- FAIL: |^[ \t]*(?:PASS|FAIL)\b|^[ \t]*Tests?:? +\d+ |^test result: /m

/** Tests whether texts hold the report of a test run, which may print programs' messages. */
export const isReport = (...texts: ReadonlyArray<string>): boolean => texts.some((text) => reports.test(text))

/** Matches the name of an exception before its message. */
const exception = /^(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception)(?: \[\w+\])?: /

/**
 * Tests whether the command itself raises an exception with the words of a refusal, so that the sandbox may have
 * refused nothing.
 */
const isRaised = (command: string, said: string, words: string): boolean => {
  const message = said.replace(exception, "")
  if (message === said) return false
  if (message.length > 8 && command.includes(message)) return true
  const literal = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return words !== "" && new RegExp(`\\b(?:raise|throw)\\b[^\\n;]{0,80}["'\`]${literal}`, "i").test(command)
}

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

/** Commands that open no file. */
const speaking = new Set([":", "echo", "exit", "false", "printf", "return", "true"])

/** The longest command whose words are examined, in characters. */
const mostExaminedQuotation = 10_000

/** Tests whether a command only prints, so that its messages are its own words. */
export const isOnlyPrinted = ({ text, tree }: CommandLine): boolean => {
  if (text.length > mostExaminedQuotation || /`|[$<>]\(/.test(text)) return false
  return CommandTree.isComplete(tree) && [...CommandTree.commandsIn(tree.lists)].every(isPrinting)
}

const isPrinting = ({ keyword, redirections, words }: CommandTree.Command): boolean => {
  const [name] = words
  return (
    keyword === undefined &&
    (name === undefined || speaking.has(name.value)) &&
    redirections.every(({ operator, target }) => operator === ">&" && /^\d$/.test(target.value))
  )
}

/**
 * Matches programs that show the text of files or of a history, so that a refusal in their output may be quoted. Does
 * not match one that only filters a pipe.
 */
const showing =
  /(?<!(?<!\|)\|&?[ \t]{0,20})\b(?:awk|bat|cat|cmp|comm|cut|diff|e?grep|fold|head|jq|less|more|nl|od|paste|rev|rg|sed|sort|strings|tac|tail|uniq|xxd|zcat)\b|\bgit\b[^|;&\n]{0,200}?\s(?:blame|diff|grep|log|show)\b/

/** Tests whether a command shows no files, so that its output is what its programs say. */
export const saysItself = (command: string): boolean =>
  command.length <= mostExaminedQuotation && !showing.test(command)

const absolutePath = /(?:^|[\s'"`‘“(=:])\/[^\s'"`/]/
/** Matches node's message for a failed call on a path. */
const ofNode = /\bE[A-Z]+: [a-z -]+, [a-z]+ '[^']/

/**
 * Tests whether a line has a refusal and a path in a form that is no coincidence: an absolute path, or node's message.
 */
const namesPath = (line: string): boolean =>
  (absolutePath.test(line) || ofNode.test(line)) && refusalIn(line) !== undefined

/**
 * Returns the output lines that the command's own programs say. They begin with a program's name (from the command,
 * bash's or an exception's), or name a path or what was refused. If the command shows files, only lines that begin with
 * the name of a program that failed in a pipeline; in a test report, only lines with a path.
 *
 * @param isMerged whether programs were told to send their messages there
 * @param failed the programs that failed in the pipeline; undefined if nothing failed
 */
export const spokenIn = (
  command: string,
  output: string,
  isMerged = true,
  failed?: ReadonlyArray<string> | undefined
): string => {
  const isOwn = saysItself(command)
  if (!isOwn && (!isMerged || failed === undefined || failed.length === 0)) return ""
  const isSpoken = isMerged && !isReport(output)
  return output
    .split("\n")
    .filter((whole) => {
      const line = whole.slice(0, longestMessage)
      const [, name] = isSpoken ? (speaker.exec(line) ?? []) : []
      if (!isOwn) return name !== undefined && failed?.includes(name) === true
      if (name !== undefined && (name === "bash" || name.endsWith("Error") || mentions(command, name))) return true
      if (namesPath(line)) return true
      const isAboutRefusal = failed !== undefined && refusalIn(line) !== undefined
      return isSpoken && (isAboutRefusal || SystemCalls.isAboutCall(line) || CommandWords.isSpokenOf(line, command))
    })
    .join("\n")
}

/**
 * Matches zip's errors on standard output, which it prints nowhere else: the system's words, and the name on the next
 * line.
 */
const ofZip = /^zip I\/O error: .*\nzip error: .*$/gm

/** Returns messages that the command's programs write to standard output unasked. */
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
  /** Tests whether names are looked up by a server on this machine's loopback: such lookups are not counted. */
  readonly resolvesLocally: () => boolean
  /** True if the command's output is the report of a test run. */
  readonly inReport: boolean
}

/**
 * Finds the hosts that a command was not allowed to reach. `counter` marks what only the kernel's counters show,
 * without a message or the command's words to confirm it.
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
  // Packets that another command may have sent only count if a host is named.
  if (surely === 0 && isCounted) return []
  const isSaid = !isCounted || saysUnreachable(stderr) || (stderr.trim() === "" && CommandWords.reaches(command))
  return [{ ...Denial.network(isSaid ? "verified-text" : "counter"), tool: CommandWords.toolIn(command) }]
}

const nameSocketDenial = /(?<!\w)(?:unix:(?:\/\/)?)?((?:\/|\.\/)[^\s"'():,]+|[^\s"'():,/]+\.sock)(?=[\s"'():,]|$)/

/** How many lines before a message, such as a stack trace, may say what it is about. */
const reachTrace = 4
const mostLinesRefused = 2000

/** A denial that a message in a line shows. */
interface SystemDenial {
  readonly denial: Denial.Denial
  readonly at: number
}

/** Finds the system calls that a command was refused, each rule once. */
function findRefused(
  parsed: CommandLine,
  said: string,
  inReport: boolean,
  confinement: SystemCalls.Confinement
): ReadonlyArray<SystemDenial> {
  if (!SystemCalls.mentionsRefusal(said)) return []
  const { text: command } = parsed
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
    const socket = nameSocketDenial.exec(line)?.[1] ?? CommandWords.all(parsed).find(HostPath.isSocket)
    found.set(refusal.rule, { denial: Denial.system(refusal, socket), at })
  }
  return [...found.values()]
}

/** Matches what may surround a name in a message. */
const around = /[\s/:'"‘’“”(),]+/

/**
 * Returns the indices of the lines with a refusal, in the order of examination. If there are more than `most`, lines
 * that name hidden files come first.
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
  /** The directories for relative names: the session's directory after the command, and before it. */
  readonly directories: ReadonlyArray<string>
  readonly stderr: string
  readonly stdout?: string
  /** Standard output, if it includes the error messages (`2>&1`). */
  readonly merged?: string
  /** The programs that failed in the last pipeline. Undefined if nothing failed. */
  readonly failed?: ReadonlyArray<string> | undefined
  /** The current masks of the sandbox. */
  readonly masks: ReadonlyArray<Mask>
  /** The packets that found no route during the command. */
  readonly traffic?: Traffic | undefined
  /** Tests whether names are looked up by a server on this machine's loopback: such lookups are not counted. */
  readonly resolvesLocally?: () => boolean
  /** True if the user has an ssh-agent, which commands do not get. */
  readonly hasAgent?: boolean
  /** The limit of processes and threads; undefined if there is none. */
  readonly processes?: number | undefined
}

/**
 * The most lines with a refusal that are examined. Every name in them is looked up, and further lines show nothing new.
 */
const mostLines = 100
const mostDenials = 20
/** How many lines before and after a refusal are searched for the name that it is about. */
const reach = 3

/** How many characters at the end of standard error are examined. */
const mostExamined = 256 * 1024

/** Returns a function that finds all provable denials of a command, each once. */
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
  const { command, failed, merged = "", resolvesLocally = () => false, stderr, stdout = "", traffic } = outcome
  const inReport = isReport(stderr, stdout.slice(-mostExamined))
  const output = merged.slice(-mostExamined)
  const spoken =
    output === ""
      ? spokenOnStdout(command.text, stdout.slice(-mostExamined))
      : spokenIn(command.text, output, true, failed)
  const said = spoken === "" ? stderr : `${stderr}\n${spoken}`
  const allowed = policy.shown === undefined ? policy.whitelist : []
  const ofMachine = policy.readonly.filter(({ pattern }) => pattern === Denial.readOnly)
  const mounts = new Set([...allowed, ...ofMachine].map(realOf))
  const verifyFrom = (from: FileDenial.CommandPlaces) =>
    FileDenial.make(decision, from, { cwd: policy.cwd, mounts, ...options })
  const files =
    mentionsRefusal(said) && !isOnlyPrinted(command) ? ofFiles({ ...outcome, stderr: said }, inReport, verifyFrom) : []
  const refused = isOnlyPrinted(command)
    ? []
    : findRefused(command, said, inReport, {
        isRoot: process.getuid?.() === 0,
        unixSockets: policy.unixSockets !== undefined,
        hasAgent: outcome.hasAgent,
        processes: outcome.processes
      })
  const isCounted = (traffic?.surely ?? 0) + (traffic?.perhaps ?? 0) > 0
  // The kernel has counted a failed attempt, so the host's name may come from any output.
  const named = isCounted && output !== "" ? `${stderr}\n${output}` : stderr
  const hosts = findNetworkDenial({ command, inReport, resolvesLocally, stderr: named, traffic })
  const system = refused.map(({ denial }) => denial)
  const hidden = findHidden(command, said, policy, outcome.directories, () => verifyFrom(outcome))
  const others = [...files, ...hidden.filter(({ resource }) => files.every((file) => file.resource !== resource))]
  // The last refusal is the one that ended the command.
  const last = said.split("\n").findLastIndex(mentionsRefusal)
  const isLast = refused.some(({ at }) => at >= last)
  return isLast ? [...system, ...others, ...hosts] : [...others, ...system, ...hosts]
}

/**
 * Returns the denial that most likely made a command fail; undefined if it succeeded. A network denial that only the
 * counters show is never the cause, because programs look for updates in passing.
 */
export const causeOf = (
  denials: ReadonlyArray<Denial.Denial>,
  { exitCode }: { readonly exitCode: number }
): Denial.Denial | undefined => {
  const [first, ...others] =
    exitCode === 0 ? [] : denials.filter(({ how }) => how === "verified-text" || how === "event")
  return first?.isMet === true ? (others.find(({ isMet }) => isMet !== true) ?? first) : first
}

/** Returns the denials besides the cause that messages or the network's events show. */
export const othersOf = (denials: ReadonlyArray<Denial.Denial>, cause: Denial.Denial): ReadonlyArray<Denial.Denial> =>
  denials.filter((each) => each !== cause && (each.how === "verified-text" || each.how === "event"))

/** Matches the beginning of a warning, which is not why a command that reads failed. */
const warning = /^\s*warning: /i
/** Matches the beginning of apt's warnings, which are never why it failed. */
const aptWarning = /^W: /

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
    if (aptWarning.test(line)) continue
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

/** Matches a message of a program that creates a file by renaming another to it. */
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
  // A name that contains a newline begins on the line above.
  const byRules = isAgents(before) || isAgents(lines[at - 1] ?? "")
  const look = (mentions: ReadonlyArray<Mention>) =>
    verify.denial(mentions, refusal, write, { byRules, isRemoval: isRemoval(before) })
  const own = mentionsIn(before, after)
  const likely = look(own)
  // A rule also matches a missing file's name. Then the message may mean another file, which exists.
  const isThere = likely !== undefined && (Denial.isUnlisted(likely) || !HostPath.isMissing(likely.resource))
  if (isThere) return refusal === "readonly" && isOpening(before) ? { ...likely, isOfFile: true } : likely
  // The message may name the file that was moved instead of the one that could not be replaced.
  const other = refusal === "busy" && !/\bremove\b/.test(before) ? inCommand(command, refusal, look) : undefined
  if (other !== undefined) return other
  if (verify.explains(own, refusal)) return likely
  const removed = verify.isRemoved(own, refusal) ? inCommand(command, refusal, look) : undefined
  if (removed !== undefined && !HostPath.isMissing(removed.resource)) return removed
  return (
    look(acrossLines(lines, at, before)) ??
    likely ??
    look(neighbours(lines, at)) ??
    (before.length <= longestMessage && namesNothing.test(before) ? inCommand(command, refusal, look) : undefined) ??
    // git names no path if it can't add an object.
    look(objects.map((path) => ({ path, sure: true })))
  )
}

/** Finds names that contain a newline. */
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
 * Finds the denial for a message without a name, among the command's words that look like paths, including quoted code.
 */
function inCommand(
  command: CommandLine,
  refusal: KernelRefusal,
  look: (mentions: ReadonlyArray<Mention>) => Denial.Denial | undefined
): Denial.Denial | undefined {
  const paths = CommandWords.all(command)
  if (refusal !== "readonly") return look(Array.from(paths, (path) => ({ path, sure: true })))
  // Most paths are read-only anyway, so the words identify the file only if there is exactly one such path.
  const found: Array<Denial.Denial> = []
  for (const path of paths) {
    const denial = path.startsWith("/") ? look([{ path, sure: true }]) : undefined
    if (denial !== undefined) found.push(denial)
    if (found.length > 1) return undefined
  }
  return found[0]
}
