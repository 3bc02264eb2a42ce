/** Tells what the rights of files alone let commands do, which have none of root's powers beyond those of an owner. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as BytePath from "./BytePath.js"
import * as HostPath from "./HostPath.js"

const bits = { read: 4, write: 2, enter: 1 } as const

type Right = keyof typeof bits

/** Tests a right by a file's mode, as the kernel does for a process without root's powers. */
const byMode = ({ gid, mode, uid }: Fs.Stats, right: Right): boolean => {
  const isOwner = uid === process.geteuid?.()
  const isOfGroup = gid === process.getegid?.() || process.getgroups?.().includes(gid) === true
  return (mode & (bits[right] << (isOwner ? 6 : isOfGroup ? 3 : 0))) !== 0
}

/** Tests a right to what exists. Root is asked by the mode, since the system grants root anything. */
const has = (path: string, right: Right): boolean => {
  try {
    Fs.accessSync(BytePath.toHost(path), bits[right])
    return process.geteuid?.() !== 0 || byMode(Fs.statSync(BytePath.toHost(path)), right)
  } catch {
    return false
  }
}

/**
 * Tests whether a path may be read or written by its rights and those of the directories around it. What is missing may
 * be read; it may be written where the nearest directory around it may.
 *
 * @param path a real path
 */
export const allow = (path: string, access: "read" | "write"): boolean => {
  const around: Array<string> = []
  for (let at = path; at !== "/"; at = Path.posix.dirname(at)) around.unshift(Path.posix.dirname(at))
  const there = around.filter((directory) => !HostPath.isMissing(directory))
  if (!there.every((directory) => has(directory, "enter"))) return false
  if (!HostPath.isMissing(path)) return has(path, access)
  return access === "read" || has(there.at(-1) ?? "/", "write")
}
