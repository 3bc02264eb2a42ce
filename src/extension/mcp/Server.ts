/** One server of a file, by itself: what it is, and which of its files are to be trusted. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Definition from "./Definition.js"
import * as Expanded from "./internal/Expanded.js"
import type { HeldFiles } from "./internal/HeldFiles.js"
import * as Interpreter from "./internal/Interpreter.js"
import * as PackageRunner from "./internal/PackageRunner.js"
import type { Program } from "./internal/Program.js"
import { after, isPlain, nameOf, valueOf } from "./internal/Program.js"
import * as Wrapper from "./internal/Wrapper.js"
import type { McpServer } from "./McpClient.js"
import * as NamedFiles from "./NamedFiles.js"
import * as ServerName from "./ServerName.js"

/** Tests whether commands may write to a path. */
type IsWritable = (path: string) => boolean

const statsOf = (path: string): Fs.Stats | undefined => {
  try {
    return Fs.statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Returns the directory and all above it, which package managers and interpreters look into. */
const upwards = (directory: string): ReadonlyArray<string> => {
  const up = Path.dirname(directory)
  // Where a package begins, they look no further.
  const isEnd = up === directory || statsOf(`${directory}/package.json`)?.isFile() === true
  return isEnd ? [directory] : [directory, ...upwards(up)]
}

/** Returns the place of those in which commands decide what runs: the directory, or one that a word names. */
const openTo = (words: ReadonlyArray<string>, cwd: string, isWritable: IsWritable): string | undefined =>
  upwards(cwd).find(isWritable) ??
  words
    .map((word) => Path.resolve(cwd, valueOf(word)))
    .find((path) => statsOf(path) !== undefined && upwards(path).some(isWritable))

const endings = [
  ".js",
  ".mjs",
  ".cjs",
  ".ts",
  ".mts",
  ".py",
  "/index.js",
  "/index.mjs",
  "/index.cjs",
  "/index.ts",
  "/__main__.py"
]

const noFile = (word: string, { command, cwd }: Program, isWritable: IsWritable): string | undefined => {
  if (/^(?:[a-z][\w+.-]+:|-$)/.test(word)) return undefined
  const path = word.split("/").includes("..") && !word.startsWith("/") ? `${cwd}/${word}` : Path.resolve(cwd, word)
  if (!isWritable(path) || statsOf(path)?.isFile() === true) return undefined
  const ending = endings.find((one) => statsOf(path + one)?.isFile() === true)
  const example = ending === undefined ? "" : `, as ${nameOf(command)} ${Path.posix.normalize(word + ending)}`
  return `${word} is no file, and commands may write the one that ${nameOf(command)} would find by it: name the file itself${example}`
}

const undecided = (what: string, place: string): string =>
  `commands decide what ${what} runs, for they may write to ${place}: name the program's own file`

const ofInterpreter = (
  program: Program,
  { code, with: takesNext }: Interpreter.Interpreter,
  isWritable: IsWritable
): string | undefined => {
  const { cwd, command } = program
  const name = nameOf(command)
  const isPython = /^py/.test(name)
  let args = program.args
  if (name === "deno" || name === "bun") {
    const first = args.find(isPlain)
    if (first === "task" || (name === "bun" && first === "run")) {
      const place = openTo(args, cwd, isWritable)
      return place === undefined ? undefined : undecided(`${name} ${first}`, place)
    }
    if (name === "deno" && first === "run") args = after(args, (word) => word === "run") ?? []
  }
  let isIsolated = false
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ""
    if (word === "--") {
      const script = args[at + 1]
      return script === undefined ? undefined : noFile(script, program, isWritable)
    }
    if (!Interpreter.isOption(word)) return noFile(word, program, isWritable)
    if (isPython) {
      isIsolated ||= /^-[A-Za-z]*[IP]/.test(word)
      if (/^-[A-Za-bd-z]*m/.test(word)) {
        const place = isIsolated ? undefined : upwards(cwd).slice(0, 1).find(isWritable)
        return place === undefined
          ? undefined
          : `${undecided(`${name} -m`, place)}, or add -I, which leaves ${place} out`
      }
    }
    if (code.test(word)) return undefined
    if (/^--run(?:=|$)/.test(word)) {
      const place = openTo([], cwd, isWritable)
      return place === undefined ? undefined : undecided(`${name} --run`, place)
    }
    const value = takesNext.test(word)
      ? args[++at]
      : word.startsWith("--") && word.includes("=")
        ? valueOf(word)
        : undefined
    const isPreload = /^(?:-r|--require|--import|--loader|--experimental-loader|--preload)(?:=|$)/.test(word)
    const wrong =
      isPreload && value !== undefined && /^\.?\.?\//.test(value) ? noFile(value, program, isWritable) : undefined
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Returns the commands of a shell's line, as far as plain words go. */
const commandsIn = (line: string, program: Program): ReadonlyArray<Program> => {
  let { cwd } = program
  return line.split(/[;&|\n()]+/).flatMap((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/["'`]/g, ""))
      .filter(
        (word, at, all) => word !== "" && !(/^\w+=/.test(word) && all.slice(0, at).every((one) => /^\w+=/.test(one)))
      )
    const [command, ...args] = words
    if (command === undefined) return []
    if (command === "cd") {
      cwd = Path.resolve(cwd, args[0] ?? "/")
      return []
    }
    return [{ ...program, command, args, cwd }]
  })
}

/**
 * Returns why a program can't be started, because sandboxed commands decide what it runs; undefined where they don't, or
 * where the program is not known for that.
 */
export const refusalLauncher = (program: Program, isWritable: IsWritable): string | undefined => {
  const { args, command, cwd } = program
  const name = nameOf(command)
  const own = PackageRunner.wordsAfter(program)
  if (own !== undefined) {
    const [words, [tool, ...rest]] = PackageRunner.split(own)
    const place =
      upwards(cwd).find(isWritable) ??
      openTo(
        words.filter((word) => /^(?:\.|\/|~|-.*=|file:)/.test(word)),
        cwd,
        isWritable
      )
    if (place !== undefined) {
      return `${undecided(name, place)}, or leave "cwd" out and name files and directories by their full paths`
    }
    const inner = words.at(-1)
    const isTool = inner !== undefined && Interpreter.find(inner) !== undefined
    return isTool
      ? refusalLauncher({ ...program, command: inner, args: tool === undefined ? [] : [tool, ...rest] }, isWritable)
      : undefined
  }
  const interpreter = Interpreter.find(name)
  if (interpreter !== undefined) {
    const code = /sh$/.test(name) ? after(args, (word) => /^-[A-Za-z]*c$/.test(word))?.[0] : undefined
    const parts = code === undefined ? [] : commandsIn(code, program)
    return (
      ofInterpreter(program, interpreter, isWritable) ??
      parts.flatMap((part) => refusalLauncher(part, isWritable) ?? [])[0]
    )
  }
  if (Wrapper.isOne(name)) {
    const inner = Wrapper.inner(program)
    return inner === undefined ? undefined : refusalLauncher(inner, isWritable)
  }
  if (!Wrapper.isTaskRunner(name)) return undefined
  const place = openTo(args, cwd, isWritable)
  const first = args.find(isPlain)
  return place === undefined ? undefined : undecided(first === undefined ? name : `${name} ${first}`, place)
}

/** A file of servers. */
export interface Origin {
  readonly source: McpServer["source"]
  readonly file: string
}

/** The places, variables and rules that servers are read with. */
export interface Surroundings extends Expanded.Places {
  /** `$SYNAPSE_HOME`. */
  readonly home: string
  /** Tests whether sandboxed commands may write to a path, or to a link on the way to it. */
  readonly isWritable: (path: string) => boolean
  /** Tells why commands can still change a trusted file; undefined where trusted content is enough. */
  readonly looseness?: HeldFiles | undefined
}

/** A server as it is written in a file. */
export interface Server {
  readonly origin: Origin
  /** The name, with what no name may hold made visible. */
  readonly name: string
  readonly value: unknown
  readonly target: string
  /** Undefined where it can't be decoded. */
  readonly definition: Definition.Definition | undefined
  readonly isDisabled: boolean
  /** The keys that have no effect. */
  readonly ignored: ReadonlyArray<string>
  /** What can be started or spoken to; on the left is the reason why nothing can. */
  readonly expanded: Either.Either<Expanded.Expanded, string>
  /** The paths that its words may name and commands may write, whether or not something is there. */
  readonly paths: ReadonlyArray<string>
}

/** Returns the directory that a program is started in: where it is not a project's, none that the project's files are in. */
const directoryOf = ({ source }: Pick<Origin, "source">, { home, root }: Surroundings): string =>
  source === "home" ? Path.join(home, "mcp") : root

/** Makes a server of what is written under a name. */
export const make = (origin: Origin, name: string, value: unknown, around: Surroundings): Server => {
  const decoded = Definition.decode(value)
  const { definition, ignored, isDisabled } = Either.getOrElse(decoded, () => ({
    definition: undefined,
    ignored: [],
    isDisabled: false
  }))
  const named = ServerName.refusal(name)
  const expanded = Either.flatMap(named === undefined ? decoded : Either.left(named), (found) =>
    Either.map(Expanded.make(found.definition, around, directoryOf(origin, around)), (program) => {
      if (program._tag !== "Stdio" || found.definition._tag !== "Stdio" || found.definition.cwd !== undefined)
        return program
      // In the project, it would take what commands put there for the program that it is to fetch.
      return PackageRunner.isAnywhere(program) ? { ...program, cwd: directoryOf({ source: "home" }, around) } : program
    })
  )
  const paths = Either.flatMap(expanded, (found) => {
    if (found._tag !== "Stdio") return Either.right([])
    const refusal = refusalLauncher(found, around.isWritable)
    return refusal === undefined
      ? NamedFiles.pathsOf(found, around.variables["PATH"] ?? "", around.isWritable)
      : Either.left(refusal)
  })
  return {
    origin,
    name: name === "" ? '""' : ForeignText.word(name),
    value,
    target: definition === undefined ? "" : Definition.target(definition),
    definition,
    isDisabled,
    ignored,
    expanded: Either.flatMap(paths, () => expanded),
    paths: Either.getOrElse(paths, () => [])
  }
}
