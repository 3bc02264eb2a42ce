/**
 * Finds the file that was probably meant by a path which a failed command did not find.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type { CommandLine } from "../bash/CommandLine.js"
import type { Word } from "../bash/Token.js"
import * as Similar from "../domain/Similar.js"
import type { Surroundings } from "../sandbox/Surroundings.js"
import * as Elsewhere from "./MissingPath.elsewhere.js"

const ending = ": No such file or directory"
/** The most lines of a message that are read, and the most characters of one. */
const mostLines = 50
const longestLine = 1024

/** Matches words by which a program, or the shell, works in another directory than the one it is called in. */
const elsewhere = /^(?:cd|pushd|popd|-C.*|--chdir.*|--cwd.*|--directory.*|--prefix.*|-execdir)$/

/** Matches a value that is given by name, as to a tool: what reads it tells it. */
const parameter = /^\w+=/

/**
 * Returns the lines of a message which say that a path does not exist.
 *
 * @since 0.1.0
 */
export const linesIn = (stderr: string): ReadonlyArray<string> =>
  stderr.split("\n", mostLines).filter((line) => line.length <= longestLine && /No such file or directory$/.test(line))

/**
 * Returns a path that exists and is nearly the one which was not found, in the form that it was written in; undefined
 * where there is none, or where the directory that a relative path began in is not known for sure.
 *
 * @param cwd the directory that the shell is in after the command
 * @since 0.1.0
 */
export const meant = (line: CommandLine, stderr: string, cwd: string, around: Surroundings): string | undefined => {
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
    const found = near(path, around) ?? Elsewhere.find(path, cwd, around)
    const isEntered = missing.some((text) => text.includes(`: cd: ${value}${ending}`))
    if (found !== undefined && isEntered && around.kindOf(found) !== "directory") continue
    if (found !== undefined) return Path.isAbsolute(value) ? found : relative(value, cwd, found)
  }
  return undefined
}

/** Returns the lines in which node and pytest say that a file does not exist. */
const otherLinesIn = (stderr: string): ReadonlyArray<string> =>
  stderr
    .split("\n", mostLines)
    .filter(
      (line) =>
        line.length <= longestLine &&
        /^(?:Error: Cannot find module '\/|ERROR: file or directory not found: )/.test(line)
    )

/** Tests whether a line says of this path that it is missing. */
const names = (line: string, path: string): boolean =>
  line.endsWith(`not found: ${path}`) ||
  line.includes(` ${path}${ending}`) ||
  [`'${path}'`, `‘${path}’`, `"${path}"`].some((quoted) => line.includes(quoted))

/** Corrects the first part of a path that does not exist; the whole must exist then. */
const near = (path: string, around: Surroundings): string | undefined => {
  let missing = path
  while (around.kindOf(Path.dirname(missing)) !== "directory") {
    if (Path.dirname(missing) === missing) return undefined
    missing = Path.dirname(missing)
  }
  if (around.kindOf(missing) !== undefined) return undefined
  const directory = Path.dirname(missing)
  const written = Path.basename(missing)
  const name = Similar.nearest(written, around.entries(directory, Similar.isNear(written)))
  if (name === undefined) return undefined
  const found = Path.join(directory, name, path.slice(missing.length))
  return around.kindOf(found) === undefined ? undefined : found
}

const relative = (written: string, cwd: string, found: string): string =>
  `${written.startsWith("./") ? "./" : ""}${Path.relative(cwd, found)}`
