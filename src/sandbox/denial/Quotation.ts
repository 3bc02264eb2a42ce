/**
 * Recognises messages of refusals that a command only prints: words of the command itself, a text in quotes, a line of a
 * diff, and another program's message in the report of a test run. They prove no denial.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../../bash/CommandLine.js"
import { isRedirection } from "../../bash/Token.js"
import { longestMessage, type Refused } from "./Wording.js"

/** Matches a message that is quoted as a whole, with the program that says it: `'cat: .env: …`, `+ cat: .env: …`. */
const quoted = /(?:^\s*[-+<>|#*E]\s+|(?<!\w)["'`“‘])(?:[\w.+-]*\/)*[\w.+-]+: [^"'`“”‘’]*$/

/** Matches the program that a message begins with. */
const speaker = /^\s*(?:[\w.+-]*\/)*([A-Za-z][\w.+-]*): /

/**
 * Matches the reports of test runs: TAP, node, pytest, unittest, jest, vitest, mocha, go, cargo. Nothing in it goes past a
 * line's end: an output of many empty lines would take a time that grows with its square.
 */
const reports =
  /^[ \t]*(?:ok|not ok) \d+\b|^[^\w\n]*(?:tests|pass|fail) \d+$|\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b|^Ran \d+ tests?\b|^[ \t]*--- FAIL: |^[ \t]*(?:PASS|FAIL)\b|^[ \t]*Tests?:? +\d+ |^test result: /m

/**
 * Tests whether texts hold the report of a test run, in which programs' messages may be printed.
 *
 * @since 0.1.0
 * @category reading
 */
export const isReport = (...texts: ReadonlyArray<string>): boolean => texts.some((text) => reports.test(text))

/** Matches the name of an exception, before its own message. */
const exception = /^(?:Uncaught )?[\w.$]{0,100}(?:Error|Exception)(?: \[\w+\])?: /

/** Tests whether the command itself raises an exception with the words of a refusal, so that nothing needs to have refused. */
const isRaised = (command: string, said: string, words: string): boolean => {
  const message = said.replace(exception, "")
  if (message === said) return false
  if (message.length > 8 && command.includes(message)) return true
  const literal = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return words !== "" && new RegExp(`\\b(?:raise|throw)\\b[^\\n;]{0,80}["'\`]${literal}`, "i").test(command)
}

/**
 * Tests whether a line only quotes a refusal.
 *
 * @since 0.1.0
 * @category reading
 */
export const isQuoted = (
  command: string,
  line: string,
  { after, before }: Pick<Refused, "before"> & Partial<Pick<Refused, "after">>,
  inReport: boolean
): boolean => {
  const said = line.trim()
  if (said.length > 8 && command.includes(said)) return true
  const words = after === undefined ? "" : line.slice(before.length, line.length - after.length)
  if (said.length <= longestMessage && isRaised(command, said, words)) return true
  const near = before.slice(-longestMessage)
  if (quoted.test(near)) return true
  const [, name] = inReport ? (speaker.exec(near) ?? []) : []
  return name !== undefined && !name.endsWith("Error") && !mentions(command, name)
}

/** The commands that open no file. */
const speaking = new Set([":", "echo", "exit", "false", "printf", "return", "true"])

/** The most characters of a command whose words are examined. */
const mostExamined = 10_000

/**
 * Tests whether a command does nothing but print, so that its messages are its own words.
 *
 * @since 0.1.0
 * @category reading
 */
export const isOnlyPrinted = (command: string): boolean => {
  if (command.length > mostExamined || /`|[$<>]\(/.test(command)) return false
  const { tokens } = CommandLine.parse(command)
  let isName = true
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "Newline") isName = true
    else if (token._tag === "Operator") {
      const next = tokens[at + 1]
      const isCopy = token.value === ">&" && next?._tag === "Word" && /^\d$/.test(next.value)
      if (isRedirection(token.value) && !isCopy) return false
      if (!isRedirection(token.value)) isName = true
    } else if (token._tag === "Word") {
      const before = tokens[at - 1]
      if (before?._tag === "Operator" && isRedirection(before.value)) continue
      if (!isName || /^\w+=/.test(token.value)) continue
      if (!speaking.has(token.value)) return false
      isName = false
    }
  }
  return true
}

/**
 * Matches what shows texts of files or of a history, unless it only takes what a pipe gives it: a refusal in its output
 * may be anybody's.
 */
const showing =
  /(?<!(?<!\|)\|&?[ \t]{0,20})\b(?:awk|bat|cat|cmp|comm|cut|diff|e?grep|fold|head|jq|less|more|nl|od|paste|rev|rg|sed|sort|strings|tac|tail|uniq|xxd|zcat)\b|\bgit\b[^|;&\n]{0,200}?\s(?:blame|diff|grep|log|show)\b/

/**
 * Returns the lines of an output that programs of its command say themselves, by what they begin with: the program's name
 * in the command, bash's, or that of an exception. None where the command shows what files hold, or a report of tests.
 *
 * @since 0.1.0
 * @category reading
 */
export const spokenIn = (command: string, output: string): string =>
  command.length > mostExamined || showing.test(command) || isReport(output)
    ? ""
    : output
        .split("\n")
        .filter((line) => {
          const [, name] = speaker.exec(line.slice(0, longestMessage)) ?? []
          return name !== undefined && (name === "bash" || name.endsWith("Error") || mentions(command, name))
        })
        .join("\n")

/** Matches what zip says on standard output, and nowhere else: the system's words, and the name in the next line. */
const ofZip = /^zip I\/O error: .*\nzip error: .*$/gm

/**
 * Returns the messages that programs of a command write to standard output, though nothing sends their errors there.
 *
 * @since 0.1.0
 * @category reading
 */
export const spokenOnStdout = (command: string, stdout: string): string =>
  command.length <= mostExamined && mentions(command, "zip") && !showing.test(command)
    ? (stdout.match(ofZip)?.join("\n") ?? "")
    : ""

/** Tests whether a command names a program. */
const mentions = (command: string, name: string): boolean => command.split(/[^\w.+-]+/).includes(name)
