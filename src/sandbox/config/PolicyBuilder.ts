/**
 * Builds the policy of a directory from the built-in rules, `sandbox.json`, the settings and the session. Each source
 * adds rules and removes none. Of two rules for one path, the first counts.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as PrivateDirectory from "../../session/PrivateDirectory.js"
import * as ShellEnvironment from "../../session/ShellEnvironment.js"
import * as DefaultSecrets from "../policy/DefaultSecrets.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as MovedSecrets from "../policy/MovedSecrets.js"
import * as Name from "../policy/Name.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as PathRule from "../policy/PathRule.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import * as RealPath from "../policy/RealPath.js"
import { type Rule, type RuleSource, realOf, type SandboxPolicy } from "../policy/SandboxPolicy.js"
import { SandboxConfig } from "./SandboxConfig.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import type { HostList, List, SandboxFile, Written } from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"
import * as StartupFiles from "./StartupFiles.js"
import * as TaintedPaths from "./TaintedPaths.js"
import * as TrustedFiles from "./TrustedFiles.js"

/**
 * The rules that the session adds. Entries have the syntax of `sandbox.json`: escape an exact path with
 * `PathGlob.escape`.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuntimeRules {
  readonly whitelist?: ReadonlyArray<string>
  readonly blacklist?: ReadonlyArray<string>
  /** Exact, absolute paths that a person allowed to read despite the blacklist. */
  readonly granted?: ReadonlyArray<string>
  /** Host entries that a person allowed. */
  readonly allowedHosts?: ReadonlyArray<string>
}

/**
 * Builds the policy that a sandbox enforces.
 *
 * @since 0.1.0
 * @category tags
 */
export class PolicyBuilder extends Context.Tag("synapse/PolicyBuilder")<
  PolicyBuilder,
  {
    /**
     * Builds the current policy for a directory: reads `sandbox.json` and resolves real paths. Fails, naming the entry,
     * if the file or an entry is invalid, or if the directory itself is blacklisted.
     */
    readonly build: (cwd: string, runtime?: RuntimeRules) => Effect.Effect<SandboxPolicy, SandboxConfigError>
  }
>() {}

/**
 * The built-in blacklist: places where secrets usually lie. A path that the user allows by its own name is exempt.
 * Patterns hide files only, ignoring case, and no file whose content git holds. Settings and key files are hidden only
 * if they hold a secret.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultBlacklist: ReadonlyArray<string> = DefaultSecrets.entries

/**
 * The name of a project's file that lists MCP servers. It is read-only for commands, because Synapse starts the servers
 * with all of the user's rights and without asking.
 *
 * @since 0.1.0
 * @category constructors
 */
export const serversFile = "mcp_servers.json"

/** Returns a test for names in a directory, ignoring case. In an unreadable directory, every name may exist. */
const namesIn = (directory: string): ((name: string) => boolean) => {
  try {
    const names = new Set(Fs.readdirSync(directory).map((name) => name.toLowerCase()))
    return (name) => names.has(name.toLowerCase())
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return () => code !== "ENOENT"
  }
}

/** How many of the first built-in rules apply in all homes, even if the file is missing. */
const everywhere = 5

/**
 * Returns the built-in blacklist, including other users' homes. There, most rules are only added if the file exists.
 */
const builtIn = ({ homes }: Settings): ReadonlyArray<string> => [
  ...defaultBlacklist,
  ...homes.flatMap((other) => {
    const has = namesIn(other)
    return [...defaultBlacklist, "~/.synapse"].flatMap((entry, at) => {
      const [first, name = ""] = entry.split("/")
      return first === "~" && (at < everywhere || has(name)) ? [`${PathGlob.escape(other)}${entry.slice(1)}`] : []
    })
  })
]

const ofDirectory = (parent: string, cwd: string): string =>
  Path.join(parent, Crypto.createHash("sha256").update(cwd).digest("hex").slice(0, 16))

/**
 * Returns the directory for tools' caches of the sessions in one directory. Each project has its own, so that nothing
 * that its commands leave there reaches another project.
 *
 * @since 0.1.0
 */
export const toolCacheOf = (home: string, cwd: string): string => ofDirectory(Path.join(home, "tool-cache"), cwd)

/**
 * Returns the directory that holds the private temporary directories of all working directories.
 *
 * @since 0.1.0
 */
export const temporariesOf = (home: string): string => Path.join(home, "tmp")

const withReal = (rule: Rule, follow: typeof RealPath.follow = RealPath.follow): Rule => {
  const real = rule.kind === "glob" ? RealPath.followPattern(rule.path) : follow(rule.path).real
  return real === rule.path ? rule : { ...rule, real }
}

/** Makes a rule for one literal path. */
const exact = (path: string, source: RuleSource, follow?: typeof RealPath.follow): Rule =>
  withReal({ pattern: path, path: Path.resolve(path), kind: "path", source }, follow)

/** Returns the built-in rules for places that variables name. */
const movedRules = ({ variables }: Settings, cwd: string, follow: typeof RealPath.follow): ReadonlyArray<Rule> =>
  MovedSecrets.find(variables, cwd)
    .map(({ path, pattern }) => ({ ...exact(path, "default", follow), pattern }))
    // A place in the system, or around the working directory, holds what every command needs.
    .filter((rule) => !HostPath.isWithin(cwd, realOf(rule)) && PathEntry.unwritable(realOf(rule)) === undefined)

/** Keeps the first rule for each path. */
const distinct = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> => {
  const seen = new Set<string>()
  return rules.filter(({ kind, path }) => seen.size < seen.add(`${kind} ${path}`).size)
}

/** The command-line option that adds to each setting, to name an entry's origin. */
const origins = {
  whitelist: "--allow",
  blacklist: "--deny",
  readable: "--allow-read",
  sockets: "--allow-socket",
  allowedHosts: "--allow-host",
  env: "--env"
}

const correct = "Nothing runs until that entry is corrected or taken away."

/** Parses the entries of a list. The error names the entry that can't be read. */
const readEach = <A>(
  entries: ReadonlyArray<string>,
  { flaw, list, origin }: { readonly origin: string; readonly list: string; readonly flaw: string },
  read: (entry: string, at: number) => Either.Either<A, string>
): Either.Either<ReadonlyArray<A>, SandboxConfigError> =>
  Either.all(
    entries.map((entry, at) =>
      Either.mapLeft(read(entry, at), (why) => {
        const reason = `${Name.ofEntry(entry)} ${flaw}: ${why}`
        return new SandboxConfigError({ origin, path: `${list}[${at}]`, reason, remedy: correct })
      })
    )
  )

/**
 * The state of one build: the settings, and how each path resolved. A path is resolved once, so that it can't be
 * swapped between two reads.
 */
class Build {
  readonly follow = RealPath.once()
  /** The directories of Synapse's own files; the one in use comes first. */
  readonly homes: ReadonlyArray<string>

  constructor(
    readonly cwd: string,
    readonly file: string,
    readonly settings: Settings
  ) {
    this.homes = [...new Set([settings.home, ...settings.otherHomes])]
  }

  /**
   * Returns what commands may read in the hidden homes: skills, and the directory in which each session sees its own
   * files.
   */
  visible(homes: ReadonlyArray<string>): ReadonlyArray<Rule> {
    const places = PrivateDirectory.places().map((path) => this.follow(path).real)
    const within = places.filter((path) => homes.some((home) => HostPath.isWithin(path, home)))
    return [`${homes[0]}/skills`, ...within].map((path) => exact(path, "own", this.follow))
  }

  /** Finds a link on the way to a path that an earlier session's commands may have made. */
  private doubt(path: string): { readonly reason: string; readonly real: string } | undefined {
    const found = TaintedPaths.doubt(this.settings.home, path, this.follow(path))
    return found && { reason: TaintedPaths.describe(found), real: found.real }
  }

  /** Returns the link on the way to a path of `sandbox.json`, if any. Links in the root are the system's own. */
  private linkTo({ path, source }: Rule): string | undefined {
    return source === "file" ? this.follow(path).links.find((one) => Path.dirname(one) !== "/") : undefined
  }

  /** Returns why a rule can't be on a list that allows something, if it can't. */
  private refusal(rule: Rule, list: List): string | undefined {
    const unwritable = list === "whitelist" ? PathEntry.unwritable(realOf(rule)) : undefined
    if (unwritable !== undefined) return unwritable
    // A command may have replaced the path by a link after it was written into the file.
    const link = this.linkTo(rule)
    const real = realOf(rule)
    const found =
      rule.source === "file"
        ? link && { reason: `${link} is a symbolic link, and leads to ${real}`, real }
        : this.doubt(rule.path)
    return found && `${found.reason}: if that is what is meant, allow ${found.real}`
  }

  /** Tests whether any user may have put a link in the place of an allowed path: nothing is allowed by it then. */
  private isUsurped(rule: Rule): boolean {
    const link = this.linkTo(rule)
    const places = ["/tmp", "/var/tmp", this.settings.temporary]
    return link !== undefined && places.some((place) => HostPath.isWithin(link, this.follow(place).real))
  }

  private parse(entry: string, list: List, source: RuleSource): Either.Either<ReadonlyArray<Rule>, string> {
    const { userHome, variables } = this.settings
    return Either.flatMap(PathEntry.parse(entry, { cwd: this.cwd, userHome, variables }, list), (meanings) => {
      const rules = meanings.map((meaning) => withReal({ pattern: entry, ...meaning, source }, this.follow))
      // A whitelist entry has exactly one meaning.
      const [first] = rules
      if (list === "blacklist" || first === undefined) return Either.right(rules)
      if (this.isUsurped(first)) return Either.right([])
      const reason = this.refusal(first, list)
      return reason === undefined ? Either.right(rules) : Either.left(reason)
    })
  }

  /** Parses the entries that a source adds to a list. */
  rules(
    list: List,
    written: ReadonlyArray<Written> = [],
    source: RuleSource,
    origin: string,
    prefix = ""
  ): Either.Either<ReadonlyArray<Rule>, SandboxConfigError> {
    const place = { origin, list: `${prefix}${list}`, flaw: `can't be on the ${list}` }
    const read = (entry: string, at: number) => {
      const one = written[at]
      const look = typeof one === "object" && one.hidden !== undefined ? { hidden: one.hidden } : undefined
      return Either.map(this.parse(entry, list, source), (rules) => rules.map((rule) => ({ ...rule, ...look })))
    }
    const entries = written.map((one) => (typeof one === "string" ? one : one.path))
    return Either.map(readEach(entries, place, read), (all) => all.flat())
  }

  /** Returns the working directory and the temporary directory, which every policy allows. */
  places(): readonly [ReadonlyArray<Rule>, ReadonlyArray<Rule>] {
    const cwd = exact(this.cwd, "cwd", this.follow)
    // The user's own temporary directory may lie in `/run`.
    const temporary = exact(this.settings.temporary, "tmp", this.follow)
    return [
      PathEntry.unwritable(realOf(cwd)) === undefined ? [cwd] : [],
      PathEntry.isKernels(realOf(temporary)) ? [] : [temporary]
    ]
  }

  /**
   * Returns the repository that the working directory belongs to as a linked worktree, a submodule or a subdirectory.
   * Undefined if it lies within the directory, or if a command may have made the link to it.
   */
  repository(): string | undefined {
    const { real } = this.follow(this.cwd)
    const top = GitDirectory.topOf(real)
    const led = top === undefined ? undefined : GitDirectory.namedAt(top)
    if (top === undefined || led === undefined || this.doubt(led) !== undefined) return undefined
    const repository = GitDirectory.repositoryOf(top, led)
    const isOutside = repository !== undefined && !HostPath.isWithin(repository, real)
    return isOutside && PathEntry.unwritable(repository) === undefined ? repository : undefined
  }

  /**
   * Returns rules for the outside programs' sockets that entries name, by real path. Missing sockets are left out,
   * since their programs are not running.
   */
  sockets(
    entries: ReadonlyArray<string> = [],
    source: RuleSource,
    origin: string,
    place: string
  ): Either.Either<ReadonlyArray<Rule>, SandboxConfigError> {
    const read = (entry: string) =>
      Either.flatMap(this.parse(entry, "readable", source), (rules) => {
        const found = rules.map(realOf).filter((path) => !HostPath.isMissing(path))
        return found.every(HostPath.isSocket)
          ? Either.right(found.map((path) => exact(path, source)))
          : Either.left("it is no socket")
      })
    return Either.map(readEach(entries, { origin, list: place, flaw: "can't be used" }, read), (all) => all.flat())
  }

  /** Parses the entries that a source adds to a list of hosts. */
  hosts(
    list: HostList,
    entries: ReadonlyArray<string> = [],
    source: RuleSource,
    origin: string,
    prefix = ""
  ): Either.Either<ReadonlyArray<HostEntry.HostRule>, SandboxConfigError> {
    return readEach(
      entries,
      { origin, list: `${prefix}${list}`, flaw: "can't be on the list of hosts" },
      (pattern): Either.Either<HostEntry.HostRule, string> =>
        Either.map(HostEntry.parse(pattern, list === "allowedHosts" ? "allowed" : "denied"), (meaning) => ({
          ...meaning,
          pattern,
          source
        }))
    )
  }

  /** Returns what stays read-only, whatever the lists say. */
  readonly(whitelist: ReadonlyArray<Rule>, startup: ReadonlyArray<string>): ReadonlyArray<Rule> {
    const { program } = this.settings
    const servers = Path.join(this.cwd, serversFile)
    // On Linux, only an existing path can be kept read-only.
    const canHold = process.platform === "darwin" || !HostPath.isMissing(servers)
    const rules = [
      ...this.homes.map((path): Rule => ({ ...exact(path, "own"), mayBeGone: true })),
      ...[...program, ...(canHold ? [servers] : [])].map((path) => exact(path, "own"))
    ]
    const config = exact(this.file, "own")
    // `sandbox.json` lies in the home directory, unless it is a link to another place.
    const isElsewhere = PathRule.make(rules).find(realOf(config)) === undefined
    return distinct([
      ...rules,
      ...(isElsewhere ? [config] : []),
      ...this.trusted(whitelist),
      ...startup.map((path) => exact(path, "startup"))
    ])
  }

  /**
   * Makes rules for the trusted files, even if nothing may write them yet. A path that contains a whole whitelisted
   * place is left out, because the rule would make the place read-only.
   */
  private trusted(whitelist: ReadonlyArray<Rule>): ReadonlyArray<Rule> {
    return TrustedFiles.read(this.settings.home)
      .flatMap(TrustedFiles.placesOf)
      .filter((path) => !whitelist.some((rule) => HostPath.isWithin(realOf(rule), path)))
      .map((path) => exact(path, "trust"))
  }

  /** Returns the path by which the user's shell entered the directory, if it is not the real one. */
  private entered(): string | undefined {
    const { PWD: path } = this.settings.variables
    return path !== undefined && path !== this.cwd && Path.isAbsolute(path) && this.follow(path).real === this.cwd
      ? path
      : undefined
  }

  /** Objects to a directory that is reached through a link which a command may have made. */
  private objectionToLinks(): SandboxConfigError | undefined {
    const places = [
      [this.cwd, "name it: --cwd "],
      [this.entered(), "enter it by that name: cd "],
      [this.settings.temporary, "name it: TMPDIR="]
    ] as const
    for (const [origin, remedy] of places) {
      const found = origin === undefined ? undefined : this.doubt(origin)
      if (origin === undefined || found === undefined) continue
      const { real, reason } = found
      return new SandboxConfigError({
        origin,
        path: "",
        reason,
        remedy: `If ${real} is what is meant, ${remedy}${real}`
      })
    }
    return undefined
  }

  /** Objects to sockets if commands could reach or replace sockets of outside programs. */
  objectionToSockets(policy: SandboxPolicy, sockets: ReadonlyArray<Rule>): SandboxConfigError | undefined {
    const make = (origin: string, reason: string) =>
      new SandboxConfigError({ origin, path: "", reason, remedy: correct })
    if (policy.unixSockets !== "own") return undefined
    if (policy.temporary === undefined) {
      return make(this.file, "sockets of the sandbox's own need a private /tmp, which only Linux has")
    }
    const written = PathRule.make(PrivateTemporary.make(policy).whitelist)
    const loose = sockets.find(({ path }) => written.find(path) !== undefined)
    return loose && make(loose.path, "commands can write there, and could put another socket in its place")
  }

  /** Returns why no sandbox may start under the policy, if none may. */
  objection(policy: SandboxPolicy): SandboxConfigError | undefined {
    const led = this.objectionToLinks()
    if (led !== undefined) return led
    const decision = PolicyDecision.make(policy)
    const loose = RealPath.follow(this.file).links.find((link) => decision.decide(link, "write").allowed)
    if (loose !== undefined) {
      return new SandboxConfigError({
        origin: this.file,
        path: "",
        reason: `it is reached by the link ${loose}, which commands may write: they could lead it elsewhere`,
        remedy: "Put the link where they may not, or do without it."
      })
    }
    const verdict = decision.explain(policy.cwd, "/", "read")
    if (verdict.allowed) return undefined
    return new SandboxConfigError({
      origin: policy.cwd,
      path: "",
      reason: `a sandbox can't start in this directory: rule ${verdict.rule.pattern} is ${verdict.reason}`,
      remedy: "Start in another one."
    })
  }
}

/** Checks the names of variables to let through, by origin. */
const variablesOf = (
  lists: Readonly<Record<string, ReadonlyArray<string>>>
): Either.Either<ReadonlyArray<string>, SandboxConfigError> => {
  for (const [origin, names] of Object.entries(lists)) {
    for (const [at, name] of names.entries()) {
      const reason = ShellEnvironment.refusal(name)
      if (reason !== undefined) {
        return Either.left(new SandboxConfigError({ origin, path: `env[${at}]`, reason, remedy: correct }))
      }
    }
  }
  return Either.right([...new Set(Object.values(lists).flat())])
}

const granted = (paths: ReadonlyArray<string>): ReadonlyArray<Rule> =>
  // A path that leads elsewhere since it was allowed is left out.
  paths.map((path) => exact(path, "runtime")).filter(({ real }) => real === undefined)

/**
 * Returns an error for the first entry of the settings that no policy can have, with its position (`whitelist[0]`);
 * undefined if all are valid.
 *
 * @since 0.1.0
 */
export const checkSettings = (cwd: string, settings: Settings): SandboxConfigError | undefined => {
  const build = new Build(Path.resolve(cwd), "", settings)
  const all: ReadonlyArray<Either.Either<unknown, SandboxConfigError>> = [
    build.rules("whitelist", settings.whitelist, "user", origins.whitelist),
    build.rules("blacklist", settings.blacklist, "user", origins.blacklist),
    build.rules("readable", settings.readable, "user", origins.readable),
    build.sockets(settings.sockets, "user", origins.sockets, "sockets"),
    build.hosts("allowedHosts", settings.allowedHosts, "user", origins.allowedHosts),
    variablesOf({ [origins.env]: settings.env })
  ]
  return all
    .map(Either.flip)
    .map(Either.getOrUndefined)
    .find((error) => error !== undefined)
}

/**
 * Merges the built-in rules, `sandbox.json`, the settings, the session's rules and the user's trusted files into a
 * policy. Reads only the list of trusted files and real paths.
 *
 * @param file the path of the file that `config` was read from
 * @since 0.1.0
 * @category constructors
 */
export const merge = (
  cwd: string,
  file: string,
  config: SandboxFile,
  settings: Settings,
  runtime: RuntimeRules = {}
): Either.Either<SandboxPolicy, SandboxConfigError> =>
  Either.gen(function* () {
    const { home, toolCache = config.policy.toolCache ?? true } = settings
    const { temporaryFiles = config.policy.temporary ?? "private" } = settings
    const { unixSockets = config.policy.unixSockets ?? false } = settings
    const { memory, processes, sharedMemory } = config.policy.limits ?? {}
    const build = new Build(Path.resolve(cwd), file, settings)
    const project = RealPath.follow(build.cwd).real
    const listed = (list: List) =>
      Either.map(
        Either.all([
          build.rules(list, config.policy.filesystem[list], "file", file, "policy.filesystem."),
          build.rules(list, settings[list], "user", origins[list]),
          build.rules(list, list === "readable" ? [] : runtime[list], "runtime", "this session")
        ]),
        (all) => all.flat()
      )
    const [own, temporary] = build.places()
    const allowed = yield* listed("whitelist")
    const repository = build.repository()
    const ofGit = repository === undefined ? [] : [exact(repository, "git", build.follow)]
    const isAllowed = (rule: Rule) => allowed.some((one) => realOf(one) === realOf(rule))
    const worked = own.map((rule): Rule => (isAllowed(rule) ? { ...rule, isNamed: true } : rule))
    const whitelist = distinct([...worked, ...allowed, ...ofGit, ...temporary])
    const usual = [
      ...(yield* build.rules("blacklist", builtIn(settings), "default", "the defaults")),
      ...movedRules(settings, project, build.follow)
    ]
    const hidden = build.homes.map((path) => exact(path, "own", build.follow))
    const denied = [...hidden, ...(yield* listed("blacklist"))]
    const { hidden: look } = config.policy.filesystem
    const blacklist = distinct([...denied, ...usual]).map((rule) =>
      look === undefined || rule.source === "own" ? rule : { ...rule, hidden: look }
    )
    // A built-in rule yields to a path that the user names; a user's own rule does not.
    const [isUsual, isDenied] = [PathRule.make(usual), PathRule.make(denied)]
    const isExempt = (rule: Rule) =>
      isUsual.find(realOf(rule)) !== undefined && isDenied.find(realOf(rule)) === undefined
    const exemptOf = (rules: ReadonlyArray<Rule>) =>
      rules.filter(isExempt).map((rule): Rule => ({ ...rule, path: realOf(rule) }))
    const opened = exemptOf(allowed)
    const sockets = [
      ...(yield* build.sockets(config.policy.sockets, "file", file, "policy.sockets")),
      ...(yield* build.sockets(settings.sockets, "user", origins.sockets, "sockets"))
    ]
    const allowedHosts = [
      ...(yield* build.hosts("allowedHosts", config.policy.network.allowedHosts, "file", file, "policy.network.")),
      ...(yield* build.hosts("allowedHosts", settings.allowedHosts, "user", origins.allowedHosts)),
      ...(yield* build.hosts("allowedHosts", runtime.allowedHosts, "runtime", "this session")),
      ...(settings.allowNetwork ? [HostEntry.anywhere] : [])
    ]
    const deniedHosts = yield* build.hosts(
      ...(["deniedHosts", config.policy.network.deniedHosts, "file", file, "policy.network."] as const)
    )
    const isNamed = (name: string) => sockets.some(({ path }) => path === settings.variables[name])
    const environment = [
      ...(yield* variablesOf({ [file]: config.env, [origins.env]: settings.env })),
      ...Object.keys(settings.variables).filter(isNamed)
    ]
    const readable = yield* listed("readable")
    // Only Linux sandboxes can replace `/tmp` by another directory.
    const ownTemporary =
      temporaryFiles === "private" && process.platform === "linux"
        ? exact(ofDirectory(temporariesOf(home), project), "tmp")
        : undefined
    const { places, whitelist: shared } = PrivateTemporary.make({ temporary: ownTemporary, whitelist })
    const whole = readable.find((rule) => places.includes(realOf(rule)))
    if (whole !== undefined) {
      const origin = whole.source === "file" ? file : origins.readable
      const reason = `${whole.pattern} can't be read as a whole: the sandbox has a directory of its own there`
      const remedy = "Name what lies in the machine's, or share that with --temporary host."
      return yield* Either.left(new SandboxConfigError({ origin, path: "", reason, remedy }))
    }
    const isMachines = (rule: Rule) => places.some((place) => realOf(rule).startsWith(`${place}/`))
    const isOpen = (rule: Rule) => isDenied.find(realOf(rule)) === undefined
    const exempt = [...exemptOf(readable), ...readable.filter((rule) => isMachines(rule) && isOpen(rule)), ...sockets]
    const read = [...opened, ...exempt, ...granted(runtime.granted ?? [])]
    const unwritten = read.filter((rule) => isMachines(rule) && PathRule.make(shared).find(realOf(rule)) === undefined)
    const startup = StartupFiles.find({
      cwd: project,
      userHome: RealPath.follow(settings.userHome).real,
      writable: [...own, ...allowed].map(realOf),
      named: allowed.map(realOf)
    })
    const policy: SandboxPolicy = {
      cwd: build.cwd,
      whitelist,
      blacklist,
      readonly: [
        ...build.readonly(whitelist, [...startup, ...(repository === undefined ? [] : [`${repository}/hooks`])]),
        ...unwritten.map((rule): Rule => ({ ...exact(realOf(rule), "default"), pattern: "allowed to be read only" }))
      ],
      visible: build.visible(hidden.map(realOf)),
      ...(read.length === 0 ? undefined : { granted: read }),
      ...(opened.length === 0 ? undefined : { opened }),
      allowNetwork: false,
      ...(config.policy.network.isAsked === true ? { asksForNetwork: true } : undefined),
      ...(allowedHosts.length === 0 ? undefined : { hosts: { allowed: allowedHosts, denied: deniedHosts } }),
      ...(settings.published.length === 0 ? undefined : { published: settings.published }),
      ...(unixSockets !== false || sockets.length > 0 ? { unixSockets: unixSockets || "own" } : undefined),
      ...(processes === undefined ? undefined : { processes }),
      ...(memory === undefined ? undefined : { memory }),
      ...(sharedMemory === undefined ? undefined : { sharedMemory }),
      ...(toolCache ? { toolCache: exact(toolCacheOf(home, project), "cache") } : undefined),
      ...(ownTemporary === undefined ? undefined : { temporary: ownTemporary }),
      ...(environment.length === 0 ? undefined : { environment }),
      ...(config.profile === true ? { profile: true } : undefined)
    }
    const objection = build.objection(policy) ?? build.objectionToSockets(policy, sockets)
    return objection === undefined ? policy : yield* Either.left(objection)
  })

/**
 * Builds policies, as `layer` does.
 *
 * @since 0.1.0
 * @internal
 */
export const make = (
  config: Context.Tag.Service<SandboxConfig>,
  settings: Settings
): Context.Tag.Service<PolicyBuilder> => ({
  build: Effect.fn("PolicyBuilder.build")((cwd, runtime) =>
    Effect.flatMap(config.load, (file) => merge(cwd, config.file, file, settings, runtime))
  )
})

/**
 * A layer which builds policies from `sandbox.json` and the settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<PolicyBuilder, never, SandboxConfig | SandboxSettings> = Layer.effect(
  PolicyBuilder,
  Effect.zipWith(SandboxConfig, SandboxSettings, make)
)

/** Adds exact paths that were allowed during the session. */
const withRuntime = (policy: SandboxPolicy, { granted: paths = [], whitelist = [] }: RuntimeRules): SandboxPolicy => {
  const read = [...(policy.granted ?? []), ...granted(paths)]
  return {
    ...policy,
    whitelist: [...policy.whitelist, ...granted(whitelist.map(PathGlob.unescape))],
    ...(read.length === 0 ? undefined : { granted: read })
  }
}

/**
 * A layer with a fixed policy, plus what is allowed during the session. The settings and `sandbox.json` are ignored.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFixed = (policy: SandboxPolicy): Layer.Layer<PolicyBuilder> =>
  Layer.succeed(PolicyBuilder, {
    build: (_, runtime = {}) => Effect.sync(() => withRuntime(policy, runtime))
  })
