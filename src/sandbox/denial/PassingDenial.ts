/**
 * Tells what was denied to commands that went on, whose exit code says nothing of it: `cat .env | wc -l`, `cp -r . there || true`,
 * and `git status`, which takes what it can't read for changed.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as Denial from "./Denial.js"
import * as Explanation from "./Explanation.js"
import * as GitRemedy from "./GitRemedy.js"
import * as Wording from "./Wording.js"

/**
 * A command that succeeded, and what was denied to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Passed {
  readonly command: string
  /** The directories that relative names may be relative to. */
  readonly directories: ReadonlyArray<string>
  readonly stdout: string
  readonly stderr: string
  readonly masks: ReadonlyArray<Mask>
  readonly denials: ReadonlyArray<Denial.Denial>
  /** True where a part of a pipeline failed, of which another remark tells that it has no network. */
  readonly isPipeline: boolean
}

/** The most characters of a command, and of standard output, that are examined, from their beginnings. */
const mostOfCommand = 10_000
const mostExamined = 64 * 1024
/** The most files of git that are examined. */
const mostFiles = 200

/** Matches how `git status` names a file that differs from the index, in its long and in its short format. */
const changed = /^(?:[ \t]+(?:modified|deleted|typechange):[ \t]+|[ MADRCT][MDT] )([^"\n]+)$/gm

/** Matches the commands of git that tell which files are changed. The bound keeps a long line of `git git …` linear. */
const ofGit = /\bgit\b[^|;&\n]{0,200}?\s(?:status|commit)\b/

const tellsChanges = (command: string): boolean => ofGit.test(command.slice(0, mostOfCommand))

const did = { read: "reading", write: "writing", network: "reaching" }

/**
 * Tests whether something may have been denied to a command that succeeded, as far as its words tell.
 *
 * @since 0.1.0
 */
export const isLikely = (command: string, { stderr }: { readonly stderr: string }): boolean =>
  Wording.mentionsRefusal(stderr) || isOffline(stderr) || tellsChanges(command)

/**
 * Tests whether a text says that a host was not reached.
 *
 * @since 0.1.0
 */
export const isOffline = (stderr: string): boolean => Wording.saysUnresolved(stderr) || Wording.saysUnreachable(stderr)

/** Tests whether a denial can be told in passing: of the network, only where a host or a socket's path is named. */
const canBeTold = ({ access, how, resource, rule }: Denial.Denial): boolean => {
  const host = Denial.network(how)
  const isNamed = rule === host.rule ? resource !== host.resource : resource.startsWith("/")
  return how === "verified-text" && (access !== "network" || isNamed)
}

/** The beginnings of what is told in passing. */
const beginnings = { denied: "Blocked by the sandbox: ", hidden: "The sandbox hides " }

/**
 * Tests whether a notice tells of a denial in passing.
 *
 * @since 0.1.0
 * @category guards
 */
export const isNotice = (notice: string): boolean =>
  Object.values(beginnings).some((beginning) => notice.startsWith(beginning))

/**
 * Tells of each rule once, for the messages of later commands say the rest.
 *
 * @since 0.1.0
 * @category models
 */
export class PassingDenials {
  private readonly told = new Set<string>()

  /** Notes a rule that a result names anyway. */
  note({ rule }: Denial.Denial): void {
    this.told.add(rule)
  }

  /** Returns one line for a rule that nothing has been told of; else undefined. */
  notice(passed: Passed): string | undefined {
    const [denial, ...others] = passed.denials.filter(
      (each) => canBeTold(each) && !this.told.has(each.rule) && !(passed.isPipeline && each.access === "network")
    )
    if (denial !== undefined) {
      for (const { rule } of [denial, ...others]) this.told.add(rule)
      const also = Explanation.alsoOf(denial, others)
      const rest = GitRemedy.find(passed.command, passed.stderr)
      const next = rest === undefined ? "" : ` ${rest} adds the rest.`
      return `${beginnings.denied}${did[denial.access]} ${line(denial.resource)} (rule ${line(denial.rule)}); the command went on without it.${next}${also === undefined ? "" : ` ${also}`}`
    }
    const mask = this.seemsChanged(passed)
    if (mask === undefined) return undefined
    this.told.add(`git ${mask.rule.pattern}`)
    return `${beginnings.hidden}${line(mask.path)} (rule ${line(mask.rule.pattern)}): git can't read it, and takes it for changed.`
  }

  /** Finds a hidden file that git tells to be changed. */
  private seemsChanged({ command, directories, masks, stdout }: Passed): Mask | undefined {
    if (masks.length === 0 || !tellsChanges(command)) return undefined
    const maskAt = new Map(masks.map((mask) => [mask.path, mask]))
    let seen = 0
    for (const [said, name = ""] of stdout.slice(0, mostExamined).matchAll(changed)) {
      if (++seen > mostFiles) return undefined
      // The command prints it itself.
      if (command.includes(said.trim())) continue
      for (const directory of directories) {
        const mask = maskAt.get(Path.posix.resolve(directory, name))
        if (mask !== undefined && !this.told.has(`git ${mask.rule.pattern}`)) return mask
      }
    }
    return undefined
  }
}

const line = Explanation.onOneLine
