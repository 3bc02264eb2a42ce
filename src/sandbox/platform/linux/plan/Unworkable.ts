/**
 * Finds what keeps commands from working in the directory that a sandbox is for.
 *
 * @since 0.1.0
 */
import { isWithin } from "../../../policy/HostPath.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import * as Entries from "./Entries.js"
import type { Layout } from "./Layout.js"

/**
 * Returns why commands can't work in the sandbox's directory, and what helps; undefined where they can. It is in a place
 * of sessions, which every sandbox hides, or below a directory that can't be searched.
 *
 * @since 0.1.0
 * @category looking
 */
export const find = (
  policy: SandboxPolicy,
  { cwd, flaw, masks, others, roots, sessions }: Layout
): string | undefined => {
  const place = [sessions, ...others].find((place) => [cwd, ...roots].some((path) => isWithin(path, place)))
  if (place !== undefined) return `${place} is for sessions alone, and can't be worked in`
  if (flaw !== undefined) return `${flaw}; name, or start in, a directory in it`
  const closed = masks.find(({ path, reason }) => reason !== undefined && isWithin(policy.cwd, path))
  if (closed === undefined) return undefined
  const { path, reason } = closed
  const isShared = policy.whitelist.some((rule) => rule.source === "tmp" && isWithin(path, rule.real ?? rule.path))
  const remedy = Entries.isOwn(path)
    ? "give its owner the right to (chmod u+rwx)"
    : isShared
      ? "it is another user's: name a directory of your own in TMPDIR"
      : "it is another user's, who could let you (chmod a+rx)"
  return `${path}: ${reason}; ${remedy}, or start elsewhere`
}
