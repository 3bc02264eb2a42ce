/**
 * Finds files that a server's program, arguments and variables name and that sandboxed commands may write. Whoever
 * rewrites such a file decides what runs outside of the sandbox. Databases do not count.
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as OwnFile from "./OwnFile.js"

export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface NamedFile {
  readonly path: string
  readonly sha256: string
}

const largest = 64 * 1024 ** 2

/** The most paths that one program's arguments may name. */
const mostPaths = 500

/** Matches options and variables whose value is a list of files, separated by colons. */
const lists = /^-{1,2}(?:cp|class-?path|p|module-path)$|CLASSPATH$|^LD_(?:PRELOAD|AUDIT)$/

/** Matches what separates and surrounds the words of a command. */
const between = /[\s;|&<>()'"`]+/

/**
 * Returns the texts in a word that may be paths: the word itself, an option's value, the words of a command or of code
 * in it.
 */
export const textsIn = (word: string, of = ""): ReadonlyArray<string> => {
  const words = [
    word,
    ...(between.test(word) ? word.split(between) : []),
    ...(lists.test(of) || lists.test(word.replace(/=.*/s, "")) ? word.replace(/^[^=/]*=/, "").split(":") : [])
  ]
  // For `env`: NODE_OPTIONS=--require=file.
  const options = words.flatMap((one) => /^[A-Za-z_]\w*=(-.*)/s.exec(one)?.[1] ?? [])
  return [...words, ...options].flatMap((one) => {
    const texts = one.startsWith("-") ? [] : [one]
    const equals = one.indexOf("=")
    if (equals >= 0) texts.push(one.slice(equals + 1))
    if (/^-[A-Za-z]./.test(one)) texts.push(one.slice(2))
    // For java: -javaagent:file=options.
    const file = /^-\w+(?:\/\w)?:([^=]+)/.exec(one)?.[1]
    if (file !== undefined) texts.push(file)
    // For java and lua: @file.
    texts.push(...texts.filter((text) => text.startsWith("@")).map((text) => text.slice(1)))
    return texts
      .map((text) => text.replace(/^file:(?:\/\/)?/, ""))
      .filter((text) => text !== "" && !text.includes("\0"))
  })
}

/** Joins two paths. Keeps `..`, because behind a link the kernel resolves it to another directory. */
export const within = (directory: string, path: string): string =>
  path.split("/").includes("..")
    ? `${path.startsWith("/") ? "" : `${directory}/`}${path}`
    : Path.resolve(directory, path)

/** Returns the paths where a program without a slash in its name is looked for. */
const searched = ({ command, cwd, env }: Program, path: string): ReadonlyArray<string> =>
  command.includes("/")
    ? []
    : (env["PATH"] ?? path)
        .split(":")
        .map((directory) => `${within(cwd, directory === "" ? "." : directory)}/${command}`)

/**
 * Returns the paths that a program's arguments may name and commands may write, whether or not they exist.
 *
 * @param path the variable PATH
 */
export const pathsOf = (
  program: Program,
  path: string,
  isWritable: (path: string) => boolean
): Either.Either<ReadonlyArray<string>, string> => {
  const { args, command, env } = program
  const named = args
    .flatMap((word, at) => textsIn(word, word.startsWith("-") ? word.replace(/=.*/s, "") : args[at - 1]))
    .concat(Object.entries(env).flatMap(([name, value]) => textsIn(value, name)))
    .concat(textsIn(command))
    .map((text) => within(program.cwd, text))
  const all = [...new Set([...searched(program, path), ...named])].filter((one) => !HostPath.isTooLong(one))
  const paths = all.length > mostPaths ? [] : all.filter(isWritable)
  return all.length > mostPaths
    ? Either.left(`it has more than ${mostPaths} words that may name files`)
    : Either.right(paths)
}

/** Tests by its content whether a file is a database. Programs write databases but load no code from them. */
export const isDatabase = (path: string): boolean =>
  Attempt.orElse(() => {
    const start = RegularFile.read(path, { mayBeLink: true, most: 16 }, (stats) => !stats.isFile() || undefined)
    return Either.isRight(start) && start.right.bytes.toString("latin1") === "SQLite format 3\0"
  }, false)

/** Reads the existing files at these paths, except databases. The left side says why one can't be read. */
export const read = (paths: ReadonlyArray<string>): Either.Either<ReadonlyArray<NamedFile>, string> => {
  const files: Array<NamedFile> = []
  for (const path of paths) {
    if (HostPath.isDirectory(path) || isDatabase(path)) continue
    const found = OwnFile.read(path, { most: largest, mayBeLink: true, mayBeForeign: true })
    if (Either.isLeft(found)) return Either.left(`it names ${path}, and ${found.left}`)
    if (found.right !== undefined) files.push({ path, sha256: found.right.sha256 })
  }
  return Either.right(files)
}

/**
 * Returns why a program may not start although it could when its files were read: one has changed or appeared since.
 *
 * @param program the path where the program was just found
 */
export const changeOf = (
  paths: ReadonlyArray<string>,
  files: ReadonlyArray<NamedFile>,
  program: string
): string | undefined => {
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
