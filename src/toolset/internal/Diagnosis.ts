/**
 * Explains failures: by what programs print, by what exit codes mean, and by which part of a pipeline failed. Each row
 * of the table has an example in `test/fixtures/failures.json`.
 */
import * as Path from "node:path"
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandStatus from "../../bash/CommandStatus.js"
import { isRedirection } from "../../bash/Token.js"
import { builtins } from "../../command/CommandName.js"
import { help } from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import type { FailureCategory } from "../../domain/CommandError.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import type { VisibleFiles } from "../../sandbox/VisibleFiles.js"
import * as Correction from "./Correction.js"
import * as MissingCommand from "./MissingCommand.js"
import * as MissingPath from "./MissingPath.js"

/** The system's words for signals, by exit codes that programs rarely use themselves. */
const words: Readonly<Record<number, string>> = {
  131: "Quit (SIGQUIT)",
  132: "Illegal instruction",
  133: "Trace/breakpoint trap",
  134: "Aborted",
  135: "Bus error",
  136: "Floating point exception",
  137: "Killed (SIGKILL)",
  139: "Segmentation fault",
  141: "Broken pipe (SIGPIPE)",
  143: "Terminated (SIGTERM)",
  152: "CPU time limit exceeded",
  153: "File size limit exceeded",
  159: "Bad system call"
}

/**
 * Names the signal that ended a command. Returns undefined if the exit code may be the program's own, such as git's 129
 * for wrong usage.
 */
export const ofExitCode = (exitCode: number): string | undefined => words[exitCode]

export interface Facts {
  readonly line: CommandLine.CommandLine
  readonly result: CommandResult
  readonly cwd: string
  readonly files: VisibleFiles
  /** The names of Synapse's commands. */
  readonly commands: ReadonlyArray<string>
  readonly here: Correction.Here
  readonly extensions: () => ReadonlyArray<string>
}

export interface Diagnosis {
  /** The line for a model, which follows the command's output. */
  readonly remark: string | undefined
  /** The probable cause, for people too. Undefined if it is unknown, or if the exit code is an answer. */
  readonly cause: string | undefined
  /** How to see the usage of the failed command. */
  readonly hint: Advice.Advice | undefined
  readonly category: FailureCategory | undefined
}

/** A failure that is certain from what a program printed. */
interface Row {
  readonly exitCode?: number
  readonly command?: RegExp
  /** Matches stderr or stdout. */
  readonly says: RegExp
  /** The explanation; `$1` is the first group of `says`. */
  readonly means: string
}

export const rows: ReadonlyArray<Row> = [
  {
    command: /^(?!.*<<)(?:[^\n]*\r\n)+[^\n]*$/s,
    says: /\r|\\r'|syntax error/,
    means: "its lines end in CRLF: write LF"
  },
  {
    command: /\u00a0/,
    says: /\u00a0|\\302\\240/,
    means: "a no-break space (U+00A0) stands in it: write a plain one"
  },
  {
    exitCode: ExitCode.notFound,
    says: /^bash: (?:line \d+: )?sudo: command not found$/m,
    means: "there is no sudo: leave it out"
  },
  {
    exitCode: ExitCode.notFound,
    command: /^\s*[A-Za-z_]\w* = /,
    says: /: command not found$/m,
    means: "no blanks around the = of an assignment"
  },
  {
    says: /^bash: line \d+: unexpected EOF while looking for matching [`'](["'])'$/m,
    means: "a $1 has no end: close it, or use a here-document: <<'EOF'"
  },
  {
    command: /(?:^|[;&|(){\n]|\b(?:then|do|else))\s*if\s(?!.*\bfi\b)/s,
    says: /syntax error: unexpected end of file/,
    means: "an if has no end: fi is missing"
  },
  {
    command: /[;\n]\s*do\s(?!.*\bdone\b)/s,
    says: /syntax error: unexpected end of file/,
    means: "a loop has no end: done is missing"
  },
  {
    says: /^find: missing argument to [`'‘"]-(exec|execdir|ok|okdir)['’"]$/m,
    means: "-$1 ends with \\; or +"
  },
  {
    command: /\bgit commit(?! .*(?:-\w*[mFC]\b|--message|--file|--no-edit))/,
    says: /^Aborting commit due to empty commit message\.$/m,
    means: "git commit -m '<message>'"
  },
  {
    exitCode: ExitCode.success,
    command: /\bgit commit (?=.*--amend)(?!.*(?:-\w*[mFC]\b|--message|--file|--no-edit))/,
    says: /^ Date: /m,
    means: "the message stays as it was: git commit --amend -m '<message>' changes it"
  },
  {
    exitCode: ExitCode.success,
    command: /^(?!.*(?:SEQUENCE_EDITOR|sequence\.editor|--autosquash)).*\bgit rebase .*(?:-\w*i\b|--interactive)/,
    says: /^(?:.*\r)?\s*Successfully rebased/m,
    means:
      "its list of commits stays as it was: GIT_SEQUENCE_EDITOR=\"sed -i '2s/pick/squash/'\" git rebase -i <commit> changes it"
  },
  {
    says: /\b(?:EADDRINUSE|Errno 98|code: 98|98:|bind|nc)\b.*address already in use|address already in use - bind/i,
    means: "another process has that port: job:list names the jobs of this session"
  },
  {
    command: /%\d/,
    says: /^bash: (?:line \d+: )?(?:bg|disown|fg|kill|wait): %\d+: no such job$/m,
    means: "%N is a number of bash's own: job:list names the jobs, and job:stop N ends one"
  },
  {
    command: /^npm init(?! .*(?:-y\b|--yes))/,
    says: /^(?:package )?name: \([^\n]*$/m,
    means: "npm init -y takes the defaults"
  },
  {
    command: /^ssh-keygen\b(?! .*-f)/,
    says: /^Enter file in which to save the key/m,
    means: "ssh-keygen -f <file> -N ''"
  },
  {
    command: /^(?:apt|apt-get|dnf|yum) (?! *-\w*y)/,
    says: /\[(?:Y\/n|y\/N)\]:? ?(?:Abort\.|Operation aborted\.)?\s*$/,
    means: "-y answers yes"
  },
  {
    command: /\bsed\s(?:.*\s)?-\w*i\s+(?:''|"")\s/,
    says: /^sed: can't read /m,
    means: "GNU sed takes no '' behind -i: leave it out"
  },
  { command: /^\s*top\b/, says: /^top: failed tty get/, means: "there is no terminal: top -bn1" },
  {
    exitCode: 1,
    command: /^\s*read -(?:[^<|\n]|\|\|)*$/,
    says: /^$/,
    means: "nobody can be asked: read name <<< 'answer'"
  },
  {
    exitCode: 126,
    says: /^bash: .*: Argument list too long$/m,
    means: "a program takes words of 128 KiB at most: use a pipe, a here-document or a file"
  },
  {
    exitCode: ExitCode.timeout,
    command: /(?:^|[\s;&|(])(?:\S*\/)?timeout\s/,
    says: /^/,
    means: "timeout ended it; give it longer, or let it go on as a job, behind &"
  },
  {
    exitCode: 1,
    says: /^EOFError: EOF when reading a line$|, in _raw_input\n +raise EOFError\nEOFError$/m,
    means: "it asks, and its input is empty: give the answers by <<<, or start it with job:start --pty"
  },
  {
    exitCode: ExitCode.success,
    command: /(?:^|[\s;&|(])(?:cp|ln|mv|rm)\s(?:.*\s)?-\w*[iI]/,
    says: /^(?:cp|ln|mv|rm): [^\n]*\? $/m,
    means: "no answer counted as no: -f does not ask"
  },
  {
    exitCode: ExitCode.success,
    command: /\bgit\s.*\s(?:-p|--patch)\b/,
    says: / this hunk [^\n]*\? $/m,
    means: "no answer counted as no: job:start --pty lets you choose"
  }
]

/** Explains a failure by the table. */
export const ofTable = (
  command: string,
  { category, exitCode, stderr, stdout }: Pick<CommandResult, "category" | "exitCode" | "stderr" | "stdout">
): string | undefined => {
  if (category !== undefined) return undefined
  for (const row of rows) {
    if (exitCode === ExitCode.success ? row.exitCode !== exitCode : (row.exitCode ?? exitCode) !== exitCode) continue
    if (row.command !== undefined && !row.command.test(command)) continue
    const found = row.says.exec(stderr) ?? row.says.exec(stdout)
    // A row for empty output applies only if both streams are empty.
    if (found === null || (found[0] === "" && row.exitCode === 1 && stderr + stdout !== "")) continue
    return row.means.replace("$1", found[1] ?? "")
  }
  return undefined
}

/** What exit code 1 means for programs that answer with it. */
const answers: Readonly<Record<string, string>> = {
  "[": "false",
  cmp: "they differ",
  diff: "they differ",
  egrep: "no match",
  fgrep: "no match",
  grep: "no match",
  pgrep: "no such process",
  rg: "no match",
  test: "false",
  which: "not found"
}

const bare = (program: string): string => program.replace(/^\/(?:usr\/)?bin\//, "")

/** Returns the answer that an exit code means, or undefined if it may be a failure. */
const answerOf = (line: CommandLine.CommandLine, result: CommandResult): string | undefined => {
  const { exitCode, left, pipeline, stderr, stdout } = result
  const names = candidates(line, left)
  const [name = "", ...others] = names.length > 1 && stderr === "" ? withoutOutspoken(line, names) : names
  if (others.length > 0 || (pipeline !== undefined && pipeline.at(-1) !== exitCode)) return undefined
  if (exitCode === 123 && name === "xargs") {
    const isSearch = /\bxargs\b.*\s[efz]?grep\s/.test(line.text) && stdout === "" && stderr === ""
    return isSearch ? "no match" : "a command that xargs ran failed"
  }
  // Without the pipeline's exit codes, stderr may explain the exit code 1. With them, it may come from another part.
  if (exitCode !== 1 || (stderr !== "" && pipeline === undefined)) return undefined
  const [first, second] = line.simple ? line.words.map(({ value }) => value) : []
  if (bare(name) === "grep" && line.simple && line.input === undefined && first !== undefined && second === undefined)
    return `no file was given: grep -r ${line.rest.trim()} .`
  if (name === "command" && /^-[vV]$/.test(first ?? "")) return "not found"
  if (name === "git" && first === "grep") return "no match"
  if (name === "git" && first === "diff" && /--(?:exit-code|quiet|no-index)\b/.test(line.text)) return "they differ"
  return Object.hasOwn(answers, bare(name)) ? answers[bare(name)] : undefined
}

/** Commands that practically always succeed. They are named only if no other command can have failed. */
const succeeding = new Set(["true", "false", ":", "echo", "printf"])
/** Commands that only pass on a status. */
const leaving = new Set(["exit", "return"])
/** Builtins that never fail without a bash message. */
const outspoken = new Set([".", "cd", "export", "popd", "pushd", "source", "unset"])
/** Commands that run others and return their status. */
const passing = new Set([".", "bash", "coproc", "dash", "eval", "ksh", "sh", "source", "ssh", "sudo", "xargs", "zsh"])

/**
 * Returns the commands that may have caused a line's exit code, in order. Returns an empty list if the text does not
 * tell.
 */
export const candidates = (line: CommandLine.CommandLine, hasLeft = false): ReadonlyArray<string> => {
  const list = CommandStatus.deciders(line.tree, hasLeft)
  if (list === undefined || list.includes(undefined)) return []
  const names = list.filter((name): name is string => name !== undefined && !leaving.has(name))
  const telling = names.filter((name) => !succeeding.has(name))
  return [...new Set(telling.length === 0 && line.simple ? names : telling)].slice(0, 3)
}

/** Removes the commands whose failure bash would have reported. */
const withoutOutspoken = (line: CommandLine.CommandLine, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  line.tokens.some((token) => token._tag === "Operator" && isRedirection(token.value) && /^(?:2|&)/.test(token.value))
    ? names
    : names.filter((name) => !outspoken.has(name))

/** Returns the only program of a line that can be missing after exit code 127. */
const missing = (line: CommandLine.CommandLine, hasLeft = false): string | undefined => {
  const [name, ...others] = candidates(line, hasLeft).filter((name) => !builtins.has(name))
  return others.length === 0 ? name : undefined
}

/** Returns the command that failed. Returns undefined if that is not certain, or if it did not start. */
const failedCommand = (
  line: CommandLine.CommandLine,
  { exitCode, left, notFound, stderr }: CommandResult
): string | undefined => {
  if (exitCode === ExitCode.notFound) {
    const name = notFound ?? missing(line, left)
    return name === undefined || passing.has(name) ? undefined : name
  }
  // Exit codes 124 to 126 come from `timeout`, or from bash when it can't execute a file; those above 128 from signals.
  if (exitCode >= ExitCode.timeout && exitCode < 255) return undefined
  const names = candidates(line, left)
  const said = Array.from(stderr.matchAll(/^bash: (?:line \d+: )?(.*?): /gm), ([, name]) => name).at(-1)
  const [name, ...others] = said === undefined ? withoutOutspoken(line, names) : names.filter((name) => name === said)
  if (name === undefined || others.length > 0 || passing.has(name)) return undefined
  // With `pipefail`, any command of a pipe can have failed.
  const isPiped = line.tokens.some((token) => token._tag === "Operator" && /^\|&?$/.test(token.value))
  return isPiped && !stderr.split("\n").some((each) => each.startsWith(`${Path.basename(name)}: `)) ? undefined : name
}

/** Returns the command after the word `bash`, or the line itself. */
const lineOf = (line: CommandLine.CommandLine): CommandLine.CommandLine => {
  const first = line.name === "bash" ? line.tail[0] : undefined
  const isCommand =
    first?._tag === "Word" &&
    !first.quoted &&
    /^[\w.][\w.+-]*$/.test(first.value) &&
    !/\.(?:sh|bash)$/.test(first.value)
  return isCommand ? CommandLine.parse(line.rest) : line
}

/** Matches names that a hint can show unquoted. */
const nameable = /^(?:[\w./:@%+,][\w./:@%+,-]*|\[)$/

/** Advises how to see the usage of the failed command (S16). */
const hintOf = (
  name: string | undefined,
  meant: MissingCommand.Meant | undefined,
  { here, result }: Facts
): Advice.Advice | undefined => {
  // Synapse commands report their usage themselves.
  if (name === undefined || !nameable.test(name) || result.category !== undefined) return undefined
  if (result.exitCode !== ExitCode.notFound || !MissingCommand.isMissing(name, result))
    return Advice.line`${help(name)} shows how to use ${name}.`
  if (meant?.command !== undefined) {
    return nameable.test(meant.command)
      ? meant.isTool
        ? Advice.line`${help(meant.command)} shows how to use ${meant.command}, the command here for ${name}.`
        : Advice.line`${help(meant.command)} shows how to use ${meant.command}, if ${name} was to be that.`
      : undefined
  }
  if (Correction.isTool(name)) return undefined
  const advice = Advice.line`${help(name)} shows how to use ${name}, where there is one.`
  return here.offers("command:search") && !name.includes("/")
    ? Advice.line`${Advice.run(`command:search ${name}`)} finds commands like it; ${advice}`
    : advice
}

/**
 * Returns the category of a failure. If bash did not find a path or the program of an `exec`, only the exit code tells
 * it.
 */
const categoryOf = (
  line: CommandLine.CommandLine,
  { category, exitCode }: CommandResult
): FailureCategory | undefined =>
  category ??
  (exitCode === ExitCode.notFound &&
  line.simple &&
  (line.name.includes("/") || line.name === "exec") &&
  missing(line) !== undefined
    ? "command_not_found"
    : undefined)

/** Tests whether a line surely runs `read -p` with an empty input: what is conditional may not have run. */
const asksNobody = ({ tree }: CommandLine.CommandLine): boolean =>
  tree.lists.some(({ pipelines: [first] }) => {
    const [command] = first?.commands ?? []
    const [name, ...options] = command?.words.map(({ value }) => value) ?? []
    const hasInput = command?.redirections.some(({ operator }) => operator.includes("<")) !== false
    return name === "read" && !hasInput && options.some((word) => /^-[a-z]*p/.test(word))
  })

/** A cheap test that skips most results, which need no diagnosis. */
export const mayTell = (command: string, { exitCode, movedTo, pipeline, stderr, stdout }: CommandResult): boolean =>
  command.includes("read -") ||
  exitCode !== ExitCode.success ||
  movedTo !== undefined ||
  pipeline !== undefined ||
  stderr !== "" ||
  stdout.endsWith("? \n") ||
  // `git commit --amend` prints this.
  stdout.includes("\n Date: ")

export const make = (facts: Facts): Diagnosis => {
  const { cwd, line: whole, result } = facts
  const { exitCode, movedTo, stderr } = result
  if (exitCode === ExitCode.success) {
    const failed = failuresIn(whole, result, false)
    const who = failed.length === 0 ? undefined : `[${textOf(failed)}]`
    const meant = who === undefined ? undefined : (ofStage(whole, facts) ?? pathMeant(whole, facts))
    const asked = ofTable(whole.text, result)
    // `cd -` and `pwd` print it.
    const isPrinted = movedTo !== undefined && `\n${result.stdout}`.endsWith(`\n${movedTo}\n`)
    const remark = joined([
      who,
      asked === undefined ? undefined : `[${asked}]`,
      // A person at a terminal can be asked, and sees no remark.
      asksNobody(whole) ? "[nobody can be asked: read name <<< 'answer']" : undefined,
      slashed(stderr),
      ...withDirectory(meant, isPrinted ? undefined : movedTo)
    ])
    return { remark, cause: asked, hint: undefined, category: undefined }
  }
  const line = lineOf(whole)
  const said = curlyQuotes(line, result) ?? slashed(stderr) ?? ofTable(whole.text, result)
  const meant = said === undefined ? MissingCommand.meant(line, missing(line), facts) : undefined
  const cause = said ?? meant?.text ?? causeOf(line, facts)
  const meaning = cause ?? answerOf(line, result)
  const failed = failuresIn(whole, result, meaning === undefined)
  const told = [meaning, failed.length === 0 ? undefined : textOf(failed)].filter((part) => part !== undefined)
  const text = told.length === 0 ? undefined : told.join("; ")
  const isElsewhere = text === undefined && exitCode !== ExitCode.notFound && MissingPath.isRelative(stderr)
  const isScript = text === undefined && exitCode === ExitCode.notFound && MissingPath.isRelative(bashIn(stderr))
  const directory = movedTo ?? (isElsewhere || isScript ? cwd : undefined)
  return {
    remark: joined([`[exit ${exitCode}]`, ...withDirectory(text, directory)]),
    cause,
    hint: hintOf(failedCommand(line, result), meant, facts),
    category: categoryOf(whole, result)
  }
}

const bashIn = (stderr: string): string =>
  stderr
    .split("\n")
    .filter((line) => line.startsWith("bash: "))
    .join("\n")

const joined = (parts: ReadonlyArray<string | undefined>): string | undefined =>
  parts.filter((part) => part !== undefined).join(" ") || undefined

/**
 * Puts the directory after a meaning. It goes before a meaning of several lines, since the last may end a
 * here-document.
 */
const withDirectory = (
  meaning: string | undefined,
  directory: string | undefined
): ReadonlyArray<string | undefined> => {
  const where = directory === undefined ? undefined : `(in ${directory.replace(/[\x00-\x1f\x7f]/g, "?")})`
  return meaning?.includes("\n") === true ? [where, meaning] : [meaning, where]
}

const causeOf = (line: CommandLine.CommandLine, facts: Facts): string | undefined => {
  const { exitCode, stderr } = facts.result
  if (exitCode === ExitCode.notFound) return pathMeant(line, facts)
  const signal = ofExitCode(exitCode)
  // Skip an exit code that the command itself names, and a signal that bash has already printed.
  const isTold =
    signal === undefined || stderr.includes(signal.replace(/ \(.*/, "")) || facts.line.text.includes(`${exitCode}`)
  return (isTold ? undefined : signal) ?? pathMeant(line, facts)
}

/** Suggests an existing file for a path that was not found. */
const pathMeant = (line: CommandLine.CommandLine, { cwd, files, result }: Facts): string | undefined =>
  MissingCommand.didYouMean(MissingPath.meant(line, result.stderr, result.movedTo ?? cwd, files))

/** Suggests a command if bash did not find exactly one part of a pipeline. */
const ofStage = (line: CommandLine.CommandLine, facts: Facts): string | undefined => {
  const [name, ...others] = MissingCommand.missedIn(facts.result.stderr)
  return name === undefined || others.length > 0
    ? undefined
    : MissingCommand.meant(line, name, { ...facts, result: { ...facts.result, notFound: name } })?.text
}

/** Explains how to call an MCP tool or a skill with a slash in its name, which bash takes for a path. */
const slashed = (stderr: string): string | undefined => {
  const name =
    stderr === ""
      ? undefined
      : /^bash: (?:line \d+: )?((?:mcp|skill):[^/\s]+\/\S*): No such file or directory$/m.exec(stderr)?.[1]
  return name === undefined ? undefined : `bash takes a name with a / for a path: write ${name.replaceAll("/", ":")}`
}

/** Explains that bash reads curly quotes as letters, if words with them made the command fail. */
export const curlyQuotes = (
  { text, tokens }: CommandLine.CommandLine,
  { exitCode, stderr }: Pick<CommandResult, "exitCode" | "stderr">
): string | undefined => {
  if (!/[“”„‘’]/.test(text)) return undefined
  const found = tokens
    .flatMap((token) => (token._tag === "Word" ? [text.slice(token.start, token.end)] : []))
    .find((word) => /^(?:[\w-]+=)?[“”„‘]|[“”’]$/.test(word))
  const isBy =
    exitCode === ExitCode.notFound || /[“”„‘’]|^bash: .*(?:syntax error|unexpected EOF)|No such file/m.test(stderr)
  if (found === undefined || !isBy) return undefined
  return /[‘’]/.test(found) ? "‘ and ’ are letters to bash: quote with '" : '“ and ” are letters to bash: quote with "'
}

interface Failure {
  readonly name: string | undefined
  readonly code: number
  readonly text: string
}

const textOf = (failed: ReadonlyArray<Failure>): string => failed.map(({ text }) => text).join(", ")

/** Returns the failed parts of the last pipeline, without its last part unless `withLast`. */
export const failuresIn = (
  line: CommandLine.CommandLine,
  { exitCode, pipeline = [], stderr }: Pick<CommandResult, "exitCode" | "pipeline" | "stderr">,
  withLast: boolean
): ReadonlyArray<Failure> => {
  const parts = pipeline.length < 2 ? undefined : CommandStatus.lastPipeline(line.tree, pipeline, exitCode)
  return (parts ?? []).flatMap((part, index) => {
    const code = pipeline[index] ?? 0
    const isLast = index === pipeline.length - 1
    if (code === 0 || code === ExitCode.brokenPipe || (isLast && !withLast)) return []
    // A part whose messages are discarded is expected to have some, such as find in unreadable directories.
    if (!isLast && part.isSilent && code === 1) return []
    if (!isLast && part.program !== undefined && code === 1 && Object.hasOwn(answers, Path.basename(part.program)))
      return []
    const name = exitedProgram(part, code, stderr)
    return {
      name,
      code,
      text: `${name ?? `part ${index + 1} of the pipeline`} exited ${code}${why(part, code, stderr)}`
    }
  })
}

/**
 * Names the program that the exit code is from: a wrapper such as `env`, if stderr shows that it failed, or the program
 * that it runs.
 */
const exitedProgram = ({ program, wrappers }: CommandStatus.Part, code: number, stderr: string): string | undefined => {
  const wrapper = wrappers.find((name) =>
    stderr
      .split("\n")
      .some(
        (line) =>
          (code === ExitCode.notFound && line.startsWith("bash: ") && line.endsWith(`${name}: command not found`)) ||
          (line.startsWith(`${Path.basename(name)}: `) && !line.includes("unable to resolve host"))
      )
  )
  return wrapper ?? program
}

/** Explains an exit code that has a fixed meaning. */
const why = ({ wrappers }: CommandStatus.Part, code: number, stderr: string): string => {
  if (code === ExitCode.timeout) return wrappers.includes("timeout") ? ": timeout ended it" : ""
  const signal = ofExitCode(code)
  return signal === undefined || stderr.includes(signal.replace(/ \(.*/, "")) ? "" : `: ${signal}`
}
