/** Reads what an MCP server gets of this process's environment, and finds its program. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as HostPath from "../../sandbox/policy/HostPath.js"

/** The official client's list: no variable that can hold a secret is on it. */
const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

/** The environment of a server, and the directories that were left out of its `PATH`. */
export interface McpEnvironment {
  readonly variables: Readonly<Record<string, string>>
  readonly withheld: ReadonlyArray<string>
}

/**
 * Makes the environment of a server: a few variables of this process, and over them the configured ones.
 *
 * The inherited `PATH` is without relative directories, those below `root`, the working directory, and those that commands may
 * write: a command could have put a program there. Nothing is left out where `root` is `/`.
 */
export const make = (
  configured: Readonly<Record<string, string>>,
  root: string,
  own: Readonly<Record<string, string | undefined>> = process.env,
  isWritable: (path: string) => boolean = () => false
): McpEnvironment => {
  const kept: Record<string, string> = {}
  for (const name of inherited) {
    const value = own[name]
    // A function that bash exports.
    if (value !== undefined && !value.startsWith("()")) kept[name] = value
  }
  const directories = (kept["PATH"] ?? "").split(":").filter((directory) => directory !== "")
  const withheld = directories.filter((each) => !path.isAbsolute(each) || isBelow(each, root) || isWritable(each))
  if (kept["PATH"] !== undefined) {
    kept["PATH"] = directories.filter((directory) => !withheld.includes(directory)).join(":")
  }
  return { variables: { ...kept, ...configured }, withheld }
}

/**
 * Returns the path of a program as a shell would find it, and where it lies in a directory that was left out; undefined
 * where there is none.
 *
 * @param cwd the directory that a relative path starts from
 */
export const find = (
  command: string,
  cwd: string,
  environment: McpEnvironment
): { readonly program: string; readonly isWithheld: boolean } | undefined => {
  if (command.includes("/")) {
    const program = path.resolve(cwd, command)
    return HostPath.isProgram(program) ? { program, isWithheld: false } : undefined
  }
  const search = (directories: ReadonlyArray<string>) =>
    directories.map((directory) => path.resolve(cwd, directory, command)).find(HostPath.isProgram)
  const program = search((environment.variables["PATH"] ?? "").split(":").filter((directory) => directory !== ""))
  if (program !== undefined) return { program, isWithheld: false }
  const withheld = search(environment.withheld)
  return withheld === undefined ? undefined : { program: withheld, isWithheld: true }
}

const isBelow = (directory: string, root: string): boolean =>
  [directory, real(directory)].some((each) => {
    const relative = path.relative(real(root), each)
    return real(root) !== "/" && relative !== ".." && !relative.startsWith("../")
  })

const real = (file: string): string => {
  try {
    return fs.realpathSync(file)
  } catch {
    return path.resolve(file)
  }
}
