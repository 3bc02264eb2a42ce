/** The actions of `synapse sandbox`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Quote from "../bash/Quote.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Similar from "../domain/Similar.js"
import { homeDirectory } from "../extension/skill/LocalSkillStore.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import type * as SandboxFile from "../sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as StartupFiles from "../sandbox/config/StartupFiles.js"
import * as ToolHosts from "../sandbox/config/ToolHosts.js"
import * as Attribution from "../sandbox/denial/Attribution.js"
import * as Denial from "../sandbox/denial/Denial.js"
import * as Explanation from "../sandbox/denial/Explanation.js"
import { CurrentUpstream } from "../sandbox/network/Upstream.js"
import * as Layout from "../sandbox/platform/linux/plan/Layout.js"
import * as TemporaryDirectory from "../sandbox/platform/TemporaryDirectory.js"
import * as BytePath from "../sandbox/policy/BytePath.js"
import * as DefaultSecrets from "../sandbox/policy/DefaultSecrets.js"
import { GitHeld } from "../sandbox/policy/GitHeld.js"
import * as HostEntry from "../sandbox/policy/HostEntry.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Name from "../sandbox/policy/Name.js"
import * as PathEntry from "../sandbox/policy/PathEntry.js"
import * as PathRule from "../sandbox/policy/PathRule.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as PrivateTemporary from "../sandbox/policy/PrivateTemporary.js"
import * as RealPath from "../sandbox/policy/RealPath.js"
import type { Rule, SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"
import * as PrivateDirectory from "../session/PrivateDirectory.js"
import * as Action from "./Action.js"
import { complain, print, succeed } from "./Invocation.js"
import * as SandboxEntry from "./SandboxEntry.js"
import * as PolicyText from "./shell/PolicyText.js"
import { isAnywhere } from "./shell/PolicyText.js"

const { isWithin } = HostPath

const places = process.platform === "darwin" ? [] : ["/tmp", "/var/tmp", "/run", "/dev/shm"]

/** Matches the programs of NixOS, which a sandbox shows. */
const shownInRun = /^\/run\/(?:current-system|booted-system|opengl-driver)(?:\/|$)/

/**
 * Returns the directory around a path that the sandbox replaces by an empty one. Undefined if a rule names the path,
 * and for reading the user's skills, which every sandbox shows.
 *
 * @param skills the directory of the user's skills
 */
const findOwnTemporary = (
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

/** Explains why commands do not see the contents of a directory that the sandbox replaces. */
const describe = (place: string, access: PolicyDecision.Access): string => {
  const effect =
    access === "write" ? "what is written there goes with the session" : "what it holds outside is not seen"
  return `in the sandbox, ${place} is its own, empty at first: ${effect}`
}

/** How the sandbox enforces an access differently from the rules, and a remark about it. */
interface Enforced {
  /** Overrides parts of the rules' verdict. */
  readonly verdict?: { readonly allowed: false; readonly rule?: Rule; readonly reason?: string; readonly own?: string }
  /** The reason in words, if it is not that of a rule. */
  readonly reason?: string
  /** The path outside of the sandbox, for a file in a private directory such as the sandbox's `/tmp`. */
  readonly outside?: string
  readonly remark?: string
}

type Decided = PolicyDecision.Verdict & { readonly real: string }

const byRights = "the rights of the file, or of a directory around it, give it to nobody but others"

const placeOf = ({ path, real = path }: Rule): string => real

/** Returns the possible places for private files of sessions, existing or not. */
const sessionsPlaces = (): ReadonlyArray<string> =>
  PrivateDirectory.places().map((place) => RealPath.follow(place).real)

/** Finds what a sandbox that starts now would be built of. */
const look = (policy: SandboxPolicy, places: ReadonlyArray<string>) =>
  Effect.tryPromise(() => {
    const there = places.filter((place) => !HostPath.isMissing(place))
    const toolCache = policy.toolCache && placeOf(policy.toolCache)
    return Layout.make(policy, { session: `${there[0] ?? "/nonexistent"}/session`, places: there, toolCache })
  }).pipe(Effect.orElseSucceed(() => undefined))

const denied = (reason: string, rule?: Rule): Enforced =>
  rule === undefined ? { verdict: { allowed: false, reason }, reason } : { verdict: { allowed: false, rule, reason } }

/** Describes a file that a rule denies by name but does not hide. */
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
  return access === "write" && rule.source !== "startup" && !isHidden && HostPath.isMissing(real)
    ? {
        remark:
          "Nothing is there: the rule refuses commands that name it, and hides what another makes there at the next look."
      }
    : {}
}

const ofAllowed = (
  { real, rule }: Decided,
  access: PolicyDecision.Access,
  { masks, openings, readonly, roots, toolCache }: Layout.Layout
): Enforced => {
  const isIn = (path: string | undefined) => path !== undefined && isWithin(real, path)
  const closed = openings.filter(({ granted }) => ![...granted, toolCache].some(isIn))
  const mask = [...masks, ...closed.map((opening) => opening.mask)].find(({ path }) => isIn(path))
  if (mask !== undefined) {
    return denied(
      `${mask.reason ?? "the same as what the rule names, under another name"}: commands can't use it`,
      mask.rule
    )
  }
  if (access === "write" && rule !== undefined && rule.source !== "cache") {
    if (readonly.some((path) => isWithin(real, path))) return denied("it is Synapse's own: read only")
    const root = placeOf(rule)
    if (!roots.some((path) => isWithin(real, path))) return denied(`it counts once ${root} exists`, rule)
  }
  return HostPath.hasRights(real, access) ? {} : denied(byRights)
}

/**
 * Finds how the sandbox enforces the rules' decision on a path. Outside of Linux, it is enforced as decided.
 *
 * @param skills the directory of the user's skills
 */
const find = (
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
    const temporary = PrivateTemporary.make(policy)
    const outside = temporary.toOutside(real)
    if (outside !== real && !isRefused) {
      if (access === "read" && temporary.isHidden(real)) {
        return denied(PrivateTemporary.hidden(real), PrivateTemporary.hiding)
      }
      return {
        outside,
        remark: `In the sandbox, this is a directory of its own: outside, the path is ${Name.of(outside)}.`
      }
    }
    const own = findOwnTemporary(policy, decided, access, skills)
    if (own !== undefined) {
      return { verdict: { allowed: false, own }, reason: describe(own, access) }
    }
    if (!decided.allowed && !isRefused) return {}
    const layout = yield* look(policy, places)
    if (!decided.allowed) return ofDenied(policy, decided, access, layout)
    return layout === undefined ? {} : ofAllowed(decided, access, layout)
  })

const separator = "\0"

/** Returns the word as a path of `BytePath`. A word that is UTF-8, or whose bytes are unknown, stays the same. */
const of = (word: string): string => {
  if (!BytePath.isDoubtful(word) || process.platform !== "linux") return word
  try {
    const words = BytePath.decode(Fs.readFileSync("/proc/self/cmdline")).split(separator)
    return words.find((each) => BytePath.encode(each).toString() === word) ?? word
  } catch {
    return word
  }
}

const inspect = Effect.gen(function* () {
  const settings = yield* SandboxSettings.SandboxSettings
  const config = yield* SandboxConfig.SandboxConfig
  const { enabled, provider } = yield* config.load
  const policy = yield* (yield* PolicyBuilder.PolicyBuilder).build(process.cwd())
  return { enabled: settings.enabled ?? enabled, provider, file: config.file, home: settings.home, policy }
})

/** Prints the policy for the current directory, with the source of each rule. `all` includes the built-in rules. */
export const policy = ({ all, json }: { readonly all: boolean; readonly json: boolean }) =>
  Effect.gen(function* () {
    const { home: _, ...found } = yield* inspect
    const text = json
      ? JSON.stringify(found)
      : [
          `The sandbox is ${found.enabled ? `on (provider: ${found.provider})` : "OFF: nothing of this is enforced"}, in ${Name.of(found.policy.cwd)}`,
          `Rules of your own are in ${found.file}`,
          `${PolicyText.rules(found.policy, !all).join("\n")}.`
        ].join("\n")
    return yield* succeed(text)
  }).pipe(Action.run)

/** Prints a sentence about open sessions, unless none is open. A session that shares the machine's `/tmp` is not found. */
const tellOpen = (text: string) =>
  Effect.flatMap(inspect, ({ home, policy }) =>
    policy.temporary !== undefined && !TemporaryDirectory.isUsed(PolicyBuilder.temporariesOf(home))
      ? Effect.void
      : print("stderr", `synapse: ${text}`)
  )

/** Expands `~` and variables that were quoted, so that the shell did not expand them. */
const expand = (path: string): Effect.Effect<string, never, SandboxSettings.SandboxSettings> =>
  Effect.map(SandboxSettings.SandboxSettings, (settings) => SandboxEntry.expand(of(path), settings))

/** Words a verdict briefly. */
const why = (verdict: PolicyDecision.Verdict): string => {
  const { rule } = verdict
  if (rule === undefined) return "no rule is about it"
  const name = PolicyDecision.isNotWhitelisted(rule) ? rule.pattern : `rule ${Name.ofEntry(rule.pattern)}`
  if (verdict.allowed) return `${name}: ${PolicyDecision.describeSource(rule.source)}`
  const shown =
    verdict.standIn === undefined ? "" : `; commands see it ${DefaultSecrets.describeStandIn(verdict.standIn)}`
  return `${name}: ${verdict.reason}${shown}`
}

/** Says why a rule does not hide a file that it names: a built-in one, or that of Synapse's own files. */
const sparing = (policy: SandboxPolicy, real: string): string | undefined => {
  const own = [...(policy.visible ?? []), policy.toolCache].filter((rule) => rule !== undefined)
  if (PathRule.make(own).find(real) !== undefined) return "of Synapse's own files, commands see this"
  const rule = PathRule.make(policy.blacklist.filter(({ source }) => source === "default")).find(real)
  if (rule === undefined || HostPath.isDirectory(real)) return undefined
  const reason = GitHeld.of(policy).has(real) ? "git holds the same content" : "no secret is found in it"
  return `rule ${Name.ofEntry(rule.pattern)} does not hide it: ${reason}`
}

interface Named {
  readonly host: boolean
  readonly path: string
}

/** Tests whether a word names a host, by its form. A file with that name takes precedence. */
const isHost = ({ host, path }: Named): boolean =>
  host || (HostEntry.isLikely(path) && Fs.lstatSync(path, { throwIfNoEntry: false }) === undefined)

/** Prints whether a host may be reached. Without a port, any port counts. */
const explainHost = (given: string, json: boolean) =>
  Effect.gen(function* () {
    const { policy } = yield* inspect
    const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(given) ?? []
    const isMachine = name === "127.0.0.1" || name === "[::1]"
    const host = isMachine ? "localhost" : (HostEntry.canonical(name) ?? name)
    const { allowed = [], denied = [] } = policy.hosts ?? {}
    const decide = (use?: string) =>
      HostEntry.decide({ allowed, denied }, host, port === undefined ? undefined : Number(port), use)
    const whole = decide("any")
    const verdict = whole.allowed ? whole : decide()
    const because = verdict.rule === undefined ? "" : `rule ${verdict.rule.pattern}: `
    const reason = verdict.allowed ? PolicyDecision.describeSource(verdict.rule.source) : policy.hosts && verdict.reason
    const methods = verdict.allowed ? verdict.rule.methods : []
    const only = methods.length === 0 ? "" : ` by ${methods.join(" and ")} in plain HTTP alone`
    const text = `${verdict.allowed ? "allowed" : "denied"} to reach ${Name.ofEntry(given)}${only}: ${because}${reason ?? "there is no network"}`
    yield* print("stdout", json ? JSON.stringify({ host, ...verdict }) : text)
    return verdict.allowed ? ExitCode.success : ExitCode.failure
  })

/** Adds a host to a list of `sandbox.json`. Refuses to allow a denied host. */
const addHost = (list: SandboxFile.HostList, entry: string, remark = "") =>
  Effect.gen(function* () {
    const config = yield* SandboxConfig.SandboxConfig
    const { deniedHosts = [] } = (yield* config.load).policy.network
    const denial = list === "allowedHosts" ? deniedHosts.find((other) => HostEntry.isSame(other, entry)) : undefined
    if (denial !== undefined) {
      return yield* complain(`${entry} is denied, which wins. Take that back first: synapse sandbox forget ${denial}`)
    }
    const isNew = yield* config.addHost(list, entry)
    const done = list === "allowedHosts" ? "allowed" : "denied"
    return yield* succeed(`${done}${isNew ? "" : " already"}, to reach: ${Name.ofEntry(entry)}${remark}`)
  })

/** Returns the entry with `private:` before it if the name resolves to a private address. */
const marked = (entry: string) =>
  Effect.gen(function* () {
    const { variables } = yield* SandboxSettings.SandboxSettings
    const { isReachable, lookup } = (yield* CurrentUpstream)(variables)
    const meaning = HostEntry.parse(entry, "allowed")
    if (Either.isLeft(meaning) || meaning.right.kind !== "name") return { entry, remark: "" }
    const addresses = yield* Effect.orElseSucceed(
      Effect.tryPromise(() => lookup(meaning.right.host)),
      () => []
    )
    if (addresses.length === 0) return { entry, remark: "; the name leads nowhere now" }
    const special = addresses.find((address) => !isReachable(address, false))
    if (special === undefined) return { entry, remark: "" }
    return addresses.every((address) => isReachable(address, true))
      ? { entry: `private:${entry}`, remark: `; the host lies at the private or reserved address ${special}` }
      : { entry, remark: `; the name leads to ${special}, which is never reached by a name` }
  })

/**
 * Tests whether an entry is too risky to allow from a configuration file: commands can write a repository's remotes,
 * and a registry is never a wildcard.
 */
const isDoubtful = (tool: ToolHosts.Tool, entry: string): boolean => {
  const meaning = Either.getOrUndefined(HostEntry.parse(entry, "allowed"))
  if (meaning === undefined) return false
  return meaning.kind === "below" || (tool === "git" && (meaning.isPrivate || meaning.kind !== "name"))
}

/** Allows the hosts that a tool fetches from, according to the user's configuration. */
export const allowFrom = (tool: ToolHosts.Tool) =>
  Effect.gen(function* () {
    const { userHome, variables } = yield* SandboxSettings.SandboxSettings
    const found = ToolHosts.find(tool, { cwd: process.cwd(), userHome, variables })
    if (found.length === 0) {
      const advice = `Run ${tool} by synapse exec in a terminal: you are asked about each host.`
      return yield* complain(`The configuration of ${tool} names no host. ${advice}`)
    }
    const codes = yield* Effect.forEach(found, ({ entry: plain, origin }) =>
      Effect.flatMap(marked(plain), ({ entry, remark }) =>
        isDoubtful(tool, entry)
          ? complain(
              `${entry} is not allowed (from ${origin}${remark}): a command may have written it. If it is yours: synapse sandbox allow ${HostEntry.toArgument(entry)}`
            )
          : addHost("allowedHosts", entry, ` (from ${origin}${remark})`).pipe(
              Effect.catchTag("InvalidUsage", ({ message }) => complain(message))
            )
      )
    )
    return Math.max(...codes)
  }).pipe(Action.run)

/**
 * Prints whether a path may be read or written, or a host reached, and which rule decides. The exit code is 1 if it may
 * not.
 */
export const explain = (given: Named & { readonly json: boolean; readonly write: boolean }) =>
  Effect.gen(function* () {
    const host = isHost(given) ? given.path : SandboxEntry.hostIn(given.path)
    if (host !== undefined) return yield* explainHost(host, given.json)
    const text = yield* expand(given.path)
    const path = Path.resolve(text)
    const access = given.write ? "write" : "read"
    const { enabled, home, policy } = yield* inspect
    const decided = PolicyDecision.make(policy).explain(text, policy.cwd, access)
    const enforced = enabled ? yield* find(policy, decided, access, homeDirectory(home)) : {}
    const verdict = { ...decided, ...enforced.verdict } as PolicyDecision.Verdict
    const real = decided.real === path ? "" : ` (${Name.of(decided.real)})`
    const missing =
      enforced.verdict?.own === undefined && HostPath.isMissing(enforced.outside ?? decided.real)
        ? " (it does not exist)"
        : ""
    const place = `${Name.of(path)}${real}${missing}`
    const spared = verdict.rule === undefined ? sparing(policy, decided.real) : undefined
    const reason = enforced.reason ?? spared ?? why(verdict)
    yield* print(
      "stdout",
      given.json
        ? JSON.stringify({ path, access, ...verdict })
        : `${verdict.allowed ? "allowed" : "denied"} to ${access} ${place}: ${reason}`
    )
    if (enforced.remark !== undefined && !given.json) yield* print("stdout", enforced.remark)
    const { rule } = verdict
    if (!verdict.allowed && rule !== undefined && enforced.verdict?.own === undefined && !given.json) {
      const denial =
        rule === PrivateTemporary.hiding
          ? Attribution.ofMachine(decided.real)
          : Denial.make({ rule, reason }, decided.real, access, "verified-text")
      const [, ...ways] = Diagnostic.forPerson(Explanation.of(denial, policy))?.split("\n") ?? []
      if (ways.length > 0) yield* print("stdout", ways.join("\n"))
    }
    if (!enabled) yield* print("stderr", "synapse: the sandbox is off: nothing of this is enforced")
    return verdict.allowed ? ExitCode.success : ExitCode.failure
  }).pipe(Action.run)

/** Removes the private temporary directories that no session uses. */
export const clean = Effect.gen(function* () {
  const { home } = yield* SandboxSettings.SandboxSettings
  const { removed, used } = TemporaryDirectory.clean(PolicyBuilder.temporariesOf(home))
  const kept = used === 0 ? "" : `; ${used} kept, as sessions use them`
  return yield* succeed(`private /tmp directories: ${removed} removed${kept}`)
}).pipe(Action.run)

/**
 * Adds a path to the whitelist of `sandbox.json`, or to the readable paths if a built-in rule or the sandbox's own `/tmp`
 * hides it. A host is added to the allowed hosts. Refuses if one of the user's own rules takes precedence.
 */
export const allow = (given: Named & { readonly write: boolean }) =>
  Effect.gen(function* () {
    if (isHost(given)) return yield* addHost("allowedHosts", given.path)
    const text = yield* expand(given.path)
    const reason = SandboxEntry.notAPath(text)
    if (reason !== undefined) return yield* complain(`${JSON.stringify(given.path)} can't be allowed: ${reason}.`)
    const path = Path.resolve(text)
    if (HostPath.isMissing(path) && Either.isRight(HostEntry.parse(given.path, "allowed"))) {
      const word = Name.ofEntry(given.path)
      return yield* complain(
        `${word} does not exist here. If it is a path: synapse sandbox allow ./${word}. If it is a host: synapse sandbox allow --host ${word}`
      )
    }
    const { real } = RealPath.follow(path)
    const never = PathEntry.unwritable(path) ?? PathEntry.unwritable(real)
    if (never !== undefined) return yield* complain(`${Name.of(path)} can't be allowed: ${never}.`)
    const config = yield* SandboxConfig.SandboxConfig
    const { policy } = yield* inspect
    const { explain } = PolicyDecision.make(policy)
    const verdict = explain(path, policy.cwd, "write")
    const isHidden =
      !verdict.allowed && verdict.rule.source === "default" && !PolicyDecision.isNotWhitelisted(verdict.rule)
    const { userHome } = yield* SandboxSettings.SandboxSettings
    const machines = PrivateTemporary.make({ ...policy, granted: [] })
    if (!given.write && machines.places.includes(real)) {
      const own = "the sandbox has a directory of its own there"
      return yield* complain(`${Name.of(path)} can't be allowed as a whole: ${own}. Name what lies in the machine's.`)
    }
    if (machines.places.some((place) => isWithin(path, place) && !isWithin(real, place)) && real !== path) {
      return yield* complain(`${Name.of(path)} is a link to ${Name.of(real)}: name that path.`)
    }
    const isMachines = verdict.allowed && !isWithin(real, userHome) && machines.toOutside(real) !== real
    if (!given.write && (isHidden || isMachines)) {
      const isNew = yield* config.addReadable(path)
      return yield* succeed(`${isNew ? "allowed" : "allowed already"}, to read: ${Name.of(path)}`)
    }
    const isStartup = !verdict.allowed && verdict.rule.source === "startup"
    if (!isHidden && !isStartup && !verdict.allowed && !PolicyDecision.isNotWhitelisted(verdict.rule)) {
      return yield* complain(`${Name.of(path)} can't be allowed: ${why(verdict)}. That wins, so nothing was written.`)
    }
    const isNew = yield* config.addWhitelist(path)
    const missing = HostPath.isMissing(path) ? " (it does not exist: it can be written once it does)" : ""
    yield* print("stdout", `${isNew ? "allowed" : "allowed already"}: ${Name.of(path)}${missing}`)
    const held = `${userHome}/`.startsWith(`${path}/`)
      ? `${path === userHome ? "all of your home" : "your home, with all that is in it,"} and what your own shells start`
      : Explanation.isWide(real, path)
        ? "a directory that holds much else"
        : undefined
    if (held !== undefined) yield* print("stderr", `synapse: that is ${held}: a narrower place is safer`)
    if (isNew && (isHidden || isMachines || isStartup || StartupFiles.takesNewSandbox(real, userHome))) {
      const ways = "restart: true, /restart in synapse shell, or synapse daemon stop with its name"
      yield* tellOpen(`a session that runs has it in a new shell (${ways})`)
    }
    return ExitCode.success
  }).pipe(Action.run)

export const deny = (given: Named) =>
  Effect.gen(function* () {
    if (isHost(given)) return yield* addHost("deniedHosts", given.path)
    const entry = SandboxEntry.toEntry(of(given.path))
    const settings = yield* SandboxSettings.SandboxSettings
    const cwd = process.cwd()
    if (SandboxEntry.covers(entry, cwd, { ...settings, cwd })) {
      return yield* complain(
        `${Name.ofEntry(entry)} holds the directory that you are in, where nothing could run any more: deny what lies in it.`
      )
    }
    const needed = SandboxEntry.needed.find((path) => SandboxEntry.covers(entry, path, { ...settings, cwd }))
    if (needed !== undefined) {
      return yield* complain(
        `${Name.ofEntry(entry)} holds ${needed}, without which nothing could run any more: deny what lies in it.`
      )
    }
    const isNew = yield* (yield* SandboxConfig.SandboxConfig).addBlacklist(entry)
    yield* print("stdout", `${isNew ? "denied" : "denied already"}: ${Name.ofEntry(entry)}`)
    if (isNew) yield* print("stderr", "synapse: sessions that are open go on without the rule until they restart")
    const unset = SandboxEntry.unset(entry, settings)
    if (unset !== undefined)
      yield* print("stderr", `synapse: ${unset} is not set: the rule means such a name until it is`)
    return ExitCode.success
  }).pipe(Action.run)

const listed: Readonly<Record<SandboxFile.List | SandboxFile.HostList, string>> = {
  whitelist: "whitelist",
  blacklist: "blacklist",
  readable: "readable paths",
  allowedHosts: "allowed hosts",
  deniedHosts: "denied hosts"
}

export const forget = (given: { readonly path: string }) =>
  Effect.gen(function* () {
    const cwd = process.cwd()
    const settings = yield* SandboxSettings.SandboxSettings
    const config = yield* SandboxConfig.SandboxConfig
    const gone = yield* config.forget(of(given.path), cwd)
    for (const { entry, list } of gone)
      yield* print("stdout", `forgotten: ${Name.ofEntry(entry)}, of the ${listed[list]}`)
    if (gone.some(({ list }) => list !== "allowedHosts" && list !== "deniedHosts"))
      yield* tellOpen("sessions that are open go on as before until they restart")
    if (gone.length > 0) return ExitCode.success
    const isBuiltIn = PolicyBuilder.defaultBlacklist.some(PathEntry.sameAs(given.path, { ...settings, cwd }))
    if (isBuiltIn) return yield* complain(`${given.path} is built in, and stays.`)
    const { filesystem, network } = (yield* config.load).policy
    const entries = [filesystem.whitelist, filesystem.readable, network.allowedHosts, network.deniedHosts].flat()
    const [near] = Similar.likely(
      given.path,
      entries.filter((entry) => entry !== undefined)
    )
    const way = near === undefined ? "" : ` Perhaps: synapse sandbox forget ${Quote.word(near)}`
    return yield* complain(`${given.path} is not in ${config.file}.${way}`)
  }).pipe(Action.run)
