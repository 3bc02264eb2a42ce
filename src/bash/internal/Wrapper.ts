/** Finds the command that matters behind commands which run another one. */
import type { Word } from "../Token.js"

interface Wrapper {
  /** Options without a value. */
  readonly flags: RegExp
  /** Options whose value is the next word. */
  readonly valued: RegExp
  /** The number of words between the options and the command. */
  readonly operands?: number
}

const never = /(?!)/

/**
 * The wrappers and their options, as the manuals name them; any other option ends the search, and the wrapper itself is
 * the result.
 */
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

/** Returns the words from the program on that they run; undefined where they do not name it. */
export const unwrapped = (words: ReadonlyArray<Word>): ReadonlyArray<Word> | undefined => {
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
 * Returns the name of the program that a command's words run, behind assignments, `sudo -n`, `env A=1`, `time` and the
 * like. Where an option is not known, or nothing is left to run (`command -v x`, `env`), the wrapper itself is the
 * program. Returns undefined where the words do not name the program.
 */
export const programOf = (words: ReadonlyArray<Word>): string | undefined => unwrapped(words)?.[0]?.value

const nameAt = (words: ReadonlyArray<Word>, at: number): string | undefined => {
  const word = words[at]
  return word === undefined || word.expands ? undefined : word.value
}
