/**
 * Finds what a server's program, arguments and variables name in places that sandboxed commands may write. It is found
 * by the values, whatever the options and variables are called: whoever writes there may decide what runs outside of the
 * sandbox.
 */
import * as Fs from "node:fs"
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

/** The paths in a program's words that commands may write. */
export interface Named {
  /** The paths that its words may mean, whether or not they exist. Existing files are trusted by their content. */
  readonly paths: ReadonlyArray<string>
  /** The directories and missing paths. They have no content that could be trusted. */
  readonly places: ReadonlyArray<string>
}

export const nothing: Named = { paths: [], places: [] }

/** The places that words are looked up with. */
export interface Places {
  /** The variable PATH, for a program without one. */
  readonly path: string
  readonly userHome: string
  readonly isWritable: (path: string) => boolean
}

const largest = 64 * 1024 ** 2

/** The most texts in one program's words that may be paths. */
const mostTexts = 5000

/** Matches what separates paths in a list, an option, a command or code. */
const between = /[\s;:,=@|&<>()[\]{}'"`?*#]+/g

/** Matches a text that can only be a path. */
const isPath = /^(?:\.{0,2}\/|\.{1,2}$)/

const home = /^(?:~|\$HOME)(?=\/|$)/

/**
 * Returns the texts in a word that may be paths, by where they start, the shortest first: `/a` and `/a b.js` of
 * `-javaagent:/a b.js=x`.
 */
const textsIn = (word: string, userHome: string): ReadonlyArray<ReadonlyArray<string>> => {
  const gaps = [...word.matchAll(between)].map(({ 0: gap, index }) => [index, index + gap.length] as const)
  const ends = [...gaps.map(([from]) => from), word.length]
  const starts = [0, ...gaps.map(([, to]) => to)].flatMap((at) => {
    const [option = ""] = /^-[^-\s/][^\s/]*(?=\/)/.exec(word.slice(at)) ?? []
    return /^-[A-Za-z]/.test(word.slice(at)) ? [at, at + 2, at + option.length] : [at]
  })
  return starts.map((start) => {
    const after = ends.filter((end) => end > start)
    const isLong = isPath.test(word.slice(start)) || home.test(word.slice(start))
    return (isLong ? after : [...after.slice(0, 1), ...after.slice(1).slice(-1)])
      .map((end) => word.slice(start, end).replace(home, () => userHome))
      .filter((text) => !text.includes("\0"))
  })
}

export const isFile = (path: string): boolean => Fs.existsSync(path) && !HostPath.isDirectory(path)

/** Joins two paths. Keeps `..`, because behind a link the kernel resolves it to another directory. */
export const within = (directory: string, path: string): string =>
  path.split("/").includes("..")
    ? `${path.startsWith("/") ? "" : `${directory}/`}${path}`
    : Path.resolve(directory, path)

/** Returns the paths where a program without a slash in its name is looked for. */
const searched = ({ command, cwd, env }: Program, { isWritable, path }: Places): ReadonlyArray<string> =>
  command.includes("/")
    ? []
    : (env["PATH"] ?? path)
        .split(":")
        .filter((directory) => Path.isAbsolute(directory) && !isWritable(directory))
        .map((directory) => `${within(cwd, directory)}/${command}`)

/** Finds what a program names in places that commands may write. The left side says why that can't be told. */
export const find = (program: Program, places: Places): Either.Either<Named, string> => {
  const { args, command, cwd, env } = program
  // A server gets no directory in its PATH that commands may write.
  const values = Object.entries(env).flatMap(([name, value]) => (name === "PATH" ? [] : value))
  const words = [command, ...args, ...values].flatMap((word) => [
    word,
    word.replaceAll(/\\(.)/g, "$1"),
    Attempt.orElse(() => decodeURIComponent(word), word)
  ])
  const texts = [...new Set(words)].flatMap((word) => textsIn(word, places.userHome))
  if (texts.flat().length > mostTexts) return Either.left(`it has more than ${mostTexts} words that may name files`)
  const named = texts.map((from) =>
    from
      .map((text) => ({ isPath: isPath.test(text), path: within(cwd, text) }))
      .filter(({ path }) => !HostPath.isTooLong(path) && places.isWritable(path))
  )
  const open = named.flatMap((from) => {
    const text = from.findLast(({ path }) => Fs.existsSync(path)) ?? from.find(({ isPath }) => isPath)
    return text === undefined || isFile(text.path) ? [] : text.path
  })
  // A program that works there may load what lies there, if no word tells the file that it runs.
  if (places.isWritable(cwd) && !named.flat().some(({ path }) => isFile(path))) open.push(cwd)
  const paths = [...searched(program, places).filter(places.isWritable), ...named.flat().map(({ path }) => path)]
  return Either.right({ paths: [...new Set(paths)], places: [...new Set(open)] })
}

/** Tests by its content whether a file is a database. Programs write databases but load no code from them. */
export const isDatabase = (path: string): boolean =>
  Attempt.orElse(() => {
    const start = RegularFile.read(path, { mayBeLink: true, most: 16 }, (stats) => !stats.isFile() || undefined)
    return Either.isRight(start) && start.right.bytes.toString("latin1") === "SQLite format 3\0"
  }, false)

/** Returns the files that a program may load for a missing path: `hook.js` for `hook`. */
const endingsOf = (path: string): ReadonlyArray<string> =>
  Fs.existsSync(path)
    ? []
    : Attempt.orElse(() => Fs.readdirSync(Path.dirname(path)), [])
        .filter((name) => name.startsWith(`${Path.basename(path)}.`))
        .map((name) => `${Path.dirname(path)}/${name}`)

/** Reads the existing files among these, except databases. The left side says why one can't be read. */
export const read = ({ paths, places }: Named): Either.Either<ReadonlyArray<NamedFile>, string> => {
  const files: Array<NamedFile> = []
  for (const path of new Set([...paths, ...places.flatMap(endingsOf)])) {
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
export const changeOf = (named: Named, files: ReadonlyArray<NamedFile>, program: string): string | undefined => {
  const isNew = named.paths.some((path) => Path.resolve(path) === program && !files.some((file) => file.path === path))
  if (isNew) return `${program} was put there just now`
  const now = read(named)
  if (Either.isLeft(now)) return now.left
  const isSame = (one: NamedFile, other: NamedFile | undefined) =>
    one.path === other?.path && one.sha256 === other.sha256
  const other = now.right.find((file, at) => !isSame(file, files[at]))
  if (other !== undefined) return `${other.path} has changed just now`
  return now.right.length === files.length ? undefined : "a file that it names is gone"
}
