/** Tells how to go on where a program asked somebody who is not there, or a slip in the text is certain. */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"
import { isRedirection } from "../../bash/Token.js"
import * as ExitCode from "../../domain/ExitCode.js"
import type { Facts } from "./Facts.js"

/** The words that begin a part of a compound command, and the word that the part needs. */
const needed: Readonly<Record<string, string>> = { elif: "then", for: "do", if: "then", until: "do", while: "do" }
/** The words behind which a command begins. */
const leading = new Set(["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"])

interface Open {
  readonly word: string
  readonly needs: string
  readonly line: number
  /** True where the needed word stands among the words of a command. */
  isSwallowed: boolean
}

/** Returns what is wrong with a text of which bash said that its syntax is; undefined where that is not certain. */
export const find = (text: string, stderr: string): string | undefined => {
  const near =
    /^bash: (?:-c: )?line \d+: syntax error(?:: unexpected end of file| near unexpected token [`']([^\n]*)')$/m.exec(
      stderr
    )
  if (near === null) return undefined
  const open: Array<Open> = []
  let isFirst = true
  let isTarget = false
  for (const token of CommandLine.parse(text).tokens) {
    if (token._tag === "HereDocument" || token._tag === "Comment" || token._tag === "Blank") continue
    if (token._tag === "Newline" || token._tag === "Operator") {
      isTarget = token._tag === "Operator" && isRedirection(token.value)
      isFirst = !isTarget
      continue
    }
    const word = token.quoted ? "" : token.value
    const last = open.at(-1)
    if (isTarget) isTarget = false
    else if (isFirst && word === last?.needs) open.pop()
    else if (isFirst && last?.word === "for" && !last.isSwallowed) {
      return near[1] === word ? `the for on line ${last.line} has no do` : undefined
    } else if (isFirst && /^(?:fi|done|else)$/.test(word) && last?.isSwallowed === true) break
    else if (isFirst && Object.hasOwn(needed, word)) {
      const line = text.slice(0, token.start).split("\n").length
      open.push({ word, needs: needed[word] as string, line, isSwallowed: false })
    } else if (word === last?.needs) {
      // `for x do` is right.
      if (last.word === "for" && /\bfor\s+\w+\s+$/.test(text.slice(0, token.start))) open.pop()
      else last.isSwallowed = true
    }
    isFirst = isFirst && leading.has(word)
  }
  const swallowed = open.find(({ isSwallowed }) => isSwallowed)
  return swallowed === undefined
    ? undefined
    : `put ; before the ${swallowed.needs} of the ${swallowed.word} on line ${swallowed.line}`
}

/** A program that asks: the call, what it printed, and the call that does not ask. */
interface Asking {
  readonly call: RegExp
  readonly said: RegExp
  readonly way: string
}

const asking: ReadonlyArray<Asking> = [
  {
    call: /^git commit(?! .*(?:-\w*[mFC]\b|--message|--file|--no-edit))/,
    said: /^Aborting commit due to empty commit message\.$/m,
    way: "git commit -m '<message>'"
  },
  {
    call: /^npm init(?! .*(?:-y\b|--yes))/,
    said: /^(?:package )?name: \([^\n]*$/m,
    way: "npm init -y takes the defaults"
  },
  {
    call: /^ssh-keygen\b(?! .*-f)/,
    said: /^Enter file in which to save the key/m,
    way: "ssh-keygen -f <file> -N ''"
  },
  {
    call: /^(?:apt|apt-get|aptitude|dnf|yum) (?! *-\w*y)/,
    said: /\[(?:Y\/n|y\/N)\]:? ?(?:Abort\.|Operation aborted\.)?\s*$/,
    way: "-y answers yes"
  }
]

/** Returns the way on; undefined where none is certain. */
export const of = (line: CommandLine.CommandLine, facts: Facts): string | undefined => {
  const { command, result } = facts
  const { exitCode, stderr, stdout } = result
  if (result.category !== undefined) return undefined
  if (isCrlf(command) && /\r|\\r'|syntax error/.test(stderr)) return "its lines end in CRLF: write LF"
  if (command.includes("\u00a0") && /\u00a0|\\302\\240/.test(stderr))
    return "a no-break space (U+00A0) stands in it: write a plain one"
  if (exitCode === ExitCode.notFound) {
    const isSudo = /^bash: (?:line \d+: )?sudo: command not found$/m.test(stderr)
    return isSudo ? "there is no sudo: leave it out" : ofAssignment(line, stderr)
  }
  if (exitCode === 2) return find(command, stderr)
  const missing = /^find: missing argument to [`'‘"]-(exec|execdir|ok|okdir)['’"]$/m.exec(stderr)?.[1]
  if (missing !== undefined) return `-${missing} ends with \\; or +`
  const text = line.simple ? line.text.trim() : ""
  return asking.find(({ call, said }) => call.test(text) && (said.test(stdout) || said.test(stderr)))?.way
}

/** Tests whether all lines of a text end in CRLF, and none is one of a here-document. */
const isCrlf = (text: string): boolean =>
  text.includes("\r\n") &&
  !text.includes("<<") &&
  text.split("\n").every((each, at, all) => each.endsWith("\r") || (at === all.length - 1 && at > 0))

/** Returns the assignment that has blanks around its sign: bash takes its name for a command. */
const ofAssignment = (line: CommandLine.CommandLine, stderr: string): string | undefined => {
  const [first, second, more] = line.words
  if (!line.simple || !/^[A-Za-z_]\w*$/.test(line.name) || first === undefined || !first.value.startsWith("="))
    return undefined
  if (!stderr.includes(`bash: ${line.name}: command not found`) || first.value.startsWith("==")) return undefined
  const raw = ({ end, start }: Word) => line.text.slice(start, end)
  const value = first.value === "=" ? second : undefined
  const isOne = first.value === "=" ? more === undefined : second === undefined
  if (line.text[first.start] !== "=" || !isOne) return "no blanks around the = of an assignment"
  return `no blanks around the =: ${line.name}${raw(first)}${value === undefined ? "" : raw(value)}`
}
