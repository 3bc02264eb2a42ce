/**
 * Words for a person what commands may read and write.
 *
 * @since 0.1.0
 */
import * as ForeignText from "../../domain/ForeignText.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import { type Rule, writable } from "../../sandbox/policy/SandboxPolicy.js"
import type { InForce } from "../../sandbox/SandboxManager.js"

const section = (heading: string, rules: ReadonlyArray<Rule>): ReadonlyArray<string> =>
  rules.length === 0
    ? []
    : [
        "",
        heading,
        ...rules.map(
          ({ pattern, source }) => `  ${ForeignText.word(pattern, 300)}  (${PolicyDecision.describeSource(source)})`
        )
      ]

/**
 * Returns the text; undefined stands for no sandbox.
 *
 * @since 0.1.0
 */
export const make = (inForce: InForce | undefined): string => {
  if (inForce === undefined) return "There is NO sandbox: commands have all the rights that you have."
  const { blacklist, granted = [], readonly } = inForce.policy
  return [
    "Commands run in a sandbox. They can read everything that is not denied here. There is no network.",
    ...section("Read and write:", writable(inForce.policy)),
    ...section("Never read or written, wherever it is:", blacklist),
    ...section("Never written:", readonly),
    ...section("Allowed to be read all the same:", granted)
  ].join("\n")
}
