/** Decides where a server's program starts, and refuses one that looks for its code in a directory that commands may write. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as NamedFiles from "../NamedFiles.js"

/**
 * A program that runs a file. `code` matches words that take code, a module or a task instead, and `value` options with any
 * other value.
 */
interface Interpreter {
  readonly names: RegExp
  readonly code: RegExp
  readonly value: RegExp
}

const interpreters: ReadonlyArray<Interpreter> = [
  {
    names: /^(?:node(?:js)?|bun|deno|tsx|ts-node)$/,
    code: /^(?:-e|-p|-pe|--eval|--print|--run)(?:=|$)|^(?:run|task|x)$/,
    value:
      /^(?:-r|--require|--import|--loader|--experimental-loader|--preload|-C|--conditions|--env-file|-c|--config|--tsconfig|--project)$/
  },
  { names: /^py(?:thon|py)[\d.]*$/, code: /^-[A-Za-z]*[cm]/, value: /^-[A-Za-z]*[WX]$/ },
  { names: /^(?:ruby|perl)[\d.]*$/, code: /^-[A-Za-z]*[eE]/, value: /^-[rICMm]$/ },
  { names: /^php[\d.]*$/, code: /^-[rBRES]/, value: /^-[cdzt]$/ },
  { names: /^(?:ba|da|a|z|k)?sh$/, code: /^-[A-Za-z]*c/, value: /^[-+][A-Za-z]*[oO]$/ },
  { names: /^(?:lua(?:jit)?[\d.]*|pwsh)$/, code: /^-(?:e|c|Command)$/, value: /^-l$/ },
  { names: /^java$/, code: /^[^-].*(?<!\.(?:jar|java))$/, value: /^-(?:cp|p|-?class-?path|-module-path)$/ },
  { names: /^dotnet$/, code: /^[^-].*(?<!\.dll)$/, value: /^--(?:depsfile|runtimeconfig|additionalprobingpath)$/ }
]

/** Matches subcommands that run the file after them. */
const subcommands = /^(?:deno run|tsx watch|dotnet exec)$/

/** Matches code that an interpreter fetches, or reads from standard input. */
const address = /^(?:[a-z][\w+.-]+:|-$)/

const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py"].concat(
  ["index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"].map((name) => `/${name}`)
)

type IsWritable = (path: string) => boolean

const isOption = (word: string): boolean => /^-|^\+[A-Za-z]+$/.test(word)

/** The file that a program runs and commands may write: itself, or the script of an interpreter. */
interface Launch {
  readonly script?: string
  /** True if the program's code is told by its words, and is not looked for in the working directory. */
  readonly isFixed?: boolean
}

const interpreted = (args: ReadonlyArray<string>, cwd: string, { code, names, value }: Interpreter): Launch => {
  let mayBeValue = false
  let isIsolated = false
  for (const [at, word] of args.entries()) {
    if (value.test(args[at - 1] ?? "")) continue
    if (word === "--") return args[at + 1] === undefined ? {} : { script: args[at + 1] ?? "" }
    isIsolated ||= /^-[A-Za-z]*[IP]/.test(word)
    if (code.test(word)) return { isFixed: isIsolated && names.test("python") && /^-[A-Za-bd-z]*m/.test(word) }
    if (isOption(word)) {
      mayBeValue = !value.test(word) && !word.includes("=")
    } else if (
      mayBeValue &&
      !address.test(word) &&
      !endings.some((ending) => Fs.existsSync(NamedFiles.within(cwd, word + ending)))
    ) {
      mayBeValue = false
    } else return { script: word }
  }
  return {}
}

const launch = ({ args, command, cwd }: NamedFiles.Program, isWritable: IsWritable): Launch => {
  const name = Path.basename(command)
  const interpreter = interpreters.find(({ names }) => names.test(name))
  const words = subcommands.test(`${name} ${args[0]}`) ? args.slice(1) : args
  const launched = interpreter === undefined ? { script: command } : interpreted(words, cwd, interpreter)
  const { script } = launched
  if (script === undefined) return launched
  // Any other program may be one that runs what the directory's files define, such as npm.
  const path = NamedFiles.within(cwd, script)
  const isOpen =
    isWritable(path) &&
    (interpreter === undefined ? command.includes("/") && NamedFiles.isFile(path) : !address.test(script))
  return isOpen ? launched : { isFixed: interpreter !== undefined && !address.test(script) }
}

const noFile = (word: string, { command, cwd }: NamedFiles.Program): string | undefined => {
  const path = NamedFiles.within(cwd, word)
  if (NamedFiles.isFile(path)) return NamedFiles.isDatabase(path) ? `${word} is a database, and no program` : undefined
  const ending = endings.find((one) => NamedFiles.isFile(path + one))
  const example = ending === undefined ? "" : `, as ${Path.basename(command)} ${Path.posix.normalize(word + ending)}`
  return `there is no file ${word}, and commands could write the one that ${Path.basename(command)} runs instead: name a file that exists${example}`
}

/** Returns a directory and its parents. */
export const upwards = (directory: string): ReadonlyArray<string> =>
  directory === "/" ? ["/"] : [directory, ...upwards(Path.dirname(directory))]

/**
 * Returns why a program can't start: it works in a directory where commands may decide what it runs. Undefined if its
 * words tell the file that it runs, or if commands can't write there.
 */
export const refusal = (program: NamedFiles.Program, isWritable: IsWritable): string | undefined => {
  const { isFixed, script } = launch(program, isWritable)
  if (script !== undefined) return noFile(script, program)
  const place = upwards(program.cwd).find(isWritable)
  if (place === undefined || isFixed === true) return undefined
  const what = [Path.basename(program.command), ...program.args.filter((word) => !isOption(word)).slice(0, 1)].join(" ")
  return `commands decide what ${what} runs, for they may write to ${place}: name the program's own file, or leave "cwd" out and name files and directories by their full paths`
}

/**
 * Moves a program out of the project, where commands could put files that it takes for its own. Paths among its words
 * become absolute. A program stays if its words tell the file that it runs.
 */
export const locate = (program: NamedFiles.Program, elsewhere: string, isWritable: IsWritable): NamedFiles.Program => {
  const { args, command, cwd, env } = program
  if (launch(program, isWritable).script !== undefined) return program
  const absolute = (word: string): string => {
    const [, option = "", text = ""] = /^(-[^=]*=)?(.*)$/s.exec(word) ?? []
    const path = NamedFiles.within(cwd, text)
    const isNamed = /^\.{1,2}(?:\/|$)/.test(text) || (/^[^/].*[./]/.test(text) && NamedFiles.isFile(path))
    return isNamed ? option + path : word
  }
  const variables = Object.entries(env).map(([name, value]) => [name, absolute(value)])
  return { command: absolute(command), args: args.map(absolute), env: Object.fromEntries(variables), cwd: elsewhere }
}
