/**
 * Looks up the files and programs that advice on a failed command may name. It reveals only what the policy lets
 * commands read.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import * as PrivateTemporary from "./policy/PrivateTemporary.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"

/** A snapshot of the files and programs that commands can see. All answers are bounded and synchronous. */
export interface VisibleFiles {
  /** Returns what an absolute path is; undefined if it is missing, unreadable or something else. */
  readonly kindOf: (path: string) => "directory" | "program" | "file" | undefined
  /** Returns the names that `isWanted` accepts among the first 2,000 entries of a directory. */
  readonly entries: (directory: string, isWanted: (name: string) => boolean) => ReadonlyArray<string>
  /** Returns the programs on a new shell's PATH whose names `isWanted` accepts. */
  readonly programs: (isWanted: (name: string) => boolean) => ReadonlyArray<string>
}

export const none: VisibleFiles = { kindOf: () => undefined, entries: () => [], programs: () => [] }

const mostEntries = 2000
const mostPrograms = 10_000

export const make = (policy: SandboxPolicy | undefined, searched: string): VisibleFiles => {
  const decision = policy === undefined ? undefined : PolicyDecision.make(policy)
  const toOutside = policy === undefined ? (path: string) => path : PrivateTemporary.make(policy).toOutside
  const isReadable = (path: string) => decision === undefined || decision.explain(path, "/", "read").allowed

  const kindOf: VisibleFiles["kindOf"] = (path) => {
    if (!Path.isAbsolute(path) || !isReadable(path)) return undefined
    const found = statOf(toOutside(path))
    if (found?.isDirectory() === true) return "directory"
    return found?.isFile() === true ? ((found.mode & 0o111) === 0 ? "file" : "program") : undefined
  }

  const list = (directory: string, isWanted: (name: string) => boolean, most: number): ReadonlyArray<string> =>
    kindOf(directory) === "directory"
      ? namesIn(toOutside(directory), isWanted, most).filter((name) => kindOf(Path.join(directory, name)) !== undefined)
      : []

  return {
    kindOf,
    entries: (directory, isWanted) => list(directory, isWanted, mostEntries),
    programs: (isWanted) =>
      searched
        .split(":")
        .filter(Path.isAbsolute)
        .flatMap((directory) =>
          list(directory, isWanted, mostPrograms).filter((name) => kindOf(Path.join(directory, name)) === "program")
        )
  }
}

const statOf = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.statSync(path, { throwIfNoEntry: false }))

const namesIn = (path: string, isWanted: (name: string) => boolean, most: number): ReadonlyArray<string> => {
  const names: Array<string> = []
  Attempt.ignore(() => {
    const directory = Fs.opendirSync(path)
    try {
      for (let count = 0; count < most; count++) {
        const entry = directory.readSync()
        if (entry === null) break
        if (isWanted(entry.name)) names.push(entry.name)
      }
    } finally {
      directory.closeSync()
    }
  })
  return names
}
