/**
 * Words the denials of a session: the first of each rule in full, the later ones in one line. What is allowed, and what to
 * do, is said once while it stays the same.
 *
 * @since 0.1.0
 */

import * as Explanation from "../sandbox/denial/Explanation.js"
import * as GitRemedy from "../sandbox/denial/GitRemedy.js"

/** The line of an explanation that has to be said each time: after any other denial, the command has run. */
const notRun = "The command was not run."

/**
 * The denials that were explained in a session.
 *
 * @since 0.1.0
 * @category models
 */
export class Denials {
  private readonly explained = new Set<string>()
  private readonly advised = new Set<string>()

  /** Returns the text for a denial by a rule; its first line names what was denied, and why. */
  word(rule: string, text: string): string {
    const [first = ""] = text.split("\n", 1)
    const named = `(rule ${rule}`
    const at = first.lastIndexOf(`${named}: `)
    // One rule can deny for several reasons: a server's file that is not trusted is also not written.
    const key = at < 0 ? rule : first.slice(at)
    if (!this.explained.has(key)) {
      this.explained.add(key)
      const [what = "", happened, ...advice] = text.split("\n")
      const fresh = advice.filter((line) => !this.advised.has(line) || line.startsWith(Explanation.also))
      for (const line of fresh) this.advised.add(line)
      return [what, ...(happened === undefined ? [] : [happened]), ...fresh].join("\n")
    }
    const ran = text.includes(`\n${notRun}`) ? ` ${notRun}` : ""
    const lines = text.split("\n")
    const others = lines.filter((line) => line.startsWith(Explanation.also) || GitRemedy.isRemedy(line))
    const asked = lines.find((line) => !this.advised.has(line) && Explanation.requestIn(line) !== undefined)
    if (asked !== undefined) this.advised.add(asked)
    const what = `${at < 0 ? `${first} ` : first.slice(0, at)}${named}, explained before).${ran}`
    return [what, ...others, asked && Explanation.requestIn(asked)].filter((part) => part !== undefined).join(" ")
  }

  /** Forgets what was explained, as the session does that begins anew. */
  forget(): void {
    this.explained.clear()
    this.advised.clear()
  }
}
