/**
 * Remembers which trusted files no command of a session can change: those that were trusted when the session was made, and
 * are read-only in all of its sandboxes since.
 */
import * as Fs from "node:fs"
import { printable } from "../../../sandbox/permission/PermissionPrompt.js"
import * as RealPath from "../../../sandbox/policy/RealPath.js"

/** A reason why commands can still change a file. */
export interface Looseness {
  /** A sentence without its subject. */
  readonly why: string
  /** True where a new session puts an end to it. */
  readonly isLate: boolean
}

/** Tells of a file why commands of the session can still change it; undefined where they can't. */
export type HeldFiles = (path: string) => Looseness | undefined

/** The most names of a path, and of the links in it, that are followed. */
const mostNames = 10_000

interface Place {
  /** The real path, and the symbolic links on the way to it. */
  readonly ways: ReadonlyArray<string>
  readonly isAlone: boolean
  /** The same for as long as the same file is at the end of the same way. */
  readonly identity: string
}

const look = (path: string): Place | undefined => {
  try {
    const { links, real } = RealPath.follow(path, mostNames)
    const { birthtimeNs, dev, ino, nlink } = Fs.statSync(real, { bigint: true })
    const ways = [...links, real]
    return { ways, isAlone: nlink === 1n, identity: [dev, ino, birthtimeNs, ...ways].join("\0") }
  } catch {
    return undefined
  }
}

const shared: Looseness = {
  why: "has a second name (a hard link), by which commands can change it: put a copy in its place",
  isLate: false
}

const late: Looseness = {
  why: "was trusted or put there after this session began, whose commands can still write it: start a new session",
  isLate: true
}

/** Says that commands can write one of the ways to a file, or the file itself. */
const writable = (way: string, { ways }: Place): Looseness => ({
  why:
    way === ways.at(-1)
      ? "can't be made read-only for commands, which can write it: put it elsewhere"
      : `is reached by a symbolic link, ${printable(way)}, which commands can lead to another file: name the file that it leads to`,
  isLate: false
})

/**
 * Looks at the trusted files as they are when a session is made.
 *
 * @param isWritable tests whether commands could write to a real path in a sandbox that starts now
 */
export const make = (trusted: Iterable<string>, isWritable: (path: string) => boolean): HeldFiles => {
  const known = new Map([...trusted].map((path) => [path, look(path)] as const))
  const loose = new Map([...known].map(([path, place]) => [path, place?.ways.find(isWritable)] as const))
  return (path) => {
    const now = look(path)
    if (now?.isAlone === false) return shared
    const before = known.get(path)
    if (before === undefined || before.identity !== now?.identity) return late
    const way = loose.get(path)
    return way === undefined ? undefined : writable(way, before)
  }
}

/**
 * Tells what a session that is made now would tell; of a file that is not trusted yet, as far as trust can't help.
 *
 * @param isWritable as that of `make`
 */
export const makeNext = (trusted: Iterable<string>, isWritable: (path: string) => boolean): HeldFiles => {
  const known = new Set(trusted)
  return (path) => {
    const place = look(path)
    if (place?.isAlone === false) return shared
    const way = known.has(path) ? place?.ways.find(isWritable) : undefined
    return way === undefined || place === undefined ? undefined : writable(way, place)
  }
}
