/**
 * Tells what was denied to commands that went on, whose exit code says nothing of it: `cat .env | wc -l`, `cp -r . there || true`,
 * and `git status`, which takes what it can't read for changed.
 */

import * as Path from "node:path"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import { GitHeld } from "../policy/GitHeld.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import { networkRemark, type SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"
import * as Explanation from "./Explanation.js"
import * as GitAdvice from "./GitAdvice.js"
import * as Message from "./internal/Message.js"
import * as SystemCalls from "./internal/SystemCalls.js"

/** Matches how git refuses to go on while there are changes. */
const refusal =
  /^(?:error|fatal): (?:cannot (?:rebase|pull with rebase): You have unstaged changes|your local changes would be overwritten|Your local changes to the following files would be overwritten|cannot continue with unstaged changes)/m

const isRefusal = ({ command, stderr }: Failed): boolean => /\bgit\b/.test(command.text) && refusal.test(stderr)

/** Finds a hidden file that git takes for changed, since it can't read it. */
const find = (failed: Failed): Mask | undefined => {
  const git = GitHeld.of(failed.policy)
  return CommandWords.tops(failed)
    .flatMap((top) => failed.masks.filter(({ kind, path }) => kind === "file" && HostPath.isWithin(path, top)))
    .find(({ path }) => git.isCompared(path))
}

/** A command that succeeded, and what was denied to it. */
export interface Passed {
  readonly command: CommandLine
  /** The directories that relative names may be relative to. */
  readonly directories: ReadonlyArray<string>
  readonly stdout: string
  readonly stderr: string
  readonly policy: SandboxPolicy
  readonly masks: ReadonlyArray<Mask>
  readonly denials: ReadonlyArray<Denial.Denial>
}

/** A command that failed, and was denied nothing that its messages tell. */
export type Failed = Pick<Passed, "command" | "directories" | "masks" | "policy" | "stderr" | "stdout">

/** The most characters of a command, and of standard output, that are examined, from their beginnings. */
const mostOfCommand = 10_000
const mostExamined = 64 * 1024
/** The most files of git that are examined. */
const mostFiles = 200

/** Matches how `git status` names a file that differs from the index, in its long and in its short format. */
const changed = /^(?:[ \t]+(?:modified|deleted|typechange):[ \t]+|[ MADRCT][MDT] )([^"\n]+)$/gm

/** Matches the commands of git that tell which files are changed. The bound keeps a long line of `git git …` linear. */
const ofGit = /\bgit\b[^|;&\n]{0,200}?\s(?:status|commit)\b/

const tellsChanges = ({ text }: CommandLine): boolean => ofGit.test(text.slice(0, mostOfCommand))

/** Tests whether something may have been denied to a command that succeeded, as far as its words tell. */
export const isLikely = (
  command: CommandLine,
  { merged, stderr }: { readonly merged: string; readonly stderr: string }
): boolean =>
  [stderr, merged.slice(-mostExamined)].some(
    (text) => text !== "" && (Message.mentionsRefusal(text) || SystemCalls.mentionsRefusal(text) || isOffline(text))
  ) ||
  tellsChanges(command) ||
  CommandWords.programIn(command) !== undefined

/** Tests whether a text says that a host was not reached. */
export const isOffline = (stderr: string): boolean => Message.saysUnresolved(stderr) || Message.saysUnreachable(stderr)

/** Tests whether a denial can be told in passing: that of a host has to have a name. */
const canBeTold = (denial: Denial.Denial): boolean =>
  denial.how === "verified-text" && (Denial.isSocket(denial) || !Denial.isNameless(denial))

/** Tells of each rule once for a path, and of the network once; then of further hosts where no message names them. */
export class PassingDenials {
  private readonly told = new Set<string>()
  private readonly worded = new Diagnostic.ToldDenials()

  /** Notes a denial that a result names anyway. */
  note(denial: Denial.Denial): void {
    this.told.add(keyOf(denial)).add(denial.rule)
  }

  /** Returns one line for what nothing has been told of; else undefined. */
  notice(passed: Passed): string | undefined {
    const [denial, ...others] = passed.denials.filter((each) => canBeTold(each) && this.isNew(each, passed))
    if (denial === undefined) {
      return this.offline(passed) ?? this.ofChanged("git", this.seemsChanged(passed, "git"))
    }
    for (const each of [denial, ...others]) this.note(each)
    const rest = GitAdvice.rest(passed)
    return this.worded.passing(Explanation.of(denial, passed.policy, others, rest))
  }

  /** Tells once of each host that the sandbox's network refused to a command that went on. */
  ofHosts(events: ReadonlyArray<Denial.Denial>): string | undefined {
    const [first, ...others] = events.filter((each) => !this.told.has(keyOf(each)))
    if (first === undefined) return undefined
    for (const each of [first, ...others]) this.told.add(keyOf(each))
    const more = others.length === 0 ? "" : ` So were: ${others.map(Denial.nameOf).join(", ")}.`
    const grants = new Set(
      [first, ...others].flatMap(({ grant }) => (grant === undefined ? [] : [HostEntry.toArgument(grant)]))
    )
    const calls = [...grants].map((grant) => `synapse sandbox allow ${grant}`).join("; ")
    const way = calls === "" ? "" : ` To allow ${grants.size === 1 ? "it" : "them"}: ${calls}`
    return `The sandbox refused a connection: ${Denial.whatOf(first)}.${more}${way}`
  }

  private isNew(denial: Denial.Denial, { stderr }: Passed): boolean {
    const isSaid = denial.access === "network" && stderr.trim() !== ""
    return !this.told.has(keyOf(denial)) && !(isSaid && this.told.has(denial.rule))
  }

  /** Tells once that there is no network, where a message or the program tells that one was to be reached. */
  private offline({ command, denials, policy }: Passed): string | undefined {
    const denial = denials.find((each) => Denial.isNameless(each) && !Denial.isSocket(each))
    if (denial === undefined || this.told.has(keyOf(denial))) return undefined
    const program = CommandWords.programIn(command)
    if (program === undefined && denial.how !== "verified-text") return undefined
    this.told.add(keyOf(denial))
    return `The sandbox has no network, which ${program ?? "the command"} tried to reach${networkRemark(policy)}.`
  }

  /** Returns one line on a hidden file that a command of git has failed for, once for each rule; else undefined. */
  hidden(failed: Failed): string | undefined {
    if (failed.masks.length === 0) return undefined
    const isNamed = !isRefusal(failed)
    const kind = isNamed ? "git stopped at" : "git refused for"
    return this.ofChanged(kind, isNamed ? this.seemsChanged(failed, kind) : find(failed))
  }

  private ofChanged(kind: string, mask: Mask | undefined): string | undefined {
    if (mask === undefined || this.told.has(`${kind} ${mask.rule.pattern}`)) return undefined
    this.told.add(`git ${mask.rule.pattern}`).add(`${kind} ${mask.rule.pattern}`)
    return `The sandbox hides ${Name.of(mask.path)} (rule ${Name.ofEntry(mask.rule.pattern)}): git can't read it, and takes it for changed.`
  }

  /** Finds a hidden file that git tells to be changed. */
  private seemsChanged({ command, directories, masks, stdout }: Failed, kind: string): Mask | undefined {
    if (masks.length === 0 || !tellsChanges(command)) return undefined
    const maskAt = new Map(masks.map((mask) => [mask.path, mask]))
    let seen = 0
    for (const [said, name = ""] of stdout.slice(0, mostExamined).matchAll(changed)) {
      if (++seen > mostFiles) return undefined
      // The command prints it itself.
      if (command.text.includes(said.trim())) continue
      for (const directory of directories) {
        const mask = maskAt.get(Path.posix.resolve(directory, name))
        if (mask !== undefined && !this.told.has(`${kind} ${mask.rule.pattern}`)) return mask
      }
    }
    return undefined
  }
}

/** Names what is told once. */
const keyOf = (denial: Denial.Denial): string => {
  const { access, resource, rule } = denial
  const isOfRule = access === "system" || Denial.isSocket(denial) || Denial.isNameless(denial)
  return isOfRule ? rule : `${access} ${resource}`
}
