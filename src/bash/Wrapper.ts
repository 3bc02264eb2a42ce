/**
 * Commands that run another command: which one is the one that matters.
 *
 * @since 0.1.0
 */
import type { Word } from "./Token.js"

interface Wrapper {
  /** Options that stand alone. */
  readonly flags: RegExp
  /** Options that take the next word as their value. */
  readonly valued: RegExp
  /** How many words stand between the options and the command. */
  readonly operands?: number
}

const never = /(?!)/

/** The options are those that the manuals name; any other ends the search, with the wrapper itself for an answer. */
const wrappers: Readonly<Record<string, Wrapper>> = {
  builtin: { flags: never, valued: never },
  command: { flags: /^-p$/, valued: never },
  doas: { flags: /^-[Lns]$/, valued: /^-[Cu]$/ },
  env: { flags: /^(?:-i|-|--ignore-environment|--unset=.*|--chdir=.*)$/, valued: /^(?:-[uC]|--unset|--chdir)$/ },
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

const assignment = /^[A-Za-z_]\w*\+?=/

/**
 * Finds the program that a command's words run, and returns the words from it on: behind assignments, `sudo -n`, `env A=1`, `time` and their like.
 * Where an option is not known here, or nothing is left to run (`command -v x`, `env`), that is the wrapper itself.
 * undefined where the program is not written there.
 *
 * @since 0.1.0
 */
export const unwrap = (words: ReadonlyArray<Word>): ReadonlyArray<Word> | undefined => {
  let at = 0
  const skip = (pattern: RegExp): boolean => {
    const word = words[at]
    if (word === undefined || !pattern.test(word.value)) return false
    at++
    return true
  }
  while (skip(assignment));
  for (let name = nameAt(words, at); name !== undefined; name = nameAt(words, at)) {
    const from = at
    const wrapper = wrappers[name]
    if (wrapper === undefined) return words.slice(from)
    at++
    for (;;) {
      if (skip(/^--$/)) break
      if (skip(wrapper.valued)) at++
      else if (!skip(wrapper.flags) && !(name !== "builtin" && name !== "command" && skip(assignment))) break
    }
    at += wrapper.operands ?? 0
    const next = words[at]
    if (next === undefined || (!next.expands && next.value.startsWith("-"))) return words.slice(from)
  }
  return undefined
}

/**
 * Names the program that a command's words run, as `unwrap` finds it; undefined where it is not written there.
 *
 * @since 0.1.0
 */
export const programOf = (words: ReadonlyArray<Word>): string | undefined => unwrap(words)?.[0]?.value

const nameAt = (words: ReadonlyArray<Word>, at: number): string | undefined => {
  const word = words[at]
  return word === undefined || word.expands ? undefined : word.value
}
