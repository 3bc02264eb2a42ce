/**
 * Finds blacklisted paths that a command will surely use, from its words, before it runs.
 *
 * The kernel enforces the policy, and `Attribution` explains denials afterwards. This module answers early for plain
 * words: the most common commands, redirections, and the same within `bash -c '…'`. If anything is unsure, it reports
 * nothing.
 */
import * as CommandLine from "../../bash/CommandLine.js"
import type * as CommandTree from "../../bash/CommandTree.js"
import { Scanner } from "../../bash/Scanner.js"
import type { Word } from "../../bash/Token.js"
import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"

/** The session's directory, and the directory for `~` if known. */
interface Start {
  readonly cwd: string
  readonly home?: string | undefined
}

/** How a command uses an operand. `create`: it writes, whether or not the file exists. `list`: it reads a directory. */
type Use = "read" | "write" | "create" | "list"

interface Opener {
  readonly use: Use
  /** How it uses the last of two or more operands. */
  readonly last?: Use
  /** How many operands precede the paths. */
  readonly skip?: number
  /** How many operands are paths. */
  readonly count?: number
  /** Options without a value. With any unknown option, nothing is reported. */
  readonly flags?: RegExp
  /** Options whose value is the next word. */
  readonly valued?: RegExp
}

const lines: Opener = { use: "read", flags: /^-(?:[qvfF]+|\d+|[nc][-+]?\d+[kKMG]?)$/, valued: /^-[nc]$/ }

const openers: Readonly<Record<string, Opener>> = {
  ".": { use: "read", count: 1 },
  cat: { use: "read", flags: /^-[AbEensTtuv]+$/ },
  cp: { use: "read", last: "create", flags: /^-[fHLPpRrvx]+$/ },
  edit: { use: "write", count: 1, flags: /^--all$/ },
  grep: { use: "read", skip: 1, flags: /^-(?:[acEFGHhIinoPrRsvwxz]+|[ABCm]\d+)$/, valued: /^-[ABCm]$/ },
  head: lines,
  less: { use: "read", flags: /^-[EeFIiMmNnRrSsX]+$/ },
  ls: { use: "list", flags: /^-[1AaCcFGghlnoRrSstu]+$/ },
  mv: { use: "write", last: "create", flags: /^-[fv]+$/ },
  read: { use: "read", count: 1, flags: /^--(?:offset|limit)=\d+$/, valued: /^--(?:offset|limit)$/ },
  rm: { use: "write", flags: /^-[dfRrv]+$/ },
  source: { use: "read", count: 1 },
  tail: lines,
  tee: { use: "create", flags: /^-[ai]+$/ },
  touch: { use: "create", flags: /^-[am]+$/ },
  write: { use: "create", count: 1 }
}

/** Commands that may act on a symbolic link itself. */
const takingLinks = new Set(["cp", "ls", "mv", "rm"])
const shells = new Set(["bash", "sh"])
/**
 * Matches every command with a redirection, or with an operand of a program above, whose name may be quoted. No other
 * command is parsed.
 */
const mayOpen = new RegExp(
  String.raw`[<>"'\\]|(?:\.|\b(?:${[...Object.keys(openers), ...shells].filter((name) => name !== ".").join("|")}))\s`
)
/** Commands that always succeed, so that the command after `&&` runs. */
const succeeding = new Set(["cd", "echo", "printf", "true", ":"])
/** Commands after which it is unknown what runs, or where. */
const unfollowed = new Set(
  ". source eval pushd popd exec exit return break continue logout set shopt alias trap time".split(" ")
)
const redirecting = /^\d*(?:(<)|>|>>|>\||<>|&>|&>>)$/

interface SimpleCommand {
  readonly command: CommandTree.Command
  /** The operator after it. */
  readonly after: string
  /** True if it runs in a subshell, so that it does not change the directory for the next command. */
  readonly inSubshell: boolean
}

/** Yields the commands of a plain list, up to the first compound command or syntax error. */
function* simpleCommands(lists: ReadonlyArray<CommandTree.List>): Generator<SimpleCommand> {
  for (const { isBackground, pipelines } of lists) {
    for (const [at, { commands, isNegated }] of pipelines.entries()) {
      const operator = pipelines[at + 1]?.before ?? (isBackground ? "&" : ";")
      for (const command of commands) {
        if (command.keyword !== undefined || isNegated) return
        const after = command === commands.at(-1) ? operator : "|"
        yield { command, after, inSubshell: commands.length > 1 || after === "&" }
      }
    }
  }
}

/** Returns the text of a word that expands nothing but a leading `~`; undefined for other words. */
const plainText = (text: string, word: Word, home: string | undefined): string | undefined => {
  if (!word.expands) return word.value
  const raw = text.slice(word.start, word.end)
  if (home === undefined || !/^~(?:\/|$)/.test(raw)) return undefined
  const rest = new Scanner(raw.slice(1)).next()
  if (rest === undefined) return home
  return rest._tag === "Word" && !rest.expands && rest.end === raw.length - 1 ? home + rest.value : undefined
}

const operandsOf = ({ flags, valued }: Opener, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const operands: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    if (arg === "--") return [...operands, ...args.slice(at + 1)]
    if (valued?.test(arg) === true) at++
    else if (!/^-./.test(arg)) operands.push(arg)
    else if (flags?.test(arg) !== true) return []
  }
  return operands
}

interface Opened {
  readonly path: string
  readonly use: Use
  /** True if the command may act on a symbolic link itself. */
  readonly takesLink: boolean
}

const openedBy = (name: string, args: ReadonlyArray<string>): ReadonlyArray<Opened> => {
  const opener = Object.hasOwn(openers, name) ? openers[name] : undefined
  const operands = opener === undefined ? [] : operandsOf(opener, args)
  // Bash's own `read` takes variable names, not files.
  if (opener === undefined || (name === "read" && operands.some((operand) => /^\w+$/.test(operand)))) return []
  const { count, last = opener.use, skip, use } = opener
  const takesLink = takingLinks.has(name)
  return operands
    .slice(skip, count)
    .map((path, at, { length }): Opened => ({ path, use: at > 0 && at === length - 1 ? last : use, takesLink }))
    .filter(({ path }) => path !== "" && path !== "-")
}

/**
 * Returns the directory that `cd` changes to. Undefined if `cd` may fail, use CDPATH, or go through a link and back.
 */
const directoryOf = (cwd: string, [path = "", ...more]: ReadonlyArray<string | undefined>): string | undefined => {
  const next = path.startsWith("/") ? path : `${cwd}/${path}`
  const isPlain = /^(?:\/|\.(?:\/|$))/.test(path) && !/(?:^|\/)\.\.(?:\/|$)/.test(path) && more.length === 0
  return isPlain && HostPath.isDirectory(next) ? next : undefined
}

const most = 20

/** Returns a function that finds the denials that a command would surely meet, in order. */
export const make = (
  policy: SandboxPolicy,
  { explain } = PolicyDecision.make(policy)
): ((line: CommandLine.CommandLine, start: Start) => ReadonlyArray<Denial.Denial>) => {
  const check = ({ path, takesLink, use }: Opened, cwd: string): Denial.Denial | undefined => {
    if (HostPath.isTooLong(path) || (takesLink && HostPath.isLink(path, cwd))) return undefined
    const verdict = explain(path, cwd, "read")
    if (verdict.allowed || (use === "read" && verdict.standIn !== undefined)) return undefined
    const { real, rule } = verdict
    const isMissing = HostPath.isMissing(real)
    // A missing file is denied only if a rule names it outright.
    if (isMissing && rule.kind === "glob" && use !== "create") return undefined
    if (use === "list" && !isMissing && !HostPath.isDirectory(real)) return undefined
    return Denial.make(verdict, real, use === "read" || use === "list" ? "read" : "write", "preflight")
  }

  function preflight(
    { text: command, tokens, tree }: CommandLine.CommandLine,
    start: Start,
    isOver: () => boolean
  ): ReadonlyArray<Denial.Denial> {
    const found: Array<Denial.Denial> = []
    if (tokens.some((token) => token._tag === "Word" && !token.closed)) return found
    // A command that mentions HOME may change it.
    const home = /(?<![${])\bHOME\b/.test(command) ? undefined : start.home
    let { cwd } = start
    for (const { after, command: each, inSubshell } of simpleCommands(tree.lists)) {
      const { redirections, words } = each
      const text = (word: Word) => plainText(command, word, home)
      const [name, ...args] = words.length === 0 ? [""] : words.map(text)
      if (name === undefined) return found
      const known = args.filter((arg) => arg !== undefined)
      const redirected = redirections.flatMap(({ operator, target }): ReadonlyArray<Opened> => {
        const [path, use] = [text(target), redirecting.exec(operator)]
        if (path === undefined || use === null) return []
        return [{ path, use: use[1] === undefined ? "create" : "read", takesLink: false }]
      })
      for (const each of [...redirected, ...(known.length < args.length ? [] : openedBy(name, known))]) {
        const denial = check(each, cwd)
        if (denial !== undefined) found.push(denial)
        if (found.length >= most || isOver()) return found
      }
      const inner = shells.has(name) && /^-[eux]*c$/.test(args[0] ?? "") ? args[1] : undefined
      if (inner !== undefined) found.push(...preflight(CommandLine.parse(inner), { cwd, home }, isOver))
      if (unfollowed.has(name) || after === "||" || (after === "&&" && !succeeding.has(name))) return found
      const next = name === "cd" && !inSubshell ? directoryOf(cwd, args) : cwd
      if (next === undefined) return found
      cwd = next
    }
    return found
  }
  return (line, start) => (mayOpen.test(line.text) ? preflight(line, start, Denial.searching()) : [])
}
