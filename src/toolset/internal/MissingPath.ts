/** Suggests a file instead of a path that a failed command did not find. */
import * as Path from "node:path"
import type { CommandLine } from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"
import * as Similar from "../../domain/Similar.js"
import type { VisibleFiles } from "../../sandbox/VisibleFiles.js"

/** The limits of the search: levels below the shell's directory, directories, and names. */
const deepest = 3
const mostDirectories = 64
const mostNames = 2000

/** Matches file names that many directories share. */
const usual =
  /^(?:__init__|__main__|Cargo|CMakeLists|conftest|Dockerfile|index|lib|main|Makefile|mod|package|README|setup|tsconfig)\b/i

/** Directories of generated or downloaded files. */
const made = new Set(["build", "dist", "node_modules", "target", "vendor", "__pycache__"])

/**
 * Finds the only matching file, or returns undefined.
 *
 * @param path the absolute path that is missing
 */
const find = (path: string, cwd: string, files: VisibleFiles): string | undefined => {
  if (files.kindOf(path) !== undefined) return undefined
  const name = Path.basename(path)
  // Short names match files anywhere.
  if (name.length < 3) return undefined
  const directory = Path.dirname(path)
  const isUsual = usual.test(name) && directory !== cwd && files.kindOf(directory) === "directory"
  return withEnding(path, files) ?? (isUsual ? undefined : below(name, cwd, files))
}

/** Finds the only file beside it with the same name and an ending: `calc.py` for `calc`. */
const withEnding = (path: string, files: VisibleFiles): string | undefined => {
  const name = Path.basename(path)
  if (name.includes(".")) return undefined
  const directory = Path.dirname(path)
  const [only, ...others] = files.entries(directory, (other) => Path.parse(other).name === name)
  if (only === undefined || others.length > 0) return undefined
  const found = Path.join(directory, only)
  return files.kindOf(found) === "directory" ? undefined : found
}

/** Finds the only file of this name below a directory. */
const below = (name: string, top: string, files: VisibleFiles): string | undefined => {
  const found: Array<string> = []
  let seen = 0
  let level: ReadonlyArray<string> = [top]
  for (let depth = 0, count = 0; depth <= deepest && level.length > 0; depth++) {
    const next: Array<string> = []
    for (const directory of level) {
      if (++count > mostDirectories || seen > mostNames) return undefined
      const isDirectory = (entry: string) => !/\./.test(entry) && !made.has(entry)
      for (const entry of files.entries(directory, (entry) => entry === name || isDirectory(entry))) {
        seen++
        const path = Path.join(directory, entry)
        const kind = files.kindOf(path)
        if (kind === "directory") next.push(path)
        else if (entry === name && kind !== undefined) found.push(path)
      }
    }
    level = next
  }
  return found.length === 1 ? found[0] : undefined
}

const ending = ": No such file or directory"
/** How many lines of a message are read, and how many characters a line may have. */
const mostLines = 50
const longestLine = 1024

/** Matches words that make a program or the shell work in another directory. */
const elsewhere = /^(?:cd|pushd|popd|-C.*|--chdir.*|--cwd.*|--directory.*|--prefix.*|-execdir)$/

/** Matches a parameter such as `name=value`, whose errors come from the program that reads it. */
const parameter = /^\w+=/

/** Returns the lines that report a missing path. */
export const linesIn = (stderr: string): ReadonlyArray<string> =>
  stderr.split("\n", mostLines).filter((line) => line.length <= longestLine && /No such file or directory$/.test(line))

/** Tests whether a message reports a missing relative path. */
export const isRelative = (stderr: string): boolean =>
  linesIn(stderr).some((line) => !/(?:^|[\s'‘"])\/\S.*No such/.test(line))

/**
 * Suggests an existing path that is similar to a missing one, and writes it the same way. Returns undefined if there is
 * none, or if the directory that a relative path began in is uncertain.
 *
 * @param cwd the shell's directory after the command
 */
export const meant = (line: CommandLine, stderr: string, cwd: string, files: VisibleFiles): string | undefined => {
  const missing = [...linesIn(stderr), ...otherLinesIn(stderr)]
  if (missing.length === 0) return undefined
  const words = line.tokens.filter((token): token is Word => token._tag === "Word" && token.closed && !token.expands)
  const moving = words.filter(({ value }) => elsewhere.test(value))
  const isHere =
    moving.length === 0 || (moving.length === 1 && line.name === "cd" && moving[0]?.start === line.command?.start)
  for (const value of new Set(words.map(({ value }) => value))) {
    if (value === "" || parameter.test(value) || (!isHere && !Path.isAbsolute(value))) continue
    if (!missing.some((text) => names(text, value) || names(text, Path.resolve(cwd, value)))) continue
    const path = Path.resolve(cwd, value)
    const found = near(path, files) ?? find(path, cwd, files)
    const isEntered = missing.some((text) => text.includes(`: cd: ${value}${ending}`))
    if (found !== undefined && isEntered && files.kindOf(found) !== "directory") continue
    if (found !== undefined) return Path.isAbsolute(value) ? found : relative(value, cwd, found)
  }
  return undefined
}

/** Returns the lines in which node and pytest report a missing file. */
const otherLinesIn = (stderr: string): ReadonlyArray<string> =>
  stderr
    .split("\n", mostLines)
    .filter(
      (line) =>
        line.length <= longestLine &&
        /^(?:Error: Cannot find module '\/|ERROR: file or directory not found: )/.test(line)
    )

/** Tests whether a line reports this path as missing. */
const names = (line: string, path: string): boolean =>
  line.endsWith(`not found: ${path}`) ||
  line.includes(` ${path}${ending}`) ||
  [`'${path}'`, `‘${path}’`, `"${path}"`].some((quoted) => line.includes(quoted))

/** Corrects the first missing part of a path, if the whole path then exists. */
const near = (path: string, files: VisibleFiles): string | undefined => {
  let missing = path
  while (files.kindOf(Path.dirname(missing)) !== "directory") {
    if (Path.dirname(missing) === missing) return undefined
    missing = Path.dirname(missing)
  }
  if (files.kindOf(missing) !== undefined) return undefined
  const directory = Path.dirname(missing)
  const written = Path.basename(missing)
  const name = Similar.nearest(written, files.entries(directory, Similar.isNear(written)))
  if (name === undefined) return undefined
  const found = Path.join(directory, name, path.slice(missing.length))
  return files.kindOf(found) === undefined ? undefined : found
}

const relative = (written: string, cwd: string, found: string): string =>
  `${written.startsWith("./") ? "./" : ""}${Path.relative(cwd, found)}`
