/**
 * Reports denials to commands that went on, so that the exit code does not show them: `cat .env | wc -l`, `cp -r .
 * there || true`, and `git status`, which reports unreadable files as changed.
 */

import * as Path from "node:path"
import * as Hash from "effect/Hash"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import type * as Diagnostic from "../../domain/Diagnostic.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import { GitHeld } from "../policy/GitHeld.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"
import * as Explanation from "./Explanation.js"
import * as GitAdvice from "./GitAdvice.js"
import * as Message from "./internal/Message.js"
import * as SystemCalls from "./internal/SystemCalls.js"

/** Matches git's refusal to go on while there are changes. */
const refusal =
  /^(?:error|fatal): (?:cannot (?:rebase|pull with rebase): You have unstaged changes|your local changes would be overwritten|Your local changes to the following files would be overwritten|cannot continue with unstaged changes)/m

const isRefusal = ({ command, stderr }: FailedCommand): boolean => /\bgit\b/.test(command.text) && refusal.test(stderr)

/** Finds a hidden file that git takes for changed because it can't read it. */
const find = (failed: FailedCommand): Mask | undefined => {
  const git = GitHeld.of(failed.policy)
  return CommandWords.tops(failed)
    .flatMap((top) => failed.masks.filter(({ kind, path }) => kind === "file" && HostPath.isWithin(path, top)))
    .find(({ path }) => git.isCompared(path))
}

/** A command with exit code 0, and what was denied to it. */
export interface SucceededCommand {
  readonly command: CommandLine
  /** The directories for relative names. */
  readonly directories: ReadonlyArray<string>
  readonly stdout: string
  /** The messages, wherever they were printed. */
  readonly stderr: string
  /** True if a part of a pipeline failed, which a denial may explain. */
  readonly isFailed: boolean
  readonly policy: SandboxPolicy
  readonly masks: ReadonlyArray<Mask>
  readonly denials: ReadonlyArray<Denial.Denial>
}

/** A failed command whose messages show no denial. */
export type FailedCommand = Omit<SucceededCommand, "denials" | "isFailed">

/** How many characters at the beginning of a command and of standard output are examined. */
const mostOfCommand = 10_000
const mostExamined = 64 * 1024
/** The most files in git's index that are examined. */
const mostFiles = 200

/** Matches a changed file in the output of `git status`, in its long and short formats. */
const changed = /^(?:[ \t]+(?:modified|deleted|typechange):[ \t]+|[ MADRCT][MDT] )([^"\n]+)$/gm

/** Matches git commands that list changed files. The bound keeps a long line of `git git …` linear. */
const ofGit = /\bgit\b[^|;&\n]{0,200}?\s(?:status|commit)\b/

const tellsChanges = ({ text }: CommandLine): boolean => ofGit.test(text.slice(0, mostOfCommand))

/** Tests whether something may have been denied to a successful command, judging by its output. */
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

const isOfNetwork = (denial: Denial.Denial): boolean => denial.access === "network" && !Denial.isSocket(denial)

/**
 * Tests whether a program may have failed although the exit code is 0: it is not in the last list, within a word such
 * as `"$(curl …)"`, or that list goes on after a failure.
 */
const mayHaveFailed = (program: string, { tree: { lists } }: CommandLine): boolean => {
  const { isBackground = true, pipelines = [] } = lists.at(-1) ?? {}
  const isSure =
    !isBackground &&
    pipelines.every(
      ({ before, commands, isNegated }) =>
        before !== "||" && !isNegated && commands.every(({ keyword }) => keyword === undefined)
    )
  const isIn = (some: typeof lists) =>
    [...CommandTree.commandsIn(some)].some(({ words }) =>
      words.some(({ value }) => Path.posix.basename(value) === program)
    )
  return !isSure || isIn(lists.slice(0, -1)) || !isIn(lists)
}

/**
 * Reports each rule once per path and command, and the network once. Later, only further hosts that no message names
 * are reported. A failed part of a pipeline is explained each time. Files met in passing are reported once.
 */
export class PassingDenials {
  private readonly told = new Set<string>()

  /** Notes a denial that a result reports anyway. */
  note(denial: Denial.Denial): void {
    this.told.add(keyOf(denial)).add(denial.rule)
  }

  /** Returns the first denial to tell, which names the others. Undefined if there is nothing to tell. */
  denied(passed: SucceededCommand): Diagnostic.Denial | undefined {
    const { command, denials, isFailed, policy } = passed
    if (denials.length === 0) return undefined
    const program = CommandWords.programIn(command)
    const isCounted = program !== undefined && (isFailed || mayHaveFailed(program, command))
    const rest = GitAdvice.rest(passed)
    const keyIn = (denial: Denial.Denial) =>
      denial.access === "network" || (denial.isMet === true && rest === undefined)
        ? keyOf(denial)
        : `${keyOf(denial)} ${Hash.string(command.text)}`
    const [denial, ...others] = denials.filter(
      (each) =>
        (each.how === "verified-text" || (isCounted && each.how === "counter")) &&
        ((isFailed && each.isMet !== true) || this.isNew(keyIn(each), each, passed))
    )
    if (denial === undefined) return undefined
    for (const each of [denial, ...others]) {
      this.note(each)
      this.told.add(keyIn(each))
    }
    const told = Explanation.of(denial, policy, others, rest)
    if (isFailed || program !== undefined || !isOfNetwork(denial)) return told
    // Commands often contact hosts that they do not need.
    const { host, ...untold } = told
    return { ...untold, advice: [] }
  }

  /** Returns one line about a hidden file that git takes for changed, once per rule. */
  notice(passed: SucceededCommand): string | undefined {
    return this.ofChanged("git", this.seemsChanged(passed, "git"))
  }

  /** Tests whether a failure needs to be told of the network traffic: once, or each time if the command was silent. */
  tellsTraffic(isSilent: boolean): boolean {
    const isTold = this.told.has("traffic")
    this.told.add("traffic")
    return isSilent || !isTold
  }

  /** Reports each host once that the sandbox's network refused to a command that went on. */
  ofHosts(events: ReadonlyArray<Denial.Denial>): Diagnostic.Diagnostic | undefined {
    const [first, ...others] = events.filter((each) => !this.told.has(keyOf(each)))
    if (first === undefined) return undefined
    for (const each of [first, ...others]) this.told.add(keyOf(each))
    const grants = [first, ...others].flatMap(({ grant }) => (grant === undefined ? [] : [HostEntry.toArgument(grant)]))
    return {
      _tag: "Refused",
      what: Denial.whatOf(first),
      also: others.map(Denial.nameOf),
      hosts: [...new Set(grants)]
    }
  }

  private isNew(key: string, denial: Denial.Denial, { stderr }: SucceededCommand): boolean {
    const isSaid = denial.access === "network" && stderr.trim() !== ""
    return !this.told.has(key) && !(isSaid && this.told.has(denial.rule))
  }

  /** Returns one line about a hidden file that made a git command fail, once per rule. */
  hidden(failed: FailedCommand): string | undefined {
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

  /** Finds a hidden file that git reports as changed. */
  private seemsChanged({ command, directories, masks, stdout }: FailedCommand, kind: string): Mask | undefined {
    if (masks.length === 0 || !tellsChanges(command)) return undefined
    const maskAt = new Map(masks.map((mask) => [mask.path, mask]))
    let seen = 0
    for (const [said, name = ""] of stdout.slice(0, mostExamined).matchAll(changed)) {
      if (++seen > mostFiles) return undefined
      // The command prints the line itself.
      if (command.text.includes(said.trim())) continue
      for (const directory of directories) {
        const mask = maskAt.get(Path.posix.resolve(directory, name))
        if (mask !== undefined && !this.told.has(`${kind} ${mask.rule.pattern}`)) return mask
      }
    }
    return undefined
  }
}

/** Returns the key under which a denial is reported once. */
const keyOf = (denial: Denial.Denial): string => {
  const { access, resource, rule } = denial
  const isOfRule = access === "system" || Denial.isSocket(denial) || Denial.isNameless(denial)
  return isOfRule ? rule : `${access} ${resource}`
}
