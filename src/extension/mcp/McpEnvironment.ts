/** Reads what an MCP server gets of this process's environment, and finds its program. */
import * as path from "node:path"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as RealPath from "../../sandbox/policy/RealPath.js"

/** The official client's list: no variable that can hold a secret is on it. */
const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]

/**
 * Makes the environment of a server: a few variables of this process, and over them the configured ones.
 *
 * The inherited `PATH` is without relative directories, those below `root`, the working directory, and those that commands may
 * write: a command could have put a program there. Nothing is left out where `root` is `/`.
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
    // A function that bash exports.
    if (value !== undefined && !value.startsWith("()")) kept[name] = value
  }
  const real = RealPath.follow(root).real
  const isOpen = (directory: string) =>
    !path.isAbsolute(directory) ||
    isWritable(directory) ||
    (real !== "/" && [directory, RealPath.follow(directory).real].some((each) => HostPath.isWithin(each, real)))
  if (kept["PATH"] !== undefined) {
    kept["PATH"] = kept["PATH"]
      .split(":")
      .filter((directory) => !isOpen(directory))
      .join(":")
  }
  return { ...kept, ...configured }
}

/**
 * Returns the path of the program that a shell would run for a name. It is undefined if the shell would find none.
 *
 * @param cwd the directory that a relative path starts from
 * @param searched the variable PATH; by default, that of this process
 */
export const find = (command: string, cwd: string, searched = process.env["PATH"] ?? ""): string | undefined => {
  const directories = command.includes("/") ? [""] : searched.split(":").filter((directory) => directory !== "")
  return directories.map((directory) => path.resolve(cwd, directory, command)).find(HostPath.isProgram)
}
