/** Makes the environment of an MCP server, and finds its program. */
import * as path from "node:path"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as RealPath from "../../sandbox/policy/RealPath.js"

/** The list of the official client. None of these variables holds a secret. */
const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

/**
 * Makes the environment of a server: a few variables of this process, overridden by the configured ones.
 *
 * `PATH` loses every directory where a command could have put a program: relative directories, those that commands may
 * write, and those in the working directory `root`. With the root `/`, the last rule does not apply.
 */
export const make = (
  configured: Readonly<Record<string, string>>,
  root: string,
  own: Readonly<Record<string, string | undefined>>,
  isWritable: (path: string) => boolean = () => false
): Readonly<Record<string, string>> => {
  const kept: Record<string, string> = {}
  for (const name of inherited) {
    const value = own[name]
    // Skips functions that bash exports.
    if (value !== undefined && !value.startsWith("()")) kept[name] = value
  }
  const real = RealPath.follow(root).real
  const isOpen = (directory: string) =>
    !path.isAbsolute(directory) ||
    isWritable(directory) ||
    (real !== "/" && [directory, RealPath.follow(directory).real].some((each) => HostPath.isWithin(each, real)))
  const { PATH = "", ...others } = { ...kept, ...configured }
  const directories = PATH.split(":").filter((directory) => !isOpen(directory))
  // An empty PATH would mean the working directory.
  return directories.length === 0 ? others : { ...others, PATH: directories.join(":") }
}

/**
 * Returns the path of the program that a shell would run for a name, if any.
 *
 * @param cwd the directory where a relative path starts
 * @param searched the variable PATH, by default that of this process
 */
export const find = (command: string, cwd: string, searched = process.env["PATH"] ?? ""): string | undefined => {
  const directories = command.includes("/") ? [""] : searched.split(":").filter((directory) => directory !== "")
  return directories.map((directory) => path.resolve(cwd, directory, command)).find(HostPath.isProgram)
}
