/**
 * The actions of `synapse sandbox`.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { InvalidUsage } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as WorkingDirectory from "../domain/WorkingDirectory.js"
import { homeDirectory } from "../extension/skill/LocalSkillStore.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import type { SandboxConfigError } from "../sandbox/config/SandboxConfigError.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as Remedy from "../sandbox/denial/Remedy.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Name from "../sandbox/policy/Name.js"
import * as PathEntry from "../sandbox/policy/PathEntry.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as RealPath from "../sandbox/policy/RealPath.js"
import { complain, end, print } from "./Answer.js"
import * as Enforced from "./Enforced.js"
import { type Invocation, WrongUsage } from "./Invocation.js"
import * as RawWord from "./RawWord.js"
import * as SandboxEntry from "./SandboxEntry.js"
import type { Stdio } from "./Stdio.js"
import * as PolicyText from "./shell/PolicyText.js"

type Services = PolicyBuilder.PolicyBuilder | SandboxConfig.SandboxConfig | SandboxSettings.SandboxSettings

const layer: Layer.Layer<Services, ConfigError, FileSystem.FileSystem> = PolicyBuilder.layer.pipe(
  Layer.provideMerge(SandboxConfig.layer),
  Layer.provideMerge(SandboxSettings.layerFromEnv()),
  Layer.provide(Layer.effectDiscard(Effect.suspend(WorkingDirectory.current)))
)

/** Runs an action, which returns the program's exit code; reports its errors. */
const run = <R>(
  action: Effect.Effect<number, InvalidUsage | SandboxConfigError, R>
): Effect.Effect<void, ConfigError | WrongUsage, Exclude<R, Services> | FileSystem.FileSystem | Invocation | Stdio> =>
  action.pipe(
    Effect.catchTags({
      SandboxConfigError: ({ message }) => complain(message),
      InvalidUsage: ({ message }) => new WrongUsage({ message })
    }),
    end,
    Effect.provide(layer)
  )

const inspect = Effect.gen(function* () {
  const settings = yield* SandboxSettings.SandboxSettings
  const config = yield* SandboxConfig.SandboxConfig
  const { enabled, provider } = yield* config.load
  const policy = yield* (yield* PolicyBuilder.PolicyBuilder).build(process.cwd())
  return { enabled: settings.enabled ?? enabled, provider, file: config.file, home: settings.home, policy }
})

/**
 * Prints the policy for the current directory, with the source of every rule.
 *
 * @since 0.1.0
 * @category commands
 */
export const policy = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const { home: _, ...found } = yield* inspect
    const text = json
      ? JSON.stringify(found)
      : [
          `The sandbox is ${found.enabled ? `on (provider: ${found.provider})` : "OFF: nothing of this is enforced"}, in ${Name.of(found.policy.cwd)}`,
          `Rules of your own are in ${found.file}`,
          `${PolicyText.rules(found.policy).join("\n")}${asksForNetwork(found.file) ? ": `allowNetwork: true` has no effect" : ""}.`
        ].join("\n")
    yield* print("stdout", text)
    return ExitCode.success
  }).pipe(run)

/** Tests whether the file asks for a network, which no sandbox has. */
const asksForNetwork = (file: string): boolean =>
  Either.getOrElse(
    Either.try(() => /"allowNetwork"\s*:\s*true/.test(Fs.readFileSync(file, "utf8"))),
    () => false
  )

/** Expands the `~` and the variables that the shell has left in a path because they were quoted. */
const expand = (path: string): Effect.Effect<string, never, SandboxSettings.SandboxSettings> =>
  Effect.map(SandboxSettings.SandboxSettings, (settings) => SandboxEntry.expand(RawWord.of(path), settings))

/** Formats a verdict in a few words. */
const why = (verdict: PolicyDecision.Verdict): string => {
  const { rule } = verdict
  if (rule === undefined) return "no rule is about it"
  const name = PolicyDecision.isNotWhitelisted(rule) ? rule.pattern : `rule ${Name.ofEntry(rule.pattern)}`
  return `${name}: ${verdict.allowed ? PolicyDecision.describeSource(rule.source) : verdict.reason}`
}

/**
 * Prints whether a path may be read or written, and which rule decides it; sets exit code 1 where it may not.
 *
 * @since 0.1.0
 * @category commands
 */
export const explain = (given: { readonly json: boolean; readonly path: string; readonly write: boolean }) =>
  Effect.gen(function* () {
    const text = yield* expand(given.path)
    const path = Path.resolve(text)
    const access = given.write ? "write" : "read"
    const { enabled, home, policy } = yield* inspect
    const decided = PolicyDecision.make(policy).explain(text, policy.cwd, access)
    const enforced = enabled ? yield* Enforced.find(policy, decided, access, homeDirectory(home)) : {}
    const verdict = { ...decided, ...enforced.verdict } as PolicyDecision.Verdict
    const real = decided.real === path ? "" : ` (${Name.of(decided.real)})`
    const missing = enforced.verdict?.own === undefined && HostPath.isMissing(path) ? " (it does not exist)" : ""
    const place = `${Name.of(path)}${real}${missing}`
    const reason = enforced.reason ?? why(verdict)
    yield* print(
      "stdout",
      given.json
        ? JSON.stringify({ path, access, ...verdict })
        : `${verdict.allowed ? "allowed" : "denied"} to ${access} ${place}: ${reason}`
    )
    if (enforced.remark !== undefined && !given.json) yield* print("stdout", enforced.remark)
    if (!enabled) yield* print("stderr", "synapse: the sandbox is off: nothing of this is enforced")
    return verdict.allowed ? ExitCode.success : ExitCode.failure
  }).pipe(run)

/**
 * Adds a path to the whitelist of `sandbox.json`; refuses it where another rule takes precedence.
 *
 * @since 0.1.0
 * @category commands
 */
export const allow = (given: { readonly path: string }) =>
  Effect.gen(function* () {
    const text = yield* expand(given.path)
    const reason = SandboxEntry.notAPath(text)
    if (reason !== undefined) return yield* complain(`${JSON.stringify(given.path)} can't be allowed: ${reason}.`)
    const path = Path.resolve(text)
    const never = PathEntry.unwritable(path) ?? PathEntry.unwritable(RealPath.follow(path).real)
    if (never !== undefined) return yield* complain(`${Name.of(path)} can't be allowed: ${never}.`)
    const config = yield* SandboxConfig.SandboxConfig
    const { policy } = yield* inspect
    const verdict = PolicyDecision.make(policy).explain(path, policy.cwd, "write")
    if (!verdict.allowed && !PolicyDecision.isNotWhitelisted(verdict.rule)) {
      return yield* complain(`${Name.of(path)} can't be allowed: ${why(verdict)}. That wins, so nothing was written.`)
    }
    const isNew = yield* config.addWhitelist(path)
    const missing = HostPath.isMissing(path) ? " (it does not exist: it can be written once it does)" : ""
    yield* print("stdout", `${isNew ? "allowed" : "allowed already"}: ${Name.of(path)}${missing}`)
    const { userHome } = yield* SandboxSettings.SandboxSettings
    const held = `${userHome}/`.startsWith(`${path}/`)
      ? `${path === userHome ? "all of your home" : "your home, with all that is in it,"} and what your own shells start`
      : Remedy.isWide(RealPath.follow(path).real, path)
        ? "a directory that holds much else"
        : undefined
    if (held !== undefined) yield* print("stderr", `synapse: that is ${held}: a narrower place is safer`)
    return ExitCode.success
  }).pipe(run)

/**
 * Adds a path or a pattern to the blacklist of `sandbox.json`.
 *
 * @since 0.1.0
 * @category commands
 */
export const deny = (given: { readonly path: string }) =>
  Effect.gen(function* () {
    const entry = SandboxEntry.toEntry(RawWord.of(given.path))
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
    const unset = SandboxEntry.unset(entry, settings)
    if (unset !== undefined)
      yield* print("stderr", `synapse: ${unset} is not set: the rule means such a name until it is`)
    return ExitCode.success
  }).pipe(run)

/**
 * Removes an entry from the lists of `sandbox.json`.
 *
 * @since 0.1.0
 * @category commands
 */
export const forget = (given: { readonly path: string }) =>
  Effect.gen(function* () {
    const cwd = process.cwd()
    const settings = yield* SandboxSettings.SandboxSettings
    const config = yield* SandboxConfig.SandboxConfig
    const gone = yield* config.forget(RawWord.of(given.path), cwd)
    for (const { entry, list } of gone) yield* print("stdout", `forgotten: ${Name.ofEntry(entry)}, of the ${list}`)
    if (gone.length > 0) return ExitCode.success
    const isBuiltIn = PolicyBuilder.defaultBlacklist.some(PathEntry.sameAs(given.path, { ...settings, cwd }))
    return yield* complain(`${given.path} ${isBuiltIn ? "is built in, and stays" : `is not in ${config.file}`}.`)
  }).pipe(run)
