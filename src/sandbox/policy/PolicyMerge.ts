/**
 * Merges layers of rules into a policy. A layer adds rules and removes none; of two rules for one path, the first
 * counts.
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as PathEntry from "./PathEntry.js"
import * as PathRule from "./PathRule.js"
import * as PolicyDecision from "./PolicyDecision.js"
import * as RealPath from "./RealPath.js"
import type { Rule, RuleSource, SandboxPolicy } from "./SandboxPolicy.js"

type List = "whitelist" | "blacklist"

/** The entries that one source adds. */
interface PolicyLayer {
  readonly source: RuleSource
  /** The source's name in error messages: a file's path, `the settings`. */
  readonly origin: string
  /** The path of the lists within the source, as `policy.filesystem.`; empty where they lie at its top. */
  readonly prefix: string
  readonly whitelist?: ReadonlyArray<string> | undefined
  readonly blacklist?: ReadonlyArray<string> | undefined
}

/** The parts that a policy is merged from. */
export interface Parts {
  readonly expansion: PathEntry.Expansion
  readonly layers: ReadonlyArray<PolicyLayer>
  /** Exact paths that a person allowed to read although they are on the blacklist. */
  readonly granted: ReadonlyArray<string>
  /** The directory for temporary files. */
  readonly temporary: string
  /** The path of `sandbox.json`, which stays read-only. */
  readonly file: string
  /** The directory of that file, which stays read-only as well. */
  readonly home: string
  /** Other paths that stay read-only, whatever the lists say. */
  readonly own: ReadonlyArray<string>
  /** Further real paths that stay read-only, where they lie below a whitelisted path. */
  readonly trusted?: ReadonlyArray<string>
  /** The path by which the user has entered the directory of `expansion.cwd`. */
  readonly entered?: string | undefined
  /** Resolves a path, each the same way throughout (`RealPath.once`). */
  readonly follow: typeof RealPath.follow
  /** Finds a link on the way to a path that commands of an earlier session may have made; by default, there is none. */
  readonly doubt?: (path: string) => Doubt | undefined
}

/** A path that must not be followed. */
export interface Doubt {
  /** The reason, which names the link. */
  readonly reason: string
  /** The real path that it leads to. */
  readonly real: string
}

/** The reason why the parts yield no policy. */
export interface Objection {
  readonly origin: string
  /** The place of the entry at fault, as `policy.filesystem.whitelist[0]`; empty where it is no entry's fault. */
  readonly path: string
  readonly reason: string
  readonly remedy: string
}

const withReal = (rule: Rule, follow: typeof RealPath.follow = RealPath.follow): Rule => {
  const real = rule.kind === "glob" ? RealPath.followPattern(rule.path) : follow(rule.path).real
  return real === rule.path ? rule : { ...rule, real }
}

/** Makes a rule for one path, in which no character has a special meaning. */
export const exact = (path: string, source: RuleSource, follow?: typeof RealPath.follow): Rule =>
  withReal({ pattern: path, path: Path.resolve(path), kind: "path", source }, follow)

const realOf = (rule: Rule): string => rule.real ?? rule.path

/** Tests whether a symbolic link lies directly in the root: there, links are the system's own. */
const isSystems = (link: string): boolean => Path.dirname(link) === "/"

/**
 * Returns the reason why a path in the file's whitelist can't be allowed: a symbolic link on the way to it. A sandboxed
 * command may have put that link there after the path was allowed, to lead it anywhere.
 */
const ledElsewhere = ({ kind, path, source }: Rule, { follow }: Parts): string | undefined => {
  if (source !== "file" || kind === "glob") return undefined
  const { links, real } = follow(path)
  const link = links.find((one) => !isSystems(one))
  return link === undefined
    ? undefined
    : `${link} is a symbolic link, and leads to ${real}: if that is what is meant, allow ${real}`
}

/** Returns the reason why a path that was allowed for this session is not followed. */
const inDoubt = ({ kind, path, source }: Rule, { doubt }: Parts): string | undefined => {
  const found = source === "file" || kind === "glob" ? undefined : doubt?.(path)
  return found && `${found.reason}: if that is what is meant, allow ${found.real}`
}

const toRules = (
  entry: string,
  list: List,
  source: RuleSource,
  parts: Parts
): Either.Either<ReadonlyArray<Rule>, string> =>
  Either.flatMap(PathEntry.parse(entry, parts.expansion, list), (meanings) => {
    const rules = meanings.map((meaning) => withReal({ pattern: entry, ...meaning, source }, parts.follow))
    const reason = rules.map((rule) =>
      list === "whitelist"
        ? (PathEntry.unwritable(realOf(rule)) ?? ledElsewhere(rule, parts) ?? inDoubt(rule, parts))
        : undefined
    )[0]
    return reason === undefined ? Either.right(rules) : Either.left(reason)
  })

const rulesOf = (list: List, parts: Parts): Either.Either<ReadonlyArray<Rule>, Objection> => {
  const rules = parts.layers.flatMap((layer) =>
    (layer[list] ?? []).map((entry, at) =>
      Either.mapLeft(
        toRules(entry, list, layer.source, parts),
        (reason): Objection => ({
          origin: layer.origin,
          path: `${layer.prefix}${list}[${at}]`,
          reason: `${JSON.stringify(entry)} can't be on the ${list}: ${reason}`,
          remedy: "Nothing runs until that entry is corrected or taken away."
        })
      )
    )
  )
  return Either.map(Either.all(rules), (all) => all.flat())
}

/** Keeps the first of the rules for each path. */
const distinct = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
  const seen = new Set<string>()
  return rules.filter(({ kind, path }) => seen.size < seen.add(`${kind} ${path}`).size)
}

/** Drops the rules for directories where no sandbox may write, as for one in `/proc`. */
const granting = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  rules.filter((rule) => PathEntry.unwritable(realOf(rule)) === undefined)

/** Drops the rule for a directory for temporary files that can't be one. It may be the user's own in `/run`. */
const temporaryOf = ({ follow, temporary }: Parts): ReadonlyArray<Rule> =>
  [exact(temporary, "tmp", follow)].filter((rule) => !PathEntry.isKernels(realOf(rule)))

/**
 * Makes rules for the trusted paths which a whitelist allows. A path that holds a whole place of the whitelist is left
 * out, for nothing could be written there any more.
 */
const trustedOf = ({ trusted = [] }: Parts, whitelist: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
  if (trusted.length === 0) return []
  const allowed = PathRule.make(whitelist)
  const places = whitelist.map(realOf)
  return trusted
    .filter((path) => allowed.find(path) !== undefined)
    .filter((path) => !places.some((place) => place === path || place.startsWith(`${path}/`)))
    .map((path) => exact(path, "trust"))
}

const readonlyOf = (parts: Parts, whitelist: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
  const { file, home, own } = parts
  const rules = [home, ...own].map((path) => exact(path, "own"))
  const config = exact(file, "own")
  // The file lies in the directory, unless it is a link to somewhere else.
  const isElsewhere = PathRule.make(rules).find(realOf(config)) === undefined
  return distinct([...rules, ...(isElsewhere ? [config] : []), ...trustedOf(parts, whitelist)])
}

/** Objects to a directory that is reached by a link which may be a command's. */
const objectionToLinks = ({ doubt, entered, expansion, temporary }: Parts): Objection | undefined => {
  const places = [
    [expansion.cwd, (real: string) => `name it: --cwd ${real}`],
    [entered, (real: string) => `enter it by that name: cd ${real}`],
    [temporary, (real: string) => `name it: TMPDIR=${real}`]
  ] as const
  for (const [path, remedy] of places) {
    const found = path === undefined ? undefined : doubt?.(path)
    if (path === undefined || found === undefined) continue
    return {
      origin: path,
      path: "",
      reason: found.reason,
      remedy: `If ${found.real} is what is meant, ${remedy(found.real)}`
    }
  }
  return undefined
}

const objectionTo = (policy: SandboxPolicy, parts: Parts): Objection | undefined => {
  const { file, home } = parts
  const led = objectionToLinks(parts)
  if (led !== undefined) return led
  const decision = PolicyDecision.make(policy)
  const loose = [file, home]
    .flatMap((path) => RealPath.follow(path).links)
    .find((link) => decision.decide(link, "write").allowed)
  if (loose !== undefined) {
    return {
      origin: file,
      path: "",
      reason: `it is reached by the link ${loose}, which commands may write: they could lead it elsewhere`,
      remedy: "Put the link where they may not, or do without it."
    }
  }
  const verdict = decision.explain(policy.cwd, "/", "read")
  if (verdict.allowed) return undefined
  return {
    origin: policy.cwd,
    path: "",
    reason: `a sandbox can't start in this directory: rule ${verdict.rule.pattern} is ${verdict.reason}`,
    remedy: "Start in another one."
  }
}

/** Merges the parts into the policy for the directory of `expansion.cwd`. */
export const merge = (parts: Parts): Either.Either<SandboxPolicy, Objection> =>
  Either.flatMap(
    Either.all({ whitelist: rulesOf("whitelist", parts), blacklist: rulesOf("blacklist", parts) }),
    ({ blacklist, whitelist }) => {
      const { cwd } = parts.expansion
      const granted = parts.granted.map((path) => exact(path, "runtime")).filter(({ real }) => real === undefined)
      const allowed = distinct([...granting([exact(cwd, "cwd", parts.follow)]), ...whitelist, ...temporaryOf(parts)])
      const policy: SandboxPolicy = {
        cwd,
        whitelist: allowed,
        blacklist: distinct(blacklist),
        readonly: readonlyOf(parts, allowed),
        ...(granted.length === 0 ? {} : { granted }),
        allowNetwork: false
      }
      const objection = objectionTo(policy, parts)
      return objection === undefined ? Either.right(policy) : Either.left(objection)
    }
  )
