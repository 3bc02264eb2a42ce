/**
 * Finds the other names of masked files: a hard link that was made before leads to the same bytes.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as BytePath from "../../../policy/BytePath.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as Entries from "./Entries.js"
import * as FileWalk from "./FileWalk.js"

/** A file that has names besides the masked one. */
interface Linked {
  readonly mask: Mask
  /** The number of names that are not found yet. */
  left: number
}

/** Returns undefined for what is gone, or lies in a directory that can't be entered (`Entries.closedAt`). */
const stat = (path: string): Fs.BigIntStats | undefined => {
  try {
    return Fs.lstatSync(BytePath.toHost(path), { bigint: true })
  } catch {
    return undefined
  }
}

const identity = ({ dev, ino }: Fs.BigIntStats): string => `${dev}:${ino}`

/** The most entries of a masked directory that are examined: one that holds more is a cache, not a secret. */
const mostEntries = 50_000

/** Finds the files with several names, among the masked files and in the masked directories. */
const linkedOf = async (masks: ReadonlyArray<Mask>): Promise<Map<string, Linked>> => {
  const found = new Map<string, Linked>()
  const add = (mask: Mask, path: string) => {
    const at = stat(path)
    if (at === undefined || !at.isFile() || at.nlink < 2n) return
    const known = found.get(identity(at))
    if (known === undefined) found.set(identity(at), { mask, left: Number(at.nlink) - 1 })
    else known.left--
  }
  for (const mask of masks) {
    if (mask.kind === "file") add(mask, mask.path)
    else {
      let entries = 0
      await FileWalk.visitAll([mask.path], (directory, entry) => {
        if (entry.isFile()) add(mask, `${directory}/${entry.name}`)
        return ++entries < mostEntries
      })
    }
  }
  return found
}

/**
 * Makes masks for all other names that masked files have below the roots. Files are examined one by one only where a
 * masked file has several names, and only until all of them are found. A directory that hides whether its files are among
 * them is masked.
 *
 * @since 0.1.0
 */
export const find = async (masks: ReadonlyArray<Mask>, roots: ReadonlyArray<string>): Promise<Array<Mask>> => {
  const linked = await linkedOf(masks)
  let left = 0
  for (const one of linked.values()) left += Math.max(one.left, 0)
  if (left === 0) return []
  const masked = new Set(masks.map((mask) => mask.path))
  const aliases: Array<Mask> = []
  await FileWalk.visitAll(roots, (directory, entry) => {
    if (left === 0) return false
    const path = `${directory === "/" ? "" : directory}/${entry.name}`
    if (masked.has(path)) return false
    if (!entry.isFile()) return true
    const at = stat(path)
    if (at === undefined) {
      const hidden = Entries.hiding(path)
      const [one] = linked.values()
      if (hidden !== undefined && one !== undefined) {
        aliases.push({ path: hidden, kind: "directory", rule: one.mask.rule, reason: Entries.unsearchable })
      }
    }
    const known = at === undefined || at.nlink < 2n ? undefined : linked.get(identity(at))
    if (known !== undefined) {
      aliases.push({ path, kind: "file", rule: known.mask.rule })
      left--
    }
    return false
  })
  return aliases
}
