/**
 * Finds git commands that a hidden file would stop halfway, and says how to do the rest.
 */
import * as Path from "node:path"
import type { CommandLine } from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import type { Mask } from "../platform/SandboxPlatform.js"
import { GitHeld } from "../policy/GitHeld.js"
import * as HostPath from "../policy/HostPath.js"
import type * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"

/** The longest command that is read, in characters. */
const mostOfCommand = 10_000

/** Matches files that git could not read, relative to the top of the working tree. */
const unread = /^(?:error: unable to index file '([^'\n]*)'|fatal: (?:cannot hash|Unable to process path) (.+))$/gm

/** Matches git's message that it could not remove a file, after which it goes on. */
const leftOver = /^warning: failed to remove /m

/** Match git's messages that it could not replace a file, and that it gave up for that. */
const kept = /^error: unable to unlink old '([^\n]+)': /gm
const givenUp = /^fatal: Could not reset index file to revision '([^'\n]+)'/m

/** The end of a command. */
const end = String.raw`(?=\s*(?:$|[;&|\n)]|\d?[<>]))`

/** Pathspecs that exclude some of the hidden files already. */
const excluding = String.raw`(?: --(?: ':[!^][^']*'| :[!^]\S+)+)?`

/** The commands that can exclude files, each with a description and the form that excludes them. */
const forms: ReadonlyArray<readonly [written: RegExp, does: string, form?: string]> = [
  [
    new RegExp(
      String.raw`\bgit add(?: -[Auv]+| --all| --update| --verbose| (?:\./)?\w[\w./-]*| \./?| :/)+${excluding}${end}`
    ),
    "adds"
  ],
  // With patches, git asks questions, and nobody is there to answer.
  [new RegExp(String.raw`\bgit add (?:-p|--patch)${end}`), "adds", "git add -u"],
  [/\bgit commit(?: -[qvs]+| --[\w-]+)*? (?:-[qvs]*a[a-z]*|--all)(?=\s|$)/, "adds", "git add -u"],
  [new RegExp(String.raw`\bgit diff(?: --(?:stat|name-only|name-status|shortstat|color|word-diff))?${end}`), "shows"],
  [new RegExp(String.raw`\bgit stash(?: push)?(?: -[qukS]+| --[a-z-]+)*${end}`), "stashes"]
]

/** Matches a commit of all files, with the text before and after that option. The shell expands nothing in it. */
const committing = new RegExp(
  String.raw`\bgit commit((?: -[qvs]+| --[\w-]+)*?) (?:--all|-([qvs]*)a([a-z]*))((?: +(?:'[^']*'|"[^"$\\\x60]*"|[\w.,:@%+/=-]+))*)${end}`
)

/** Matches names that need no quotes and have no special meaning in a pathspec. */
const plain = /^[\w.@%+,=/-]+$/

/** The most files that are named one by one. */
const mostExcluded = 12

/** Writes pathspecs that exclude names, from the top of a working tree. */
const without = (names: ReadonlyArray<string>): string =>
  names
    .map((name) => (plain.test(name) ? Quote.quote(`:!/${name}`) : Quote.line(`:(top,exclude,literal)${name}`)))
    .join(" ")

/** A command, and what is hidden from it. */
interface Work extends CommandWords.Place {
  readonly stderr: string
  readonly masks: ReadonlyArray<Mask>
}

/** Writes pathspecs that exclude all hidden files, not only the first, at which git stopped. */
const withoutHidden = (work: Work, said: ReadonlyArray<string>): string | undefined => {
  const tops = CommandWords.tops(work)
  const hidden = tops.flatMap((top) =>
    work.masks
      .filter(({ path }) => HostPath.isWithin(path, top))
      .map((mask) => ({ mask, name: mask.path.slice(top.length + 1) }))
  )
  const names = new Set([...said, ...hidden.map(({ name }) => name)])
  if (names.size <= mostExcluded) return without([...names])
  const patterns = new Set(hidden.map(({ mask }) => mask.rule.pattern))
  return [...patterns].every((pattern) => /^\*\*\/[^/]+$/.test(pattern))
    ? [...patterns].map((pattern) => Quote.quote(`:(top,exclude,glob)${pattern}`)).join(" ")
    : undefined
}

/** Returns a sentence with the commands that do what `git reset --hard` does, without the hidden files. */
const resetting = (revision: string, excluded: string): string => {
  // The value of what the shell expands is unknown.
  if (/[$`*?]/.test(revision)) return ""
  const to = Quote.word(revision)
  const restore = `git restore --source=${to} --staged --worktree -- ':/' ${excluded}`
  return ` ${restore}${revision === "HEAD" ? "" : ` && git reset -q ${to}`} does the rest.`
}

/** Returns a sentence with the command that does the rest; undefined unless it is certain to work. */
export const rest = (work: Work): string | undefined => {
  const {
    command: { text: command },
    stderr
  } = work
  const stopped = Array.from(stderr.matchAll(kept), ([, name = ""]) => name)
  if (stopped.length > 0) {
    const [, revision] = givenUp.exec(stderr) ?? []
    if (revision !== undefined) return `git has stopped in the middle.${resetting(revision, without(stopped))}`
    return "git may have changed other files: see git status."
  }
  if (/\bgit clean\b/.test(command) && leftOver.test(stderr)) return "git clean has removed the rest."
  const names = Array.from(stderr.matchAll(unread), ([, indexed, hashed]) => indexed ?? hashed ?? "")
  if (names.length === 0) return undefined
  const [does, form, ...others] = forms.flatMap(([written, does, form]) => {
    const found = written.exec(command)?.[0]
    const bare = found?.replace(/^git stash(?! push)/, "git stash push").replace(/ -- .*/s, "")
    return bare === undefined ? [] : [does, form ?? bare]
  })
  const excluded = does === undefined || others.length > 0 ? undefined : withoutHidden(work, names)
  const isNamed = (word: string) => names.some((name) => Path.basename(name) === Path.basename(word))
  if (excluded === undefined || form?.split(" ").some(isNamed)) return undefined
  const [commit, options, before = "", after = "", words] = committing.exec(command) ?? []
  if (commit === undefined) return `${form} -- ${excluded} ${does} the rest.`
  const flags = before + after === "" ? "" : ` -${before}${after}`
  return `git commit${options}${flags}${words} -- ':/' ${excluded} commits the rest.`
}

/** Returns git's arguments, beginning with the subcommand. */
const argumentsOf = ([program = "", ...args]: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (!/^(?:.*\/)?git$/.test(program)) return []
  let first = 0
  while (args[first]?.startsWith("-") === true) first += /^-[Cc]$/.test(args[first] ?? "") ? 2 : 1
  return args.slice(first)
}

/** Tests for git commands that stop halfway at a file which they can't replace or move. */
const stops = ([name, ...args]: ReadonlyArray<string>): boolean =>
  name === "mv" || (name === "reset" && args.includes("--hard")) || (name === "read-tree" && args.includes("--reset"))

/**
 * A command that was not run, because git would have stopped at a hidden file, with a sentence on how to do the rest.
 */
interface Stopped {
  readonly denial: Denial.Denial
  readonly others: ReadonlyArray<Denial.Denial>
  readonly rest: string
}

/**
 * Finds the hidden files at which a git command would stop halfway. Other git commands either do the rest, or refuse to
 * begin if they can't read a file that they would change.
 */
export const stopped = (
  command: CommandLine,
  cwd: string,
  policy: SandboxPolicy,
  decide: PolicyDecision.PolicyDecision["decide"]
): Stopped | undefined => {
  if (command.text.length > mostOfCommand || !/--(?:hard|reset)\b|\bmv\b/.test(command.text)) return undefined
  const all = CommandWords.invocations(command)
  const [name, ...args] = all.map(argumentsOf).find(stops) ?? []
  if (name === undefined) return undefined
  const directories = CommandWords.entered(all, cwd)
  const git = GitHeld.of(policy)
  const moved = new Set(directories.flatMap((directory) => args.map((arg) => Path.resolve(directory, arg))))
  for (const top of CommandWords.tops({ command, directories })) {
    const names: Array<string> = []
    const [denial, ...others] = git.written(top).flatMap((file) => {
      const verdict = decide(`${top}/${file}`, "read")
      if (verdict.allowed || (name === "mv" && !moved.has(`${top}/${file}`))) return []
      names.push(file)
      return [Denial.make(verdict, `${top}/${file}`, "write", "preflight")]
    })
    if (denial === undefined) continue
    const revision = args.find((word) => !word.startsWith("-")) ?? "HEAD"
    const does = name === "reset" ? resetting(revision, without(names)) : ""
    return { denial, others, rest: `git would stop there in the middle.${does}` }
  }
  return undefined
}

/** Returns a sentence on adding a worktree in a writable place. The failed attempt has already created the branch. */
export const worktree = (command: CommandLine): string | undefined => {
  if (!/\bworktree add\b/.test(command.text) || command.text.length > mostOfCommand) return undefined
  const words = CommandWords.invocations(command).find((all) => all.includes("worktree")) ?? []
  const given = words.slice(words.indexOf("worktree") + 2)
  const at = given.findIndex((word) => /^-[bB]$/.test(word))
  const [path, from] = given.filter((word, index) => !word.startsWith("-") && (at < 0 || index !== at + 1))
  const branch = at < 0 ? from : given[at + 1]
  if (path === undefined || ![path, branch ?? ""].every((word) => /^[\w./@~^-]*$/.test(word))) return undefined
  const place = `.worktrees/${Path.posix.basename(path)}`
  return `It can lie in the project (git worktree add ${[place, branch].filter((word) => word !== undefined).join(" ")}).`
}
