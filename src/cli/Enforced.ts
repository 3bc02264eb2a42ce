/**
 * Tells what a sandbox enforces of a path where that is another than what the policy's rules alone say: what else leads to
 * a hidden file, what is the sandbox's own, and what the rights of files refuse anyway.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layout from "../sandbox/platform/linux/plan/Layout.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as HostRights from "../sandbox/policy/HostRights.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as RealPath from "../sandbox/policy/RealPath.js"
import type { Rule, SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"
import * as PrivateDirectory from "../session/PrivateDirectory.js"
import * as OwnTemporary from "./OwnTemporary.js"
import { isAnywhere } from "./shell/PolicyText.js"

/**
 * The refusal of an access, and a further sentence about it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Enforced {
  /** What replaces parts of the rules' verdict. */
  readonly verdict?: { readonly allowed: false; readonly rule?: Rule; readonly reason?: string; readonly own?: string }
  /** The reason in words, where it is none of a rule. */
  readonly reason?: string
  readonly remark?: string
}

const { isWithin } = HostPath

type Decided = PolicyDecision.Verdict & { readonly real: string }

const byRights = "the rights of the file, or of a directory around it, give it to nobody but others"

const placeOf = ({ path, real = path }: Rule): string => real

/** Returns the places for private files of sessions, whether they are there or not. */
const sessionsPlaces = (): ReadonlyArray<string> =>
  PrivateDirectory.places().map((place) => RealPath.follow(place).real)

/** Looks up what a sandbox would be built of now, as its start does. */
const look = (policy: SandboxPolicy, places: ReadonlyArray<string>) =>
  Effect.tryPromise(() => {
    const there = places.filter((place) => !HostPath.isMissing(place))
    return Layout.make(policy, `${there[0] ?? "/nonexistent"}/session`, [], undefined, there)
  }).pipe(Effect.orElseSucceed(() => undefined))

const denied = (reason: string, rule?: Rule): Enforced =>
  rule === undefined ? { verdict: { allowed: false, reason }, reason } : { verdict: { allowed: false, rule, reason } }

/** Tells of a file that a rule denies to those who name it, though nothing hides it. */
const ofDenied = (
  { whitelist }: SandboxPolicy,
  { real, rule }: Decided,
  access: PolicyDecision.Access,
  layout: Layout.Layout | undefined
): Enforced => {
  if (rule === undefined || layout === undefined || PolicyDecision.isNotWhitelisted(rule)) return {}
  const isInRoots = whitelist.some((each) => isWithin(real, placeOf(each)))
  if (!isInRoots) {
    return isAnywhere(rule)
      ? {
          remark: "It lies where commands can't write: the rule refuses those that name it, and hides it from no other."
        }
      : {}
  }
  const isHidden = layout.masks.some(({ path }) => isWithin(real, path))
  return access === "write" && !isHidden && HostPath.isMissing(real)
    ? {
        remark:
          "Nothing is there: the rule refuses commands that name it, and hides what another makes there at the next look."
      }
    : {}
}

const ofAllowed = (
  { real, rule }: Decided,
  access: PolicyDecision.Access,
  { masks, openings, readonly, roots }: Layout.Layout
): Enforced => {
  const mask = [...masks, ...openings.map((opening) => opening.mask)].find(({ path }) => isWithin(real, path))
  if (mask !== undefined) {
    const why = mask.reason ?? "the same as what the rule names, under another name"
    return denied(`${why}: neither read nor written`, mask.rule)
  }
  if (access === "write" && rule !== undefined && rule.source !== "cache") {
    if (readonly.some((path) => isWithin(real, path))) return denied("it is Synapse's own: read only")
    const root = placeOf(rule)
    if (!roots.some((path) => isWithin(real, path)))
      return denied(`${root} is not there: it can be written once it is`, rule)
  }
  return HostRights.allow(real, access) ? {} : denied(byRights)
}

/**
 * Finds what is enforced of a path that the rules have decided on. Elsewhere than on Linux, that is what the rules say.
 *
 * @param skills the directory of the user's skills
 * @since 0.1.0
 */
export const find = (
  policy: SandboxPolicy,
  decided: Decided,
  access: PolicyDecision.Access,
  skills: string
): Effect.Effect<Enforced> =>
  Effect.gen(function* () {
    if (process.platform !== "linux") return {}
    const { real } = decided
    const places = sessionsPlaces()
    const isRefused = !decided.allowed && !PolicyDecision.isNotWhitelisted(decided.rule)
    const place = isRefused ? undefined : places.find((path) => isWithin(real, path))
    if (place !== undefined) return denied(`${place} is for the private files of sessions, and no sandbox shows it`)
    const own = OwnTemporary.find(policy, decided, access, skills)
    if (own !== undefined) {
      return { verdict: { allowed: false, own }, reason: OwnTemporary.describe(own, access) }
    }
    if (!decided.allowed && !isRefused) return {}
    const layout = yield* look(policy, places)
    if (!decided.allowed) return ofDenied(policy, decided, access, layout)
    return layout === undefined ? {} : ofAllowed(decided, access, layout)
  })
