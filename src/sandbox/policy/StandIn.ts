/** Tells what commands read in the place of a hidden file: an empty file, or settings without their secrets. */
import * as Path from "node:path"
import * as DefaultSecrets from "./DefaultSecrets.js"
import { GitHeld } from "./GitHeld.js"
import * as HostPath from "./HostPath.js"
import * as PathRule from "./PathRule.js"
import type { Rule, SandboxPolicy } from "./SandboxPolicy.js"

const isUsers = ({ source }: Rule): boolean => source !== "default" && source !== "own"

/**
 * Returns the text that commands read in the place of a file; undefined where they may not open it. A file that git tracks
 * has none, for git would commit it; nor has one that a rule of the user's own hides, unless that rule says so.
 *
 * @param path a real path
 */
export const of = (policy: Pick<SandboxPolicy, "blacklist">, rule: Rule, path: string): string | undefined => {
  // Only there can a sandbox have another file in the place of one.
  if (process.platform !== "linux") return undefined
  const text = rule.hidden === "empty" ? "" : DefaultSecrets.redacted(rule, path)
  if (text === undefined || !HostPath.isFile(path) || GitHeld.of(policy).isTracked(path)) return undefined
  // A rule for a directory hides it as a whole.
  if (PathRule.make([rule]).find(Path.posix.dirname(path)) !== undefined) return undefined
  return text === "" || PathRule.make(policy.blacklist.filter(isUsers)).find(path) === undefined ? text : undefined
}

/**
 * Describes such a text in the words of a sentence about the file.
 *
 * @param text what `of` returns
 */
export const describe = (text: string): string => (text === "" ? "as an empty file" : "without its secrets")
