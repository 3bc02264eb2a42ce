/**
 * Decides whether a policy allows access to a path. The kernel enforces the policy. This module predicts its decision,
 * explains it afterwards, and decides for what runs without a shell.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as DefaultSecrets from "./DefaultSecrets.js"
import { GitHeld } from "./GitHeld.js"
import * as HostPath from "./HostPath.js"
import * as PathRule from "./PathRule.js"
import * as PrivateTemporary from "./PrivateTemporary.js"
import * as RealPath from "./RealPath.js"
import { type Rule, type RuleSource, realOf, type SandboxPolicy } from "./SandboxPolicy.js"

/**
 * The kind of access to a path.
 *
 * @since 0.1.0
 * @category models
 */
export type Access = "read" | "write"

/**
 * A decision, with the rule that allows or denies. Reading needs no rule that allows it.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict =
  | { readonly allowed: true; readonly rule?: Rule }
  | {
      readonly allowed: false
      readonly rule: Rule
      readonly reason: string
      /** The text that commands read in place of a denied file. */
      readonly standIn?: string
    }

/**
 * A policy with compiled rules, to decide on many paths.
 *
 * @since 0.1.0
 * @category models
 */
export interface PolicyDecision {
  /** Decides on an absolute path without symbolic links. */
  readonly decide: (realPath: string, access: Access) => Verdict
  /**
   * Decides on a path as written, relative to the directory. If a symbolic link on the way is denied by its own name,
   * the path is denied too.
   */
  readonly explain: (path: string, directory: string, access: Access) => Verdict & { readonly real: string }
  /** Finds a path with a read-only rule of its own: this real path, or one inside it. */
  readonly held: (realPath: string) => { readonly path: string; readonly rule: Rule } | undefined
}

/**
 * The rule that a verdict names if no rule allows writing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const notWhitelisted: Rule = { pattern: "not whitelisted", path: "/", kind: "path", source: "default" }

/** The most names of a path and its links that are followed for an explanation: about 30 ms. */
const mostNames = 10_000

/**
 * Tests whether a rule is `notWhitelisted`: only this rule has the root as its path.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isNotWhitelisted = ({ path }: Rule): boolean => path === notWhitelisted.path

/** Matches devices that every sandbox has a private copy of. */
const device = /^\/dev\/(?:null|zero|full|u?random|tty|ptmx|stdin|stdout|stderr|fd\/\d+|(?:pts|shm)\/.*)$/s

/**
 * Names a rule's source in the users' words.
 *
 * @since 0.1.0
 * @category printing
 */
export const describeSource = (source: RuleSource): string => sources[source]

const sources: Readonly<Record<RuleSource, string>> = {
  default: "built in",
  file: "sandbox.json",
  user: "a setting",
  runtime: "this session",
  cwd: "the working directory",
  tmp: "the directory for temporary files",
  own: "Synapse itself",
  trust: "a trusted MCP server",
  cache: "the caches of tools",
  startup: "the user's own tools run it",
  git: "git's repository",
  socket: "a program outside listens there"
}

/**
 * Compiles the rules of a policy.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (policy: SandboxPolicy): PolicyDecision => {
  const isOwn = ({ source }: Rule) => source === "own"
  const blacklist = PathRule.make(policy.blacklist.filter((rule) => !isOwn(rule)))
  const homes = PathRule.make(policy.blacklist.filter(isOwn))
  const opened = PathRule.make(policy.opened ?? [])
  const held = GitHeld.of(policy)
  const granted = PathRule.make(policy.granted ?? [])
  const readonly = PathRule.make(policy.readonly)
  const whitelist = PathRule.make(policy.whitelist)
  const shown = PathRule.make(policy.shown ?? [])
  const own = PathRule.make([policy.toolCache, policy.temporary].filter((rule) => rule !== undefined))
  const visible = PathRule.make(policy.visible ?? [])
  const temporary = PrivateTemporary.make(policy)

  /** @param file where the path leads to */
  const findDenied = (path: string, access: Access, file = path): Verdict | undefined => {
    const isShown = () => own.find(path) !== undefined || visible.find(path) !== undefined
    const home = homes.find(path)
    const rule = blacklist.find(path) ?? (home === undefined || isShown() ? undefined : home)
    if (rule === undefined) return undefined
    const lifting = (access === "read" ? granted : opened).find(path)
    if (lifting !== undefined && (rule.source !== "socket" || lifting.path === rule.path)) return undefined
    if (PathRule.isForFiles(rule) && (HostPath.isDirectory(path) || held.has(path))) return undefined
    if (DefaultSecrets.isHarmless(rule, file)) return undefined
    const standIn = access === "read" ? DefaultSecrets.standInOf(policy, rule, path) : undefined
    return {
      allowed: false,
      rule,
      reason: `on the blacklist (${describeSource(rule.source)})`,
      ...(standIn === undefined ? undefined : { standIn })
    }
  }

  const decide = (path: string, access: Access): Verdict => {
    const denied = findDenied(path, access)
    if (denied !== undefined) return denied
    if (access === "read") {
      const rule = granted.find(path)
      return rule === undefined ? { allowed: true } : { allowed: true, rule }
    }
    const given = own.find(path)
    if (given !== undefined) return { allowed: true, rule: given }
    const kept = readonly.find(path)
    if (kept !== undefined) {
      return { allowed: false, rule: kept, reason: `read-only (${describeSource(kept.source)})` }
    }
    const rule = shown.find(path) === undefined ? whitelist.find(path) : undefined
    if (rule !== undefined) return { allowed: true, rule }
    if (device.test(path)) return { allowed: true }
    return { allowed: false, rule: notWhitelisted, reason: "read-only, since no rule allows writing" }
  }

  const fixed = policy.readonly.flatMap((rule) => (rule.kind === "path" ? [{ path: realOf(rule), rule }] : []))

  return {
    decide,
    held: (realPath) => fixed.find(({ path }) => path === realPath || path.startsWith(`${realPath}/`)),
    explain: (path, directory, access) => {
      const from = Path.isAbsolute(path) ? path : `${directory}/${path}`
      const { links, real: followed } = RealPath.follow(from, mostNames, temporary.toOutside)
      const real = temporary.toInside(followed)
      const names = granted.find(real) === undefined ? links : []
      // A rule that names both the link and its target decides on the target, which is what a sandbox hides or redacts.
      const byTarget = blacklist.find(real)
      const byName = names
        .map((name) => findDenied(name, access, followed))
        .find((verdict) => verdict !== undefined && verdict.rule !== byTarget)
      return { ...(byName ?? decide(real, access)), real }
    }
  }
}
