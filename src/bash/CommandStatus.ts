/** Finds the commands that may have caused an exit code. */

import type { Command, List, Pipeline } from "./CommandTree.js"
import * as CommandTree from "./CommandTree.js"
import type { Word } from "./Token.js"

/** Commands that may end the text early. */
const leaving = new Set(["exit", "return", "exec", "set", "trap"])

const leaves = ({ words: [name] }: Command, isInFunction = false): boolean =>
  name !== undefined && !name.quoted && leaving.has(name.value) && !(isInFunction && name.value === "return")

/**
 * Returns the programs of the last list (`a && b | c`) that may have decided the status, in order. A compound command
 * or an expansion is undefined. Returns undefined if the text is incomplete, or too complex to tell.
 *
 * @param hasLeft true if the shell has ended with the text, perhaps before its end
 */
export const deciders = (
  tree: CommandTree.CommandTree,
  hasLeft = false
): ReadonlyArray<string | undefined> | undefined => {
  const { lists } = tree
  if (!CommandTree.isComplete(tree)) return undefined
  for (const list of lists.slice(0, -1)) {
    if (hasLeft || [...CommandTree.commandsIn([list])].some((command) => leaves(command))) return undefined
  }
  for (const { isFunction } of CommandTree.commandsIn(lists)) if (isFunction) return undefined
  const last = lists.at(-1)
  if (last === undefined || last.isBackground) return []
  if (last.pipelines.some(({ isNegated }) => isNegated)) return undefined
  // Without pipefail, a pipeline's status is that of its last command.
  return last.pipelines.map(({ commands }) => {
    const command = commands.at(-1)
    return command === undefined || command.keyword !== undefined ? undefined : unwrapped(command.words)?.[0]?.value
  })
}

/** A part of a pipeline: its program (undefined for `(…)` and the like), and the words before it (`timeout 5`). */
export interface Part {
  readonly program: string | undefined
  readonly wrappers: ReadonlyArray<string>
  /** True if its messages are discarded (`2>/dev/null`). */
  readonly isSilent?: true
}

/**
 * Returns the parts of the pipeline that `PIPESTATUS` describes: the last one that ran in the shell itself. Returns
 * undefined if the text does not tell which one that was.
 *
 * @param statuses the exit codes of the parts
 * @param exitCode the exit code of the whole text
 */
export const lastPipeline = (
  tree: CommandTree.CommandTree,
  statuses: ReadonlyArray<number>,
  exitCode: number
): ReadonlyArray<Part> | undefined => {
  if (!CommandTree.isComplete(tree)) return undefined
  const found = new Map(
    candidates(tree, exitCode)
      .filter(({ commands }) => commands.length === statuses.length)
      .map(({ commands }) => {
        const parts = commands.map(partOf)
        return [JSON.stringify(parts), parts]
      })
  )
  const [parts, ...others] = found.values()
  return others.length > 0 ? undefined : parts
}

/** Returns the pipelines that may have run last. */
const candidates = ({ lists }: CommandTree.CommandTree, exitCode: number): ReadonlyArray<Pipeline> => {
  const isLeft = mayLeave(lists, false)
  const all = pipelinesIn(lists, isLeft)
  if (isLeft) return all
  const { isBackground = false, pipelines = [] } = lists.at(-1) ?? {}
  const run = isBackground ? [] : pipelines.filter(({ commands: [only] }) => only?.isFunction !== true)
  // A loop may run nothing.
  if (run.some(({ commands }) => commands.length === 1 && commands[0]?.keyword !== undefined)) return all
  return exitCode === 0 && !pipelines.some(({ before }) => before === "||") ? run.slice(-1) : run
}

const mayLeave = (lists: ReadonlyArray<List>, isInFunction: boolean): boolean =>
  lists.some(({ pipelines }) =>
    pipelines.some(({ commands }) =>
      commands.some(
        (command) => leaves(command, isInFunction) || mayLeave(command.lists, isInFunction || command.isFunction)
      )
    )
  )

/** Returns the pipelines that run in the shell itself, not in the background or in a subshell. */
const pipelinesIn = (lists: ReadonlyArray<List>, withFunctions: boolean): ReadonlyArray<Pipeline> =>
  lists.flatMap(({ isBackground, pipelines }) =>
    isBackground
      ? []
      : pipelines.flatMap((pipeline) => {
          const [only, ...others] = pipeline.commands
          if (only === undefined || others.length > 0) return [pipeline]
          return only.keyword === "(" || (only.isFunction && !withFunctions)
            ? []
            : pipelinesIn(only.lists, withFunctions)
        })
  )

const partOf = ({ keyword, redirections, words }: Command): Part => {
  const isSilent = redirections.some(
    ({ operator, target }) => /^(?:2>>?|&>>?)$/.test(operator) && target.value === "/dev/null"
  )
  const silent = isSilent ? { isSilent } : {}
  if (keyword !== undefined) return { program: undefined, wrappers: [], ...silent }
  const run = unwrapped(words)
  return {
    ...silent,
    program: run?.[0]?.value,
    wrappers: words.slice(0, words.length - (run?.length ?? 0)).map(({ value }) => value)
  }
}

interface Wrapper {
  /** Options without a value. */
  readonly flags: RegExp
  /** Options whose value is the next word. */
  readonly valued: RegExp
  /** The number of words between the options and the command. */
  readonly operands?: number
}

const never = /(?!)/

/** The wrappers and their options, from the manuals. Any other option ends the search at the wrapper. */
const wrappers: Readonly<Record<string, Wrapper>> = {
  builtin: { flags: never, valued: never },
  command: { flags: /^-p$/, valued: never },
  doas: { flags: /^-[Lns]$/, valued: /^-[Cu]$/ },
  env: {
    flags:
      /^(?:-|-[iv]+|-[uC].+|--(?:ignore-environment|debug|list-signal-handling|(?:unset|chdir)=.*|(?:block|default|ignore)-signal(?:=.*)?))$/,
    valued: /^(?:-[uC]|--unset|--chdir)$/
  },
  exec: { flags: /^-[cl]+$/, valued: /^-a$/ },
  nice: { flags: /^(?:-\d+|-n-?\d+|--adjustment=.*)$/, valued: /^-n$/ },
  nohup: { flags: never, valued: never },
  setsid: { flags: /^(?:-[cfw]+|--ctty|--fork|--wait)$/, valued: never },
  stdbuf: { flags: /^(?:-[ioe].+|--(?:input|output|error)=.*)$/, valued: /^-[ioe]$/ },
  sudo: {
    flags: /^(?:-[ABbEHknPS]+|--(?:non-interactive|preserve-env|set-home|stdin|background|askpass)|--\w[\w-]*=.*)$/,
    valued: /^(?:-[CDghpRrtTuU]|--(?:user|group|host|prompt|chdir|chroot|role|type|command-timeout|other-user))$/
  },
  time: { flags: /^-[pv]$/, valued: /^-[fo]$/ },
  timeout: {
    flags: /^(?:-v|--preserve-status|--foreground|--verbose|--(?:signal|kill-after)=.*|-[sk].+)$/,
    valued: /^(?:-[sk]|--signal|--kill-after)$/,
    operands: 1
  }
}

/**
 * Returns the words of the program that a command runs, without wrappers (`sudo -n`, `env A=1`,
 * `time`). Returns undefined if they do not name it. With an unknown option, or nothing left to run (`command -v x`,
 * `env`), the wrapper itself is the program.
 */
export const unwrapped = (words: ReadonlyArray<Word>): ReadonlyArray<Word> | undefined => {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    const word = words[at]
    if (word === undefined || !pattern.test(word.value)) return false
    at++
    return true
  }
  for (let name = nameAt(words, at); name !== undefined; name = nameAt(words, at)) {
    const from = at
    const wrapper = wrappers[name]
    if (wrapper === undefined) return words.slice(from)
    at++
    for (;;) {
      if (skip(/^--$/)) break
      if (skip(wrapper.valued)) at++
      else if (!skip(wrapper.flags) && !(name !== "builtin" && name !== "command" && skip(/^[A-Za-z_]\w*=/))) break
    }
    at += wrapper.operands ?? 0
    const next = words[at]
    if (next === undefined || (!next.expands && next.value.startsWith("-"))) return words.slice(from)
  }
  return undefined
}

const nameAt = (words: ReadonlyArray<Word>, at: number): string | undefined => {
  const word = words[at]
  return word === undefined || word.expands ? undefined : word.value
}
