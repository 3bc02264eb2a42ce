/**
 * Creates entries below a directory that commands can write, without following links that a command may have put there.
 */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "../policy/BytePath.js"
import { O_PATH } from "../policy/HeldDirectory.js"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_WRONLY } = Fs.constants
/** What to create. For a link, its target; undefined removes it. */
type Kind = "file" | "directory" | { readonly link: string | undefined }

/** Creates an entry of a held directory. Returns whether it was missing. Anything of another kind is removed. */
const makeEntry = (at: string | Buffer, kind: Kind): boolean => {
  const found = Fs.lstatSync(at, { throwIfNoEntry: false })
  if (typeof kind === "object") {
    if (found !== undefined && !(found.isSymbolicLink() && !Fs.existsSync(at))) return false
    if (found !== undefined) Fs.unlinkSync(at)
    if (kind.link !== undefined) Fs.symlinkSync(BytePath.toHost(kind.link), at)
    return true
  }
  if (kind === "directory" ? found?.isDirectory() === true : found?.isFile() === true) return false
  if (found !== undefined) Fs.rmSync(at, { recursive: true, force: true })
  if (kind === "directory") Fs.mkdirSync(at, { mode: 0o755 })
  else Fs.closeSync(Fs.openSync(at, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0))
  return true
}

/**
 * Creates the entries on the way to a path below a directory, none of which is a link. Returns whether the last is new.
 */
export const make = (directory: string, inside: string, kind: Kind): boolean => {
  const names = inside.split("/").filter((name) => name !== "")
  let at = Fs.openSync(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    let isNew = false
    for (const [index, name] of names.entries()) {
      const entry = BytePath.toHost(`/proc/self/fd/${at}/${name}`)
      const isLast = index === names.length - 1
      isNew = makeEntry(entry, isLast ? kind : "directory")
      if (isLast) break
      const next = Fs.openSync(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW)
      Fs.closeSync(at)
      at = next
    }
    return isNew
  } finally {
    Fs.closeSync(at)
  }
}

/**
 * Creates a link, unless something is there or a command changes the path meanwhile. A dangling link is replaced;
 * without a target, it is removed.
 */
export const link = (directory: string, inside: string, target: string | undefined): void => {
  // Commands that need the link work without it.
  Attempt.ignore(() => make(directory, inside, { link: target }))
}
