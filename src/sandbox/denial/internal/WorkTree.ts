/**
 * Finds the working trees of git that a command may have worked in: git names files from the top of one, wherever it runs.
 */
import * as Path from "node:path"
import * as HostPath from "../../policy/HostPath.js"
import * as CommandPaths from "./CommandPaths.js"

/** Matches how git itself begins a message, which names no program. The bound keeps a long line linear. */
const said = /^(?:error|fatal|warning): .{0,4096}$/

/** Matches the commands of git that name files as they were given to them. */
const asGiven = /\bgit\b[^|;&\n]{0,200}?(?:\s(?:hash-object|apply|archive|bundle|config)\b|\s--no-index\b)/

/** Tests whether git may have said a line, of a file that it names from the top of the working tree. */
export const isSpokenOf = (line: string, command: string): boolean =>
  said.test(line) && /\bgit\b/.test(command) && !asGiven.test(command)

/** The command, and the directories that it may have worked in. */
export interface Place {
  readonly command: string
  readonly directories: ReadonlyArray<string>
}

/** Returns the tops of the working trees that a command may have worked in. */
export const tops = ({ command, directories }: Place): ReadonlyArray<string> => {
  const named = CommandPaths.directories(command).map((path) => Path.posix.resolve(directories[0] ?? "/", path))
  return [...new Set([...named, ...directories].flatMap((directory) => topOf(directory) ?? []))]
}

/**
 * Returns the directories that names in git's messages may be relative to: the tops of the working trees, and then those
 * of the command.
 */
export const around = (place: Place): ReadonlyArray<string> => [...new Set([...tops(place), ...place.directories])]

/** Returns the top of the working tree that a directory lies in. */
const topOf = (directory: string): string | undefined => {
  for (let path = directory; ; path = Path.posix.dirname(path)) {
    if (!HostPath.isMissing(Path.posix.join(path, ".git"))) return path
    if (path === "/" || path === ".") return undefined
  }
}
