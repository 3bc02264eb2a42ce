/**
 * Finds calls of programs that follow a file or a log, and would go on until their timeout.
 *
 * @since 0.1.0
 */
import type { Word } from "../bash/Token.js"
import * as LastCommand from "./LastCommand.js"

/**
 * A call that does not end by itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endless {
  readonly program: string
  readonly reason: string
  /** The command that shows what there is now; undefined where it is not known. */
  readonly instead: string | undefined
}

/** A program that can follow: by which option, and how it is called without. */
interface Follower {
  readonly option: RegExp
  readonly named: string
  readonly instead: (words: ReadonlyArray<string>) => string
  /** Matches the options that end it all the same. */
  readonly ending?: RegExp
  readonly needsFile?: true
}

/** Matches words that hold letters for options, of which f or F is one: `-f`, `-fn5`, `-20f`. */
const letters = /^-(?:\d*[qvz]*[fF][qvz]*(?:[nc]\+?\d*)?|\d+[fF])$/

const followers: Readonly<Record<string, Follower>> = {
  dmesg: {
    option: /^(?:-[wW]|--follow(?:-new)?)$/,
    named: "dmesg -w",
    instead: (words) => ["dmesg", ...words].join(" ")
  },
  journalctl: {
    option: /^(?:-f|--follow)$/,
    named: "journalctl -f",
    instead: (words) =>
      ["journalctl", ...(words.some((word) => /^(?:-n|--lines)/.test(word)) ? [] : ["-n 10"]), ...words].join(" ")
  },
  less: {
    option: /^\+F$/,
    named: "less +F",
    instead: (words) => ["tail", ...words.filter((word) => !word.startsWith("-"))].join(" "),
    needsFile: true
  },
  tail: {
    option: new RegExp(`${letters.source}|^--follow(?:=(?:name|descriptor))?$`),
    named: "tail -f",
    instead: (words) => ["tail", ...words.filter((word) => word !== "--retry")].join(" "),
    ending: /^(?:--pid|--help|--version|-s|--sleep-interval)/,
    needsFile: true
  }
}

/**
 * Returns what is wrong with a call of such a program as the last command of a text; undefined where something ends it, or
 * anything of the text is redirected or piped.
 *
 * @since 0.1.0
 */
export const find = (text: string): Endless | undefined => {
  if (!/\b(?:tail|journalctl|dmesg|less)\b/.test(text) || text.length > LastCommand.longestRead) return undefined
  const [program, ...operands] = LastCommand.words(text)
  if (program === undefined || program.quoted || !Object.hasOwn(followers, program.value)) return undefined
  const { ending, instead, named, needsFile, option } = followers[program.value] as Follower
  const isOption = ({ quoted, value }: Word) => !quoted && option.test(value)
  const others = operands.filter((word) => !isOption(word))
  const hasFile = others.some(({ value }) => !value.startsWith("-"))
  const ends = operands.some(({ value }) => ending?.test(value) === true)
  if (others.length === operands.length || ends || (needsFile === true && !hasFile)) return undefined
  const kept = operands.flatMap((word) => {
    const rest = isOption(word) ? restOf(word.value) : text.slice(word.start, word.end)
    return rest === "" ? [] : [rest]
  })
  return {
    program: program.value,
    reason: `${named} does not end by itself; to see what comes in some time, give timeout=<ms>`,
    instead: operands.every(({ closed }) => closed)
      ? `${text.slice(0, program.start).trimStart()}${instead(kept)}`
      : undefined
  }
}

/** Returns what other letters stand in the word of the option that follows. */
const restOf = (word: string): string => {
  const rest = letters.test(word) ? word.replace(/[fF]/, "") : ""
  return rest === "-" ? "" : rest
}
