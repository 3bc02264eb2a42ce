/** Tells how to go on where a program asked somebody who is not there, or a slip in the text is certain. */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"
import * as ExitCode from "../../domain/ExitCode.js"
import type { Facts } from "./Facts.js"

/** Returns what is wrong with a text of which bash said that its syntax is; undefined where that is not certain. */
export const find = (text: string, stderr: string): string | undefined => {
  const near =
    /^bash: (?:-c: )?line \d+: syntax error(?:: unexpected end of file| near unexpected token [`']([^\n]*)')$/m.exec(
      stderr
    )
  if (near === null) return undefined
  const { open, unexpected } = CommandLine.parse(text).tree
  const last = open.at(-1)
  const swallowed = open.find((each) => each.swallowed !== undefined)?.swallowed
  if (swallowed !== undefined)
    return `put ; before the ${swallowed.word} of the ${swallowed.head} on line ${swallowed.line}`
  const isHead = last?.word === "for" && last.needs === "do" && unexpected?._tag === "Word"
  return isHead && near[1] === unexpected.value ? `the for on line ${last.line} has no do` : undefined
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
