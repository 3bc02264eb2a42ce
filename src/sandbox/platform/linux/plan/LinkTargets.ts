/**
 * Decides for links with blacklisted names: any command can make one, and lead it anywhere.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as RealPath from "../../../policy/RealPath.js"
import type { Rule } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"

/** Directories that programs come from: nothing in them is masked because a link leads to it. */
const programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/nix", "/gnu", "/snap"]

/** Directories that no system works without; what lies deeper in them may be masked. */
const system = ["/etc", "/opt", "/var", "/var/lib", "/home", "/root", "/srv", "/mnt", "/media"]

/** Files in `/etc` itself are the system's; those of applications lie in directories. */
const isSystemFile = (path: string): boolean => Path.dirname(path) === "/etc"

/**
 * Tests whether to mask the target of a link would take the system, the user's home, the session or the place of work
 * from the commands. Such a target stays readable; the link is denied by its name before a command runs.
 *
 * @param needed further paths that are never masked because a link leads to them or to a directory around them
 * @since 0.1.0
 * @category predicates
 */
export const isHarmful = (target: string, needed: ReadonlyArray<string>): boolean =>
  target === "/" ||
  isSystemFile(target) ||
  programs.some((path) => isWithin(target, path)) ||
  [...system, ...needed, process.execPath].some((path) => isWithin(path, target))

/**
 * Tests whether a link that commands may have made leads to a directory out of what they may write: one link could hide
 * other projects from every later session. A single file is hidden wherever it lies, as one secret that projects share.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isFar = (
  link: string,
  { kind, path }: Pick<Mask, "kind" | "path">,
  roots: ReadonlyArray<string>
): boolean =>
  kind === "directory" && roots.some((root) => isWithin(link, root)) && !roots.some((root) => isWithin(path, root))

/**
 * Makes a rule for the place that a dangling link leads to; undefined for one that leads to something.
 *
 * @since 0.1.0
 * @category constructors
 */
export const awaited = (link: string, rule: Rule): Rule | undefined => {
  try {
    if (Fs.statSync(BytePath.toHost(link), { throwIfNoEntry: false }) !== undefined) return undefined
  } catch {
    // It leads to itself, or to where nobody may look.
    return undefined
  }
  const path = RealPath.follow(link, 1000).real
  return { pattern: rule.pattern, path, kind: "path", source: rule.source }
}
