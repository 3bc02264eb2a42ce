/**
 * Tells a person how a command ended, where the command itself did not: in lines for people, without advice for models.
 */
import * as Quote from "../../bash/Quote.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as Explanation from "../../sandbox/denial/Explanation.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/**
 * Returns why a command was not run, or what it was refused: of a denial, the first line of what a model is told, that
 * nothing was run where that is so, and how to allow it.
 *
 * @param allow what stands before the path that is to be allowed: `/allow`
 * @param cwd the directory that the sandbox is for
 */
export const reasonOf = ({ extras, message }: ToolReturn, allow: string, cwd: string): string => {
  const { blocked, blockedReason = message, blockedResource, blockedRule, denied } = extras
  if (blocked !== true) return message
  if (denied === undefined) return extras.error === "Blocked" ? message : blockedReason
  const what = Diagnostic.denialForPerson(denied)
  if (blockedRule !== PolicyDecision.notWhitelisted.pattern || blockedResource === undefined) return what
  const remedy = Explanation.remedyFor(blockedResource, cwd)
  if (remedy === undefined) return what
  // Within the shell, the question makes a file; commands could make nothing else there.
  if (!remedy.isThere && allow === "/allow") return `${what}\n${outside(remedy.path)}`
  const first = remedy.isThere ? "" : ", make it, and then"
  return `${what}\nTo let commands write there${first}: ${allow} ${Quote.word(remedy.path)}`
}

/** Returns how a path is allowed within the shell that is missing in a directory too wide to be allowed. */
export const outside = (path: string): string =>
  `To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow ${Quote.word(path)}`
