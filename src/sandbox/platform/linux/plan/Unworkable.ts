/** Finds what keeps commands from working in the directory that a sandbox is for. */
import { isWithin } from "../../../policy/HostPath.js"
import * as PrivateTemporary from "../../../policy/PrivateTemporary.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import * as FileWalk from "./FileWalk.js"
import type { Layout } from "./Layout.js"
import * as WriteRoots from "./WriteRoots.js"

/** Says that a place is not what it was when the policy was built. */
export const replaced = (path: string): string =>
  `while it was built, ${path} was replaced, or a link led there; try again when it rests`

/**
 * Returns why commands can't work in the sandbox's directory, and what helps; undefined where they can. It, or
 * another place that commands may write, has been replaced since the policy was built, is in a place of sessions, which
 * every sandbox hides, or below a directory that can't be searched.
 */
export const find = (
  policy: SandboxPolicy,
  { cwd, flaw, masks, moved, others, roots, sessions }: Layout
): string | undefined => {
  const [gone] = moved
  // Left out, it would be read as all else is, without its masks.
  if (gone !== undefined) return replaced(gone.path)
  const place = [sessions, ...others].find((place) => [cwd, ...roots].some((path) => isWithin(path, place)))
  if (place !== undefined) return `${place} is for sessions alone, and can't be worked in`
  if (flaw !== undefined) return `${flaw}; name, or start in, a directory in it`
  const closed = masks.find(({ path, reason }) => reason !== undefined && isWithin(policy.cwd, path))
  if (closed === undefined) return undefined
  const { path, reason } = closed
  const isShared = policy.whitelist.some((rule) => rule.source === "tmp" && isWithin(path, rule.real ?? rule.path))
  const remedy = FileWalk.isOwn(path)
    ? "give its owner the right to (chmod u+rwx)"
    : isShared
      ? "it is another user's: name a directory of your own in TMPDIR"
      : "it is another user's, who could let you (chmod a+rx)"
  return `${path}: ${reason}; ${remedy}, or start elsewhere`
}

/**
 * Returns the first entry of the whitelist that is there by now, and that a sandbox was built without; undefined where there
 * is none. What the blacklist names in it is not masked.
 */
export const missed = (
  policy: Pick<SandboxPolicy, "shown" | "temporary" | "whitelist">,
  { masks, openings, refused, roots }: Layout
): string | undefined => {
  const held = [...roots, ...masks.map(({ path }) => path), ...openings.map(({ mask }) => mask.path)]
  return (policy.shown ?? PrivateTemporary.make(policy).whitelist).find((rule) => {
    const real = refused.includes(rule) ? undefined : WriteRoots.realPath(rule.path)
    return real !== undefined && !held.some((place) => isWithin(real, place))
  })?.path
}
