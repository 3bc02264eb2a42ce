/**
 * Follows a command's text as far as it is sure what runs, and where.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"
import { unwrap } from "../../bash/Wrapper.js"
import * as HostPath from "../policy/HostPath.js"
import type { Denial } from "./Denial.js"
import { expand, type Known } from "./Expansion.js"
import { nameOf } from "./Openers.js"
import { type Opened, openedBy } from "./Operands.js"
import { type Step, stepsOf } from "./Steps.js"

/**
 * The denial that opening a path meets; `cwd` is undefined where the current directory is not known.
 *
 * @since 0.1.0
 * @category models
 */
export type Check = (opened: Opened, cwd: string | undefined) => Denial | undefined

/**
 * What is known of the shell at a point of the command.
 *
 * @since 0.1.0
 * @category models
 */
export interface State {
  /** undefined where it is not known any more. */
  readonly cwd: string | undefined
  readonly known: Known
}

const maximalDepth = 8
const nothing: Known = { home: undefined, variables: new Map() }
const shells = new Set(["bash", "sh", "dash", "zsh", "ksh"])
/** After these, whether the next command of a list runs is what they are for. */
const guards = new Set("test [ false command which type hash grep egrep rg pgrep cmp diff git".split(" "))
const leaving = new Set(["exit", "return", "exec", "break", "continue", "logout"])
/** They change variables. */
const declaring = new Set("declare export local mapfile read readarray readonly typeset unset".split(" "))
const assignment = /^([A-Za-z_]\w*)\+?=/
const opens = /^\d*(?:<|>|>>|>\||<>|&>|&>>|>&)$/

/**
 * Goes through a command's steps, and asks `check` of every path that one of them surely opens.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandReader {
  private stack: Array<State> = []
  private stopped = false

  constructor(
    private readonly check: Check,
    private state: State,
    private readonly depth = 0
  ) {}

  /** The first denial. */
  read(command: string): Denial | undefined {
    const steps = stepsOf(CommandLine.parse(command).tokens)
    // After `||`, or a `&&` that something guards, nothing of the list is sure.
    let unsure = false
    for (const step of steps ?? []) {
      if (step._tag === "Subshell") {
        if (step.begins) this.stack.push(this.state)
        else this.state = this.stack.pop() ?? this.state
      } else {
        unsure = step.before === "||" || (unsure && step.before !== ";" && step.before !== "&" && step.before !== "")
        const found = unsure ? undefined : this.command(command, step)
        if (found !== undefined) return found
        if (unsure) this.passOver(step.words)
        if (step.after === "&&" && guards.has(step.words[0]?.value ?? "")) unsure = true
      }
      if (this.stopped) break
    }
    return undefined
  }

  private command(text: string, step: Extract<Step, { _tag: "Command" }>): Denial | undefined {
    const { redirections, words } = step
    const expanded = new Map(
      [...words, ...redirections.map(({ target }) => target)].map((word) => [
        word,
        expand(text, word, this.state.known)
      ])
    )
    for (const { commands } of expanded.values()) {
      for (const inner of commands) {
        const found = this.nested(inner, this.state)
        if (found !== undefined) return found
      }
    }
    for (const { operator, target } of redirections) {
      const { partial = true, text: path } = expanded.get(target) ?? {}
      const copies = operator.endsWith(">&") && /^(?:\d+-?|-)$/.test(path ?? "")
      if (path === undefined || partial || copies || !opens.test(operator)) continue
      const found = this.check({ path, partial, access: /^\d*<$/.test(operator) ? "read" : "write" }, this.state.cwd)
      if (found !== undefined) return found
    }
    const run = unwrap(words)
    const wrappers = words.slice(0, words.length - (run?.length ?? 0))
    const [program, ...args] = run ?? []
    if (program === undefined) return this.forget(words)
    const elsewhere = wrappers.some(({ value }) => /^(?:-C|--chdir|-D)/.test(value))
    const state = elsewhere ? { ...this.state, cwd: undefined } : this.state
    const known = args.map((word) => expanded.get(word) ?? { text: undefined, partial: false })
    const name = nameOf(program.value)
    const found =
      this.script(name, args, wrappers, state) ??
      openedBy(name, known)
        .map((opened) => this.check(opened, state.cwd))
        .find((denial) => denial !== undefined)
    if (found === undefined) this.after(name, words, args, known[0]?.text, step)
    return found
  }

  /** `bash -c '…'` and `eval '…'`. */
  private script(name: string, args: ReadonlyArray<Word>, wrappers: ReadonlyArray<Word>, state: State) {
    if (name === "eval") return this.nested(args.map(({ value }) => value).join(" "), state)
    const option = shells.has(name) ? args.findIndex(({ value }) => /^-[a-zA-Z]*c$/.test(value)) : -1
    const text = option < 0 ? undefined : args.slice(option + 1).find(({ value }) => !/^[-+]/.test(value))
    // With another user, or another environment, HOME is another one.
    const isOther = wrappers.some(({ value }) => /^(?:sudo|doas|env)$/.test(value) || assignment.test(value))
    return text === undefined ? undefined : this.nested(text.value, isOther ? { ...state, known: nothing } : state)
  }

  private nested(text: string, state: State): Denial | undefined {
    return this.depth < maximalDepth ? new CommandReader(this.check, state, this.depth + 1).read(text) : undefined
  }

  /** What a command that ran leaves changed in the shell. */
  private after(
    name: string,
    words: ReadonlyArray<Word>,
    args: ReadonlyArray<Word>,
    first: string | undefined,
    { after, before }: { readonly before: string; readonly after: string }
  ): void {
    const inPipe = [before, after].some((operator) => operator.startsWith("|") && operator !== "||")
    if (inPipe || after === "&") return
    const [word] = words
    if (word !== undefined && leaving.has(word.value)) this.stopped = true
    else if (declaring.has(name)) this.forget(args)
    else if (name === "cd") this.change(args.length > 1 ? undefined : args.length === 0 ? this.state.known.home : first)
    else if (/^(?:pushd|popd|source|\.|eval)$/.test(name)) this.change(undefined)
  }

  private change(path: string | undefined): void {
    const { cwd, known } = this.state
    // With `..`, bash and the kernel may mean different directories.
    const isPlain = path !== undefined && path !== "" && !/^-|(?:^|\/)\.\.(?:\/|$)/.test(path)
    const absolute =
      !isPlain || known.variables.has("CDPATH") ? undefined : path.startsWith("/") ? path : `${cwd}/${path}`
    const isKnown = absolute !== undefined && (path?.startsWith("/") || cwd !== undefined)
    const next = isKnown && HostPath.isDirectory(absolute) ? absolute : undefined
    const variables = new Map(known.variables)
    variables.delete("PWD")
    this.state = { cwd: next, known: { ...known, variables } }
  }

  /** Variables that the words set or name are not known any more. */
  private forget(words: ReadonlyArray<Word>): undefined {
    const variables = new Map(this.state.known.variables)
    for (const { value } of words) variables.delete(assignment.exec(value)?.[1] ?? value)
    const { home } = this.state.known
    this.state = { ...this.state, known: { home: variables.has("HOME") ? home : undefined, variables } }
  }

  /** A command that may run or may not: what it would change is unknown. */
  private passOver(words: ReadonlyArray<Word>): void {
    const name = words[0]?.value ?? ""
    if (leaving.has(name)) this.stopped = true
    else if (/^(?:cd|pushd|popd|source|\.|eval)$/.test(name)) this.state = { cwd: undefined, known: nothing }
    else this.forget(words)
  }
}
