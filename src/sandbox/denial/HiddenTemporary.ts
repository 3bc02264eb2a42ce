/** Finds what a command looked for in `/tmp` and the machine has in its own, which the sandbox's private one hides. */
import type { Steps } from "../../domain/Slices.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as CommandWords from "./CommandWords.js"
import * as Denial from "./Denial.js"

const missing = /no such file|not found|does(?: not|n't) exist|cannot (?:open|find|access|stat)|ENOENT/i

/** A path in a message. */
const paths = /\/[^\s'"`‘’“”:,;()<>]+/g

/**
 * Returns a denial for each such path that the command, or a message on its failure, names. `said` is its standard error.
 */
export function* find(
  command: string,
  said: string,
  policy: Pick<SandboxPolicy, "temporary" | "whitelist">
): Steps<ReadonlyArray<Denial.Denial>> {
  if (policy.temporary === undefined || !missing.test(said)) return []
  const temporary = PrivateTemporary.make(policy)
  const named = new Set([
    ...CommandWords.all(command).filter((path) => said.includes(path)),
    ...said.split("\n").flatMap((line) => (missing.test(line) ? (line.match(paths) ?? []) : []))
  ])
  const found: Array<Denial.Denial> = []
  for (const path of named) {
    if (!path.startsWith("/") || !temporary.isHidden(path)) continue
    const reason = `the sandbox has a /tmp of its own, and only the machine's has ${path}`
    found.push(Denial.make({ rule: PrivateTemporary.hiding, reason }, path, "read", "verified-text"))
    yield
  }
  return found
}
