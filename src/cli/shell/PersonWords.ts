/** Explains to a person how a command ended if the command itself did not, without advice for models. */
import * as Quote from "../../bash/Quote.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as Explanation from "../../sandbox/denial/Explanation.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/**
 * Returns why a command was not run or what was denied. For a denial, says what was refused, whether nothing was run,
 * and how to allow it.
 *
 * @param allow the command that allows a path: `/allow`
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
  // Within the shell, only the question can create the file, because commands may not write there.
  if (!remedy.isThere && allow === "/allow") return `${what}\n${outside(remedy.path)}`
  const first = remedy.isThere ? "" : ", make it, and then"
  return `${what}\nTo let commands write there${first}: ${allow} ${Quote.word(remedy.path)}`
}

/** Explains how to allow a missing path whose directory is too wide to be allowed. */
export const outside = (path: string): string =>
  `To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow ${Quote.word(path)}`
