/**
 * Puts the policy together: built in < `sandbox.json` < settings < this session. Lists only ever grow.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as HostPath from "../policy/HostPath.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PathRule from "../policy/PathRule.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as RealPath from "../policy/RealPath.js"
import type { Rule, RuleSource, SandboxPolicy } from "../policy/SandboxPolicy.js"
import { SandboxConfig } from "./SandboxConfig.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import type { List, SandboxFile } from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"

/**
 * What the session adds. Entries are read like those of the file: what is an exact path goes through `PathGlob.escape`.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuntimeRules {
  readonly whitelist?: ReadonlyArray<string>
  readonly blacklist?: ReadonlyArray<string>
  /** Exact, absolute paths that a person allowed against the blacklist. */
  readonly granted?: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class PolicyBuilder extends Context.Tag("synapse/PolicyBuilder")<
  PolicyBuilder,
  {
    /**
     * The policy for a directory as of now: `sandbox.json` is read, and real paths are looked up. Fails, naming the entry,
     * where the file is broken, an entry means nothing, or the directory itself is on the blacklist.
     */
    readonly build: (cwd: string, runtime?: RuntimeRules) => Effect.Effect<SandboxPolicy, SandboxConfigError>
  }
>() {}

/**
 * Where secrets usually are. Users add to it, and never take from it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultBlacklist: ReadonlyArray<string> = [
  "~/.ssh",
  "~/.aws",
  "~/.gnupg",
  "~/.config/gcloud",
  "~/.azure",
  "/etc/shadow",
  "**/.env",
  "**/.envrc",
  "**/.env.local",
  "**/credentials.json",
  "**/secrets.json"
]

/** An entry of a list, with what it takes to say where it stands. */
interface Written {
  readonly list: List
  readonly entry: string
  readonly source: RuleSource
  readonly origin: string
  readonly path: string
}

const written = (source: RuleSource, origin: string, root: string, list: List, entries: ReadonlyArray<string> = []) =>
  entries.map((entry, at): Written => ({ list, entry, source, origin, path: `${root}${list}[${at}]` }))

const withReal = (rule: Rule): Rule => {
  const real = rule.kind === "glob" ? RealPath.followPattern(rule.path) : RealPath.follow(rule.path).real
  return real === rule.path ? rule : { ...rule, real }
}

/** A rule about one path, in which no character has a meaning. */
const exact = (path: string, source: RuleSource): Rule =>
  withReal({ pattern: path, path: Path.resolve(path), kind: "path", source })

const realOf = (rule: Rule): string => rule.real ?? rule.path

/** Right below the root, links are the system's own. */
const isSystems = (link: string): boolean => Path.dirname(link) === "/"

/**
 * What was allowed for good was allowed as it was then: a link on the way to it may have been put there by a sandbox since, which
 * may write there, and lead this one anywhere.
 */
const ledElsewhere = ({ kind, path, source }: Rule): string | undefined => {
  if (source !== "file" || kind === "glob") return undefined
  const { links, real } = RealPath.follow(path)
  const link = links.find((one) => !isSystems(one))
  return link === undefined
    ? undefined
    : `${link} is a symbolic link, and leads to ${real}: if that is what is meant, allow ${real}`
}

const toRules = (
  { entry, list, origin, path, source }: Written,
  expansion: PathEntry.Expansion
): Either.Either<ReadonlyArray<Rule>, SandboxConfigError> => {
  const refuse = (reason: string) =>
    new SandboxConfigError({
      origin,
      path,
      reason: `${JSON.stringify(entry)} can't be on the ${list}: ${reason}`,
      remedy: "Nothing runs until that entry is corrected or taken away."
    })
  return PathEntry.parse(entry, expansion, list).pipe(
    Either.mapLeft(refuse),
    Either.flatMap((meanings) => {
      const rules = meanings.map((meaning) => withReal({ pattern: entry, ...meaning, source }))
      const reason = rules.map((rule) =>
        list === "whitelist" ? (PathEntry.unwritable(realOf(rule)) ?? ledElsewhere(rule)) : undefined
      )[0]
      return reason === undefined ? Either.right(rules) : Either.left(refuse(reason))
    })
  )
}

/** Of rules about the same paths the first counts. */
const distinct = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
  const seen = new Set<string>()
  return rules.filter(({ kind, path }) => seen.size < seen.add(`${kind} ${path}`).size)
}

/** What every policy allows to write: not what can't be, where the directory happens to be such a one. */
const granting = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  rules.filter((rule) => PathEntry.unwritable(realOf(rule)) === undefined)

/**
 * The file of a project that Synapse starts servers by, with the rights of its user and without being asked.
 *
 * @since 0.1.0
 */
export const serversFile = "mcp_servers.json"

/** On Linux, what is not there can't be held, but with the directory around it, which is the project's. */
const canHold = (path: string): boolean => process.platform === "darwin" || !HostPath.isMissing(path)

const own = ({ home, program }: Settings, file: string, cwd: string): ReadonlyArray<Rule> => {
  const servers = [Path.join(cwd, serversFile)].filter(canHold)
  const [config, ...rules] = [file, home, ...program, ...servers].map((path) => exact(path, "own"))
  // It lies in the directory, but where it is a link to somewhere else.
  const isElsewhere = config !== undefined && PathRule.make(rules).find(realOf(config)) === undefined
  return distinct(isElsewhere ? [...rules, config] : rules)
}

/**
 * The policy that the layers make.
 *
 * @param file where `config` comes from
 * @since 0.1.0
 */
export const merge = (
  cwd: string,
  file: string,
  config: SandboxFile,
  settings: Settings,
  runtime: RuntimeRules = {}
): Either.Either<SandboxPolicy, SandboxConfigError> => {
  const { filesystem } = config.policy
  const expansion: PathEntry.Expansion = { ...settings, cwd: Path.resolve(cwd) }
  const rulesOf = (list: List, builtIn: ReadonlyArray<string>) =>
    Either.map(
      Either.all(
        [
          ...written("default", "the defaults", "", list, builtIn),
          ...written("file", file, "policy.filesystem.", list, filesystem[list]),
          ...written("user", "the settings", "", list, settings[list]),
          ...written("runtime", "this session", "", list, runtime[list])
        ].map((entry) => toRules(entry, expansion))
      ),
      (rules) => rules.flat()
    )
  return Either.flatMap(
    Either.all({ whitelist: rulesOf("whitelist", []), blacklist: rulesOf("blacklist", defaultBlacklist) }),
    ({ blacklist, whitelist }) => {
      const granted = (runtime.granted ?? []).map((path) => exact(path, "runtime"))
      const policy: SandboxPolicy = {
        cwd: expansion.cwd,
        whitelist: distinct([
          ...granting([exact(expansion.cwd, "cwd")]),
          ...whitelist,
          ...granting([exact(settings.temporary, "tmp")])
        ]),
        blacklist: distinct(blacklist),
        readonly: own(settings, file, expansion.cwd),
        ...(granted.length === 0 ? {} : { granted }),
        allowNetwork: false
      }
      const decision = PolicyDecision.make(policy)
      const loose = [file, settings.home]
        .flatMap((path) => RealPath.follow(path).links)
        .find((link) => decision.decide(link, "write").allowed)
      if (loose !== undefined) {
        return Either.left(
          new SandboxConfigError({
            origin: file,
            path: "",
            reason: `it is reached by the link ${loose}, which commands may write: they could lead it elsewhere`,
            remedy: "Put the link where they may not, or do without it."
          })
        )
      }
      const verdict = decision.explain(policy.cwd, "/", "read")
      if (verdict.allowed) return Either.right(policy)
      return Either.left(
        new SandboxConfigError({
          origin: policy.cwd,
          path: "",
          reason: `a sandbox can't start in this directory: rule ${verdict.rule.pattern} is ${verdict.reason}`,
          remedy: "Start in another one."
        })
      )
    }
  )
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<PolicyBuilder, never, SandboxConfig | SandboxSettings> = Layer.effect(
  PolicyBuilder,
  Effect.gen(function* () {
    const config = yield* SandboxConfig
    const settings = yield* SandboxSettings
    return PolicyBuilder.of({
      build: Effect.fn("PolicyBuilder.build")(function* (cwd, runtime) {
        return yield* merge(cwd, config.file, yield* config.load, settings, runtime)
      })
    })
  })
)
