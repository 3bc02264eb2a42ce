/**
 * Finds the hidden file that git takes for changed, where it stops at changes without naming them: `git rebase`, `git pull`.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Mask } from "../platform/SandboxPlatform.js"
import type * as PassingDenial from "./PassingDenial.js"
import * as WorkTree from "./WorkTree.js"

/** Matches how git refuses to go on while there are changes. */
const refusal =
  /^(?:error|fatal): (?:cannot (?:rebase|pull with rebase): You have unstaged changes|your local changes would be overwritten|Your local changes to the following files would be overwritten|cannot continue with unstaged changes)/m

/** The most bytes of an index that is read. */
const largest = 16 * 1024 * 1024

/**
 * Tests whether git has refused to go on for the sake of changes.
 *
 * @since 0.1.0
 * @category reading
 */
export const isRefusal = ({ command, stderr }: PassingDenial.Failed): boolean =>
  /\bgit\b/.test(command) && refusal.test(stderr)

/**
 * Finds a hidden file that the index of a working tree has: what can't be read seems changed. Undefined where there is none,
 * or the index does not tell.
 *
 * @since 0.1.0
 * @category looking
 */
export const find = (failed: PassingDenial.Failed): Mask | undefined => {
  for (const top of WorkTree.tops(failed)) {
    const masks = failed.masks.filter(({ kind, path }) => kind === "file" && path.startsWith(`${top}/`))
    const index = masks.length === 0 ? undefined : read(Path.posix.join(top, ".git/index"))
    const mask = index === undefined ? undefined : masks.find(({ path }) => holds(index, path.slice(top.length + 1)))
    if (mask !== undefined) return mask
  }
  return undefined
}

const read = (path: string): Buffer | undefined => {
  try {
    const { size } = Fs.statSync(path)
    return size > largest ? undefined : Fs.readFileSync(path)
  } catch {
    return undefined
  }
}

/** Tests for the entry of a name, before which stand its length and whether git is not to look at the file. */
const holds = (index: Buffer, name: string): boolean => {
  const bytes = Buffer.from(`${name}\0`)
  for (let at = index.indexOf(bytes); at > 1; at = index.indexOf(bytes, at + 1)) {
    const flags = index.readUInt16BE(at - 2)
    if ((flags & 0xfff) === bytes.length - 1) return (flags & assumeUnchanged) === 0
  }
  return false
}

const assumeUnchanged = 0x8000
