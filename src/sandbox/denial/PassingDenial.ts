/**
 * Tells what was denied to commands that went on, whose exit code says nothing of it: `cat .env | wc -l`, `cp -r . there || true`,
 * and `git status`, which takes what it can't read for changed.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import * as Name from "../policy/Name.js"
import { networkRemark, type SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"
import * as Explanation from "./Explanation.js"
import * as Message from "./internal/Message.js"
import * as SystemCalls from "./internal/SystemCalls.js"

/** Matches the files that git could not read, which it names from the top of the working tree. */
const unread = /^(?:error: unable to index file '([^'\n]*)'|fatal: (?:cannot hash|Unable to process path) (.+))$/gm

/** The end of a command. */
const end = String.raw`(?=\s*(?:$|[;&|\n)]|\d?[<>]))`

/** The commands that can leave files out, each with what does so, and what that does. */
const forms: ReadonlyArray<readonly [written: RegExp, does: string, form?: string]> = [
  [new RegExp(String.raw`\bgit add (?:-A|--all|-u|--update|\.)${end}`), "adds"],
  // By patches, it asks; nobody is there to answer.
  [new RegExp(String.raw`\bgit add (?:-p|--patch)${end}`), "adds", "git add -u"],
  [/\bgit commit(?: -[qvs]+| --[\w-]+)*? (?:-[qvs]*a[a-z]*|--all)(?=\s|$)/, "adds", "git add -u"],
  [new RegExp(String.raw`\bgit diff(?: --(?:stat|name-only|name-status|shortstat|color|word-diff))?${end}`), "shows"],
  [new RegExp(String.raw`\bgit stash(?: push)?${end}`), "stashes", "git stash push"]
]

/** Matches names that have one meaning only in a pathspec and in quotes. */
const plain = /^[\w.@%+,=/-]+$/

/** The most files that are named. */
const mostExcluded = 5

/** Returns the sentence on the command that does the rest; undefined where it is not certain. */
export const gitRemedy = (command: string, stderr: string): string | undefined => {
  const names = [...new Set(Array.from(stderr.matchAll(unread), ([, indexed, hashed]) => indexed ?? hashed ?? ""))]
  if (names.length === 0 || names.length > mostExcluded || !names.every((name) => plain.test(name))) return undefined
  const [does, form, ...others] = forms.flatMap(([written, does, form]) => {
    const found = written.exec(command)?.[0]
    return found === undefined ? [] : [does, form ?? found]
  })
  if (does === undefined || others.length > 0) return undefined
  return `${[form, "--", ...names.map((name) => `':!/${name}'`)].join(" ")} ${does} the rest.`
}

/** Returns the sentence on a worktree where commands may write: the branch of the first attempt is there already. */
export const worktreeRemedy = (command: string): string | undefined => {
  if (!/\bworktree add\b/.test(command) || command.length > mostOfCommand) return undefined
  const [words = []] = [...CommandTree.commandsIn(CommandLine.parse(command).tree.lists)]
    .map((each) => each.words.map(({ value }) => value))
    .filter((all) => all.includes("worktree"))
  const given = words.slice(words.indexOf("worktree") + 2)
  const at = given.findIndex((word) => /^-[bB]$/.test(word))
  const [path, from] = given.filter((word, index) => !word.startsWith("-") && (at < 0 || index !== at + 1))
  const branch = at < 0 ? from : given[at + 1]
  if (path === undefined || ![path, branch ?? ""].every((word) => /^[\w./@-]*$/.test(word))) return undefined
  const place = `.worktrees/${Path.posix.basename(path)}`
  return `It can lie in the project: git worktree add ${[place, branch].filter((word) => word !== undefined).join(" ")}`
}

/** Matches how git refuses to go on while there are changes. */
const refusal =
  /^(?:error|fatal): (?:cannot (?:rebase|pull with rebase): You have unstaged changes|your local changes would be overwritten|Your local changes to the following files would be overwritten|cannot continue with unstaged changes)/m

/** The most bytes of an index that is read. */
const largest = 16 * 1024 * 1024

const isRefusal = ({ command, stderr }: Failed): boolean => /\bgit\b/.test(command) && refusal.test(stderr)

/**
 * Finds a hidden file that the index of a working tree has: what can't be read seems changed. Undefined where there is none,
 * or the index does not tell.
 */
const find = (failed: Failed): Mask | undefined => {
  for (const top of CommandWords.tops(failed)) {
    const masks = failed.masks.filter(({ kind, path }) => kind === "file" && path.startsWith(`${top}/`))
    const index = masks.length === 0 ? undefined : read(Path.posix.join(top, ".git/index"))
    const mask = index === undefined ? undefined : masks.find(({ path }) => holds(index, path.slice(top.length + 1)))
    if (mask !== undefined) return mask
  }
  return undefined
}

const read = (path: string): Buffer | undefined => {
  try {
    const { size } = Fs.statSync(path)
    return size > largest ? undefined : Fs.readFileSync(path)
  } catch {
    return undefined
  }
}

/** Tests for the entry of a name, before which stand its length and whether git is not to look at the file. */
const holds = (index: Buffer, name: string): boolean => {
  const bytes = Buffer.from(`${name}\0`)
  for (let at = index.indexOf(bytes); at > 1; at = index.indexOf(bytes, at + 1)) {
    const flags = index.readUInt16BE(at - 2)
    if ((flags & 0xfff) === bytes.length - 1) return (flags & assumeUnchanged) === 0
  }
  return false
}

const assumeUnchanged = 0x8000

/** A command that succeeded, and what was denied to it. */
export interface Passed {
  readonly command: string
  /** The directories that relative names may be relative to. */
  readonly directories: ReadonlyArray<string>
  readonly stdout: string
  readonly stderr: string
  readonly policy: SandboxPolicy
  readonly masks: ReadonlyArray<Mask>
  readonly denials: ReadonlyArray<Denial.Denial>
  /** True where a part of a pipeline failed, of which another remark tells that it has no network. */
  readonly isPipeline: boolean
}

/** A command that failed, and was denied nothing that its messages tell. */
export type Failed = Pick<Passed, "command" | "directories" | "masks" | "stderr" | "stdout">

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

/** Tests whether something may have been denied to a command that succeeded, as far as its words tell. */
export const isLikely = (
  command: string,
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

/** Tells of each rule once for a path, and of the network once, for the messages of later commands say the rest. */
export class PassingDenials {
  private readonly told = new Set<string>()
  private readonly worded = new Diagnostic.ToldDenials()

  /** Notes a denial that a result names anyway. */
  note(denial: Denial.Denial): void {
    this.told.add(keyOf(denial))
  }

  /** Returns one line for what nothing has been told of; else undefined. */
  notice(passed: Passed): string | undefined {
    const [denial, ...others] = passed.denials.filter(
      (each) => canBeTold(each) && !this.told.has(keyOf(each)) && !(passed.isPipeline && each.access === "network")
    )
    if (denial === undefined) {
      return this.offline(passed) ?? this.ofChanged("git", this.seemsChanged(passed, "git"))
    }
    for (const each of [denial, ...others]) this.told.add(keyOf(each))
    const rest = gitRemedy(passed.command, passed.stderr)
    return this.worded.passing(Explanation.of(denial, passed.policy, others, rest))
  }

  /** Tells once that there is no network, where a message or the program tells that one was to be reached. */
  private offline({ command, denials, isPipeline, policy }: Passed): string | undefined {
    const denial = isPipeline ? undefined : denials.find((each) => Denial.isNameless(each) && !Denial.isSocket(each))
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
      if (command.includes(said.trim())) continue
      for (const directory of directories) {
        const mask = maskAt.get(Path.posix.resolve(directory, name))
        if (mask !== undefined && !this.told.has(`${kind} ${mask.rule.pattern}`)) return mask
      }
    }
    return undefined
  }
}

/** Names what is told once: any host stands for the network. */
const keyOf = ({ access, resource, rule }: Denial.Denial): string =>
  access === "network" || access === "system" ? rule : `${access} ${resource}`
