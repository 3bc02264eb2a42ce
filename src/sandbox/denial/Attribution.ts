/**
 * Names what the policy denied of a command that ran, by its messages, verified against the policy, the masks and the host.
 *
 * A message alone is no denial: a file that the user could not read or write without the sandbox either is not reported.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Traffic } from "../platform/NetworkMeter.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"
import * as FileDenial from "./FileDenial.js"
import { type Mention, mentionsIn } from "./Mention.js"
import { hostsIn, isWrite, type KernelRefusal, mentionsRefusal, refusalIn } from "./Wording.js"

/**
 * What is known of a command that ran.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly command: string
  /** The directories that relative names may be meant from: the session's after the command, and before it. */
  readonly directories: ReadonlyArray<string>
  readonly stderr: string
  /** What the plan masks by now. */
  readonly masks: ReadonlyArray<Mask>
  /** The packets that found no route meanwhile. */
  readonly traffic?: Traffic | undefined
}

const notWhitelisted = PolicyDecision.notWhitelisted.pattern
/** More lines tell nothing new, and every name in them is looked up. */
const mostLines = 100
const mostDenials = 20
/** How many lines around one may hold the name that it is about. */
const reach = 3

/**
 * Answers with every denial that can be told, each once. Compiles the policy's rules once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  policy: SandboxPolicy,
  decision = PolicyDecision.make(policy),
  options: FileDenial.Options = {}
): ((outcome: Outcome) => ReadonlyArray<Denial.Denial>) => {
  return (outcome) => {
    const files = mentionsRefusal(outcome.stderr) ? ofFiles(outcome, FileDenial.make(decision, outcome, options)) : []
    const { perhaps = 0, surely = 0 } = outcome.traffic ?? {}
    if (surely + perhaps === 0) return files
    const hosts = hostsIn(outcome.stderr)
    // What may have been another command's is this one's only where it says so.
    if (surely === 0 && hosts.length === 0) return files
    return [...files, ...(hosts.length > 0 ? hosts.map(Denial.network) : [Denial.network(undefined)])]
  }
}

/**
 * Picks the denial for which a command failed, as far as can be told. A command that succeeded has none. A network that
 * something missed in passing is the cause only where the command said nothing on standard error.
 *
 * @since 0.1.0
 * @category attribution
 */
export const causeOf = (
  denials: ReadonlyArray<Denial.Denial>,
  { exitCode, stderr }: { readonly exitCode: number; readonly stderr: string }
): Denial.Denial | undefined =>
  exitCode === 0
    ? undefined
    : (denials.find(({ how }) => how === "verified-text") ?? (stderr.trim() === "" ? denials[0] : undefined))

const ofFiles = (outcome: Outcome, verify: FileDenial.Verify): ReadonlyArray<Denial.Denial> => {
  const lines = outcome.stderr.split("\n")
  const found = new Map<string, Denial.Denial>()
  let seen = 0
  for (const [at, line] of lines.entries()) {
    const refused = refusalIn(line)
    if (refused === undefined) continue
    if (++seen > mostLines || found.size >= mostDenials) break
    const write = isWrite(refused.refusal, refused.before)
    const look = (mentions: ReadonlyArray<Mention>) => verify.denial(mentions, refused.refusal, write)
    const own = mentionsIn(refused.before, refused.after)
    const likely = look(own)
    // A rule matches names of nothing too: then the message may mean something else, which is there.
    const isThere = likely !== undefined && (likely.rule === notWhitelisted || !HostPath.isMissing(likely.resource))
    const isElsewhere = !isThere && !verify.explains(own)
    const denial =
      (isElsewhere ? look(acrossLines(lines, at, refused.before)) : undefined) ??
      likely ??
      (isElsewhere ? look(neighbours(lines, at)) : undefined) ??
      (isElsewhere && namesNothing.test(refused.before) ? inCommand(outcome.command, refused.refusal, look) : undefined)
    if (denial !== undefined) found.set(`${denial.access} ${denial.resource}`, denial)
  }
  return [...found.values()].slice(0, mostDenials)
}

/** Names with a newline in them. */
const acrossLines = (lines: ReadonlyArray<string>, at: number, before: string): ReadonlyArray<Mention> => {
  const above = lines[at - 1]
  return above === undefined || refusalIn(above) !== undefined
    ? []
    : mentionsIn(`${above}\n${before}`, "").filter(({ path }) => path.includes("\n"))
}

/** Names in lines of their own. */
const neighbours = (lines: ReadonlyArray<string>, at: number): ReadonlyArray<Mention> => {
  const around = [...lines.slice(Math.max(0, at - reach), at).reverse(), ...lines.slice(at + 1, at + 1 + reach)]
  return around
    .filter((line) => refusalIn(line) === undefined)
    .flatMap((line) => mentionsIn(line, ""))
    .filter(({ path, sure }) => sure && path.includes("/"))
}

/** Who says it, and how bad it is, but not of what. */
const namesNothing =
  /^(?:[\w./-]+(?: (?:warning|error|fatal|failed))?:\s*|.*(?:Error|Exception|Errno)\b[^/]*|.*\bOs \{.*)?\s*$/
const url = /\b[a-z][a-z\d+.-]*:\/\/\S*/gi
const pathLike = /[\w.~/@%+,-]*[./][\w./@%+,-]*/g

/** Of what a message does not say: of what in the command's words looks like a path, code in quotes included. */
const inCommand = (
  command: string,
  refusal: KernelRefusal,
  look: (mentions: ReadonlyArray<Mention>) => Denial.Denial | undefined
): Denial.Denial | undefined => {
  const paths = CommandLine.parse(command).tokens.flatMap((token) => {
    const text = token._tag === "Word" ? token.value : token._tag === "HereDocument" ? token.body : ""
    return [text, ...(text.replace(url, " ").match(pathLike) ?? [])]
  })
  if (refusal !== "readonly") return look(paths.map((path) => ({ path, sure: true })))
  // Most paths could not be written to: only one alone tells which it was.
  const found = [...new Set(paths)]
    .filter((path) => path.startsWith("/"))
    .flatMap((path) => look([{ path, sure: true }]) ?? [])
  return found.length === 1 ? found[0] : undefined
}
