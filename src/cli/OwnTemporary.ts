/**
 * Tells of the directories for temporary and running things that a sandbox has of its own, in place of the system's.
 *
 * @since 0.1.0
 */
import { isWithin } from "../sandbox/policy/HostPath.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as RealPath from "../sandbox/policy/RealPath.js"
import type { SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"

const places = process.platform === "darwin" ? [] : ["/tmp", "/var/tmp", "/run", "/dev/shm"]

/** The programs of NixOS, which a sandbox shows. */
const shownInRun = /^\/run\/(?:current-system|booted-system|opengl-driver)(?:\/|$)/

/**
 * Returns the directory that holds a path, where the sandbox has one of its own in its place; undefined elsewhere, and
 * where a rule is about the path, and for reading the user's skills, which every sandbox shows.
 *
 * @param skills the directory of the user's skills
 * @since 0.1.0
 */
export const find = (
  { whitelist }: SandboxPolicy,
  verdict: PolicyDecision.Verdict & { readonly real: string },
  access: PolicyDecision.Access,
  skills: string
): string | undefined => {
  if (access === "read" && isWithin(verdict.real, RealPath.follow(skills).real)) return undefined
  if (shownInRun.test(verdict.real)) return undefined
  if (!verdict.allowed && !PolicyDecision.isNotWhitelisted(verdict.rule)) return undefined
  const roots = whitelist.map(({ path, real = path }) => real)
  return places.find((place) => {
    const at = RealPath.follow(place).real
    return isWithin(verdict.real, at) && !roots.some((root) => isWithin(at, root) || isWithin(verdict.real, root))
  })
}

/**
 * Says why commands do not reach what such a directory holds outside.
 *
 * @since 0.1.0
 */
export const describe = (place: string, access: PolicyDecision.Access): string => {
  const effect =
    access === "write" ? "what is written there goes with the session" : "what it holds outside is not seen"
  return `in the sandbox, ${place} is its own, empty at first: ${effect}`
}
