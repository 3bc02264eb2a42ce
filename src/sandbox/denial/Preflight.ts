/**
 * What a command surely asks of the blacklist, read in its words before it runs. The kernel enforces the policy; this is to
 * answer early and clearly, so where anything is unsure it says nothing.
 *
 * @since 0.1.0
 */

import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import { type Check, CommandReader } from "./CommandReader.js"
import * as Denial from "./Denial.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Context {
  /** The session's current directory. */
  readonly cwd: string
  /** What `~` and `$HOME` are in the session; undefined where that is not known. */
  readonly home?: string | undefined
  /** Variables of the session whose values are known. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/**
 * The first denial that a command would surely meet; undefined where none is sure. Compiles the policy's rules once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  policy: SandboxPolicy,
  { decide, explain } = PolicyDecision.make(policy)
): ((command: string, context: Context) => Denial.Denial | undefined) => {
  /** The outermost directory of a real path that is denied already. */
  const outermost = (real: string): string => {
    for (let end = real.indexOf("/", 1); end > 0; end = real.indexOf("/", end + 1)) {
      if (!decide(real.slice(0, end), "read").allowed) return real.slice(0, end)
    }
    return real
  }

  const check: Check = ({ access, partial, path }, cwd) => {
    if (!path.startsWith("/") && cwd === undefined) return undefined
    const verdict = explain(path, cwd ?? "/", "read")
    if (verdict.allowed) return undefined
    const { real, rule } = verdict
    // Reading what is not there reads nothing; a literal rule is denied all the same, so that its answer is always one.
    if (rule.kind === "glob" && access !== "write" && HostPath.isMissing(real)) return undefined
    const onlyLooks = access === "list" || partial
    if (onlyLooks && outermost(real) === real && !HostPath.isMissing(real) && !HostPath.isDirectory(real))
      return undefined
    return Denial.make(verdict, real, access === "write" ? "write" : "read", "preflight")
  }

  return (command, { cwd, environment = {}, home }) => {
    const variables = new Map(Object.entries({ ...environment, PWD: cwd }))
    if (home !== undefined) variables.set("HOME", home)
    return new CommandReader(check, { cwd, known: { home, variables } }).read(command)
  }
}

/**
 * One answer. For more of them, `make`.
 *
 * @since 0.1.0
 */
export const preflight = (policy: SandboxPolicy, command: string, context: Context): Denial.Denial | undefined =>
  make(policy)(command, context)
