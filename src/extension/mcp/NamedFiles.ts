/**
 * Finds the files which a server's program and words name, and which sandboxed commands may write: whoever rewrites one
 * decides what runs outside of the sandbox. The data that a server writes itself is not among them.
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as Interpreter from "./internal/Interpreter.js"
import * as PackageRunner from "./internal/PackageRunner.js"
import type { Program } from "./internal/Program.js"
import { nameOf } from "./internal/Program.js"
import * as Wrapper from "./internal/Wrapper.js"
import * as OwnFile from "./OwnFile.js"

/** Matches programs that are scripts themselves. */
const script = /\.(?:[cm]?[jt]s|py|sh|rb|pl|php)$/

/** Finds the words of a server that an inner program runs, which begins with so many words of the outer one's. */
const withinDataWord = (program: Program, command: string, at: number): Interpreter.Own => {
  const { from, isScripts } = find({ ...program, command, args: program.args.slice(at) })
  return { from: at + from, isScripts }
}

/** Finds the words of a server itself. */
const find = (program: Program): Interpreter.Own => {
  const { args, command } = program
  const name = nameOf(command)
  const after = PackageRunner.wordsAfter(program)
  if (after !== undefined) {
    const [words] = PackageRunner.split(after)
    const at = args.length - after.length + words.length
    const inner = words.at(-1) ?? ""
    return Interpreter.find(inner) === undefined ? { from: at, isScripts: false } : withinDataWord(program, inner, at)
  }
  const interpreter = Interpreter.find(name)
  if (interpreter !== undefined) return Interpreter.ownWords(interpreter, args)
  const inner = Wrapper.isOne(name) ? Wrapper.inner(program) : undefined
  return inner === undefined
    ? { from: 0, isScripts: script.test(name) }
    : withinDataWord(program, inner.command, args.length - inner.args.length)
}

/** A word of a program, or the value of a variable. */
interface Word {
  readonly text: string
  /** The option or the variable that it belongs to; empty where it stands alone. */
  readonly of: string
  /** Tests whether a part of the word that may be a path names data. */
  readonly isData: (path: string) => boolean
}

const database = /\.(?:db|sqlite3?|duckdb|parquet)$/i
const anyData = /\.(?:json|jsonl|ndjson|db|sqlite3?|duckdb|csv|tsv|parquet|log|txt|md|lock|pid)$/i

/** Matches names and options of files that decide what a program does, whatever they end in. */
const deciding =
  /conf|setting|server|mcp|proxy|hub|agent|command|task|workflow|pipeline|package|deno|manifest|compose|import|require|load|policy|rules|prompt|tool|script|startup|hook|plugin|_OPTIONS$|OPT$|^LD_/i

/** Matches the parts of an option's or a variable's name that are about what a server writes. */
const writing =
  /^(?:db|dbs|database|databases|data|datafile|dataset|sqlite|duckdb|memory|memories|store|storage|log|logs|logfile|logging|cache|state|output|out|history|index|pid|pidfile|lock|lockfile|reports?|notes?|journal|results?|save|dump|export|sessions?|knowledge|graph|vault|todos?|records?|traces?|metrics|backup|archive)$/i

const isOfData = (name: string): boolean =>
  name
    .replace(/([a-z])(?=[A-Z])/g, "$1-")
    .split(/[-_.]+/)
    .some((part) => writing.test(part))

/** What a shell or an interpreter could take apart. */
const composed = /[\s;|&<>()[\]{}'"`$*?\\]/

type Place = "deciding" | "script" | "other"

const make = (text: string, of: string, place: Place): Word => ({
  text,
  of,
  isData: (path) => {
    if (place === "deciding" || !anyData.test(path) || composed.test(text)) return false
    if (deciding.test(of) || deciding.test(Path.basename(path))) return false
    if (database.test(path) || isOfData(of)) return true
    return place === "script" && of === "" && isOfData(Path.basename(path).replace(/\.\w+$/, ""))
  }
})

/**
 * Returns the words of a program and the values of its variables.
 *
 * Data is what has the name of a database, or ends as data does and is named for data: by its own name behind a
 * known script (`node server.js notes.json`), or by its option or variable (`--memory-file`, `DB_PATH`). An interpreter runs a file whatever
 * its name ends in, so the words before a script and those of an unknown program are none.
 */
const wordsOf = (program: Program): ReadonlyArray<Word> => {
  const own = find(program)
  const variables = Wrapper.variablesIn(program)
  return [
    ...program.args.map((word, at) => {
      const variable = at < variables ? /^([A-Za-z_]\w*)=/.exec(word)?.[1] : undefined
      if (variable !== undefined) return make(word, variable, "other")
      const before = word.startsWith("-") ? word.replace(/=.*/s, "") : (program.args[at - 1] ?? "")
      const of = before.startsWith("-") ? before : ""
      return make(word, of, at < own.from ? "deciding" : own.isScripts ? "script" : "other")
    }),
    ...Object.entries(program.env).map(([name, value]) => make(value, name, "other"))
  ]
}

/** A file, and the SHA-256 of its content. */
export interface NamedFile {
  readonly path: string
  readonly sha256: string
}

/** The paths that a program's words name and commands may write, and the files that are at them. */
export interface Named {
  readonly paths: ReadonlyArray<string>
  readonly files: ReadonlyArray<NamedFile>
}

/** The most bytes of a file. */
const largest = 64 * 1024 ** 2

/** The most paths that the words of one program may name. */
const mostPaths = 500

/** Matches options and variables whose value is a list of files, with colons between them. */
const lists = /^-{1,2}(?:cp|class-?path|p|module-path)$|CLASSPATH$|^LD_(?:PRELOAD|AUDIT)$/

/** What stands between the words of a command, and around them. */
const between = /[\s;|&<>()'"`]+/

/** Returns the texts in a word that may be paths: itself, an option's value, the words of a command or code within it. */
const textsIn = (word: string, of = ""): ReadonlyArray<string> => {
  const words = [
    word,
    ...(between.test(word) ? word.split(between) : []),
    ...(lists.test(of) ? word.replace(/^-[^=]*=/, "").split(":") : [])
  ]
  // As env's: NODE_OPTIONS=--require=file.
  const options = words.flatMap((one) => /^[A-Za-z_]\w*=(-.*)/s.exec(one)?.[1] ?? [])
  return [...words, ...options].flatMap((one) => {
    const texts = one.startsWith("-") ? [] : [one]
    const equals = one.indexOf("=")
    if (equals >= 0) texts.push(one.slice(equals + 1))
    if (/^-[A-Za-z]./.test(one)) texts.push(one.slice(2))
    // As java's: -javaagent:file=options.
    const file = /^-\w+(?:\/\w)?:([^=]+)/.exec(one)?.[1]
    if (file !== undefined) texts.push(file)
    // As java's and lua's: @file.
    texts.push(...texts.filter((text) => text.startsWith("@")).map((text) => text.slice(1)))
    return texts
      .map((text) => text.replace(/^file:(?:\/\/)?/, ""))
      .filter((text) => text !== "" && !text.includes("\0"))
  })
}

/** Joins two paths; `..` stays, for after a link the kernel does not mean the directory before it. */
const within = (directory: string, path: string): string =>
  path.split("/").includes("..")
    ? `${path.startsWith("/") ? "" : `${directory}/`}${path}`
    : Path.resolve(directory, path)

/** Returns where a program without a slash in its name is looked for. */
const searched = ({ command, cwd, env }: Program, path: string): ReadonlyArray<string> =>
  command.includes("/")
    ? []
    : (env["PATH"] ?? path)
        .split(":")
        .map((directory) => `${within(cwd, directory === "" ? "." : directory)}/${command}`)

/**
 * Returns the paths that a program's words may name and commands may write, whether or not something is there.
 *
 * @param path the variable PATH
 */
export const pathsOf = (
  program: Program,
  path: string,
  isWritable: (path: string) => boolean
): Either.Either<ReadonlyArray<string>, string> => {
  const named = wordsOf(program)
    .flatMap(({ isData, of, text }) => textsIn(text, of).filter((path) => !isData(path)))
    .concat(textsIn(program.command))
    .map((text) => within(program.cwd, text))
  const all = [...new Set([...searched(program, path), ...named])].filter((one) => !HostPath.isTooLong(one))
  const paths = all.length > mostPaths ? [] : all.filter(isWritable)
  return all.length > mostPaths
    ? Either.left(`it has more than ${mostPaths} words that may name files`)
    : Either.right(paths)
}

/**
 * Reads the files at these paths; directories, and paths where nothing is, are left out. On the left is the reason why
 * a file can't be read.
 */
export const read = (paths: ReadonlyArray<string>): Either.Either<ReadonlyArray<NamedFile>, string> => {
  const files: Array<NamedFile> = []
  for (const path of paths) {
    if (HostPath.isDirectory(path)) continue
    const found = OwnFile.read(path, { most: largest, mayBeLink: true, mayBeForeign: true })
    if (found._tag === "Refused") return Either.left(`it names ${path}, and ${found.reason}`)
    if (found._tag === "Content") files.push({ path, sha256: found.sha256 })
  }
  return Either.right(files)
}

/**
 * Returns why a program may not be started now that could be when its files were read: one has changed since, or was put
 * where none was. Undefined where all are as they were.
 *
 * @param program the path of the program as it was found just now
 */
export const changeOf = ({ files, paths }: Named, program: string): string | undefined => {
  const isNew = paths.some((path) => Path.resolve(path) === program && !files.some((file) => file.path === path))
  if (isNew) return `${program} was put there just now`
  const now = read(paths)
  if (Either.isLeft(now)) return now.left
  const isSame = (one: NamedFile, other: NamedFile | undefined) =>
    one.path === other?.path && one.sha256 === other.sha256
  const other = now.right.find((file, at) => !isSame(file, files[at]))
  if (other !== undefined) return `${other.path} has changed just now`
  return now.right.length === files.length ? undefined : "a file that it names is gone"
}
