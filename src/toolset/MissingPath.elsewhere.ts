/**
 * Finds the one file of a missing file's name that lies in another directory, or has another ending.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type { Surroundings } from "../sandbox/Surroundings.js"

/** The most levels of directories below the shell's, and the most directories and names that are looked at. */
const deepest = 3
const mostDirectories = 64
const mostNames = 2000

/** Matches names that each directory may have a file of. */
const usual =
  /^(?:__init__|__main__|Cargo|CMakeLists|conftest|Dockerfile|index|lib|main|Makefile|mod|package|README|setup|tsconfig)\b/i

/** The names of directories that hold what programs have made or fetched. */
const made = new Set(["build", "dist", "node_modules", "target", "vendor", "__pycache__"])

/**
 * Finds the file; undefined where there is none, or several.
 *
 * @param path the absolute path that is missing
 * @since 0.1.0
 */
export const find = (path: string, cwd: string, around: Surroundings): string | undefined => {
  if (around.kindOf(path) !== undefined) return undefined
  const name = Path.basename(path)
  // Any directory may hold such a one.
  if (name.length < 3) return undefined
  const directory = Path.dirname(path)
  const isUsual = usual.test(name) && directory !== cwd && around.kindOf(directory) === "directory"
  return withEnding(path, around) ?? (isUsual ? undefined : below(name, cwd, around))
}

/** Finds the one file beside it that has an ending, where none was written: `calc` for `calc.py`. */
const withEnding = (path: string, around: Surroundings): string | undefined => {
  const name = Path.basename(path)
  if (name.includes(".")) return undefined
  const directory = Path.dirname(path)
  const [only, ...others] = around.entries(directory, (other) => Path.parse(other).name === name)
  if (only === undefined || others.length > 0) return undefined
  const found = Path.join(directory, only)
  return around.kindOf(found) === "directory" ? undefined : found
}

/** Finds the one file of this name below a directory. */
const below = (name: string, top: string, around: Surroundings): string | undefined => {
  const found: Array<string> = []
  let seen = 0
  let level: ReadonlyArray<string> = [top]
  for (let depth = 0, count = 0; depth <= deepest && level.length > 0; depth++) {
    const next: Array<string> = []
    for (const directory of level) {
      if (++count > mostDirectories || seen > mostNames) return undefined
      const isDirectory = (entry: string) => !/\./.test(entry) && !made.has(entry)
      for (const entry of around.entries(directory, (entry) => entry === name || isDirectory(entry))) {
        seen++
        const path = Path.join(directory, entry)
        const kind = around.kindOf(path)
        if (kind === "directory") next.push(path)
        else if (entry === name && kind !== undefined) found.push(path)
      }
    }
    level = next
  }
  return found.length === 1 ? found[0] : undefined
}
