/**
 * Bounds the number of masks: the kernel bounds the mounts of a sandbox, and each takes time. Where files that the blacklist
 * names are more than that, directories that hold many of them are masked whole.
 */
import * as Path from "node:path"
import { isWithin } from "../../../policy/HostPath.js"
import type { Mask } from "../../SandboxPlatform.js"

/** The most masks of a sandbox, about. */
export const most = 4000

/** The reason why such a directory is masked whole. */
export const crowded = "it holds more of what the blacklist names than can be hidden one by one"

/** The part of its parent's masks that a directory must hold to be masked in its place. */
const part = 0.9

/**
 * The directories that hold masks, with the number of masks below each, up to the topmost that may be masked whole.
 */
class Crowds {
  readonly sizes = new Map<string, number>()
  readonly tops = new Set<string>()
  private readonly below = new Map<string, Set<string>>()

  constructor(masks: ReadonlyArray<Mask>, mayFold: (directory: string) => boolean) {
    const foldable = new Map<string, boolean>()
    const isFoldable = (directory: string): boolean => {
      const known = foldable.get(directory) ?? mayFold(directory)
      foldable.set(directory, known)
      return known
    }
    for (const { path } of masks) {
      let last: string | undefined
      for (let at = Path.dirname(path); isFoldable(at); at = Path.dirname(at)) {
        this.sizes.set(at, (this.sizes.get(at) ?? 0) + 1)
        if (last !== undefined) this.below.set(at, (this.below.get(at) ?? new Set()).add(last))
        last = at
      }
      if (last !== undefined) this.tops.add(last)
    }
  }

  /** Goes down from a directory as long as nearly all of its masks are in one of those below. */
  narrow(top: string): string {
    const size = this.sizes.get(top) ?? 0
    for (const one of this.below.get(top) ?? []) {
      if ((this.sizes.get(one) ?? 0) > size * part) return this.narrow(one)
    }
    return top
  }
}

/**
 * Returns the masks, with whole directories in the place of those that are too many. Only directories in the roots, or roots,
 * are masked so, and none that holds what is needed. Throws where that leaves too many.
 *
 * @param needed paths without which no command can run
 * @param limit the most masks; `most` by default
 */
export const fold = <A extends Mask>(
  masks: ReadonlyArray<A>,
  roots: ReadonlyArray<string>,
  needed: ReadonlyArray<string>,
  limit = most
): ReadonlyArray<A | Mask> => {
  if (masks.length <= limit) return masks
  const crowds = new Crowds(
    masks,
    (directory) => roots.some((root) => isWithin(directory, root)) && !needed.some((path) => isWithin(path, directory))
  )
  const chosen = new Set<string>()
  let left = masks.length
  const largest = [...crowds.tops].sort((a, b) => (crowds.sizes.get(b) ?? 0) - (crowds.sizes.get(a) ?? 0))
  for (const top of largest) {
    if (left <= limit) break
    const directory = crowds.narrow(top)
    const size = crowds.sizes.get(directory) ?? 0
    if (size < 2) break
    chosen.add(directory)
    left -= size - 1
  }
  if (left > limit) {
    const { path } = masks.findLast((mask) => roots.some((root) => isWithin(mask.path, root))) ?? masks[0] ?? {}
    throw new Error(
      `${masks.length} files are named by the blacklist, such as ${path}, and no sandbox can hide that many: remove them, or start elsewhere`
    )
  }
  const folded = new Map<string, Mask>()
  const single: Array<A> = []
  for (const mask of masks) {
    let at = Path.dirname(mask.path)
    while (at !== "/" && !chosen.has(at)) at = Path.dirname(at)
    if (at === "/") single.push(mask)
    else if (!folded.has(at)) folded.set(at, { path: at, kind: "directory", rule: mask.rule, reason: crowded })
  }
  return [...single, ...folded.values()]
}
