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
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import type { SandboxConfigError } from "../sandbox/config/SandboxConfigError.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as PathEntry from "../sandbox/policy/PathEntry.js"
import * as PathGlob from "../sandbox/policy/PathGlob.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import type { Rule } from "../sandbox/policy/SandboxPolicy.js"
import { complain, end, print } from "./Answer.js"
import { type Invocation, WrongUsage } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

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
  return { enabled: settings.enabled ?? enabled, provider, file: config.file, policy }
})

/**
 * Formats a heading, and below it the rules as they are written, the paths that they lead to where these differ, and
 * their sources.
 */
const section = (heading: string, rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const rows = rules.map(({ path, pattern, real, source }) => {
    const place = real ?? path
    const isSaid = place === pattern || place === `/${pattern}` || place === `/**/${pattern}`
    return [isSaid ? pattern : `${pattern} (${place})`, PolicyDecision.describeSource(source)] as const
  })
  const width = Math.max(...rows.map(([what]) => what.length))
  return rows.length === 0 ? [] : ["", heading, ...rows.map(([what, source]) => `  ${what.padEnd(width)}  ${source}`)]
}

/**
 * Prints the policy for the current directory, with the source of every rule.
 *
 * @since 0.1.0
 * @category commands
 */
export const policy = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const found = yield* inspect
    const { blacklist, cwd, environment = [], readonly, whitelist } = found.policy
    const text = json
      ? JSON.stringify(found)
      : [
          `The sandbox is ${found.enabled ? `on (provider: ${found.provider})` : "OFF: nothing of this is enforced"}, in ${cwd}`,
          `Rules of your own are in ${found.file}`,
          ...section("Read and write:", whitelist),
          ...section("Never read or written, wherever it is:", blacklist),
          ...section("Never written:", readonly),
          ...(environment.length === 0 ? [] : ["", "Variables that are let through:", `  ${environment.join(" ")}`]),
          "",
          "Everything else can be read. There is no network."
        ].join("\n")
    yield* print("stdout", text)
    return ExitCode.success
  }).pipe(run)

/** Expands a `~` that the shell has left in a path because it was quoted. */
const expandHome = (path: string): Effect.Effect<string, never, SandboxSettings.SandboxSettings> =>
  Effect.map(SandboxSettings.SandboxSettings, ({ userHome }) => path.replace(/^~(?=\/|$)/, () => userHome))

/** Formats a verdict in a few words. */
const why = (verdict: PolicyDecision.Verdict): string => {
  const { rule } = verdict
  if (rule === undefined) return "no rule is about it"
  const name = PolicyDecision.isNotWhitelisted(rule) ? rule.pattern : `rule ${rule.pattern}`
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
    const text = yield* expandHome(given.path)
    const path = Path.resolve(text)
    const access = given.write ? "write" : "read"
    const { enabled, policy } = yield* inspect
    const verdict = PolicyDecision.make(policy).explain(text, policy.cwd, access)
    const place = verdict.real === path ? path : `${path} (${verdict.real})`
    yield* print(
      "stdout",
      given.json
        ? JSON.stringify({ path, access, ...verdict })
        : `${verdict.allowed ? "allowed" : "denied"} to ${access} ${place}: ${why(verdict)}`
    )
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
    const path = Path.resolve(yield* expandHome(given.path))
    const config = yield* SandboxConfig.SandboxConfig
    const { policy } = yield* inspect
    const verdict = PolicyDecision.make(policy).explain(path, policy.cwd, "write")
    if (!verdict.allowed && !PolicyDecision.isNotWhitelisted(verdict.rule)) {
      return yield* complain(`${path} can't be allowed: ${why(verdict)}. That wins, so nothing was written.`)
    }
    const isNew = yield* config.addWhitelist(path)
    yield* print("stdout", `${isNew ? "allowed" : "allowed already"}: ${path}`)
    return ExitCode.success
  }).pipe(run)

/**
 * Makes an entry for a file that is read in every directory: the name of an existing file becomes a path without
 * wildcards, and a relative path becomes relative to the current directory.
 */
const toEntry = (text: string): string => {
  const isThere = Either.getOrElse(
    Either.try(() => Fs.lstatSync(text, { throwIfNoEntry: false }) !== undefined),
    () => false
  )
  const alternatives = PathGlob.expandBraces(text, 2)?.length ?? 2
  const means = !isThere && (/^[~!]|\$[A-Za-z_{]/.test(text) || PathGlob.hasWildcard(text) || alternatives > 1)
  if (!means) return text.trim() === "" ? text : PathGlob.escape(Path.resolve(text))
  const isRelative = text.includes("/") && !/^(?:[/~$!{]|\*\*\/)/.test(text)
  return isRelative ? `${PathGlob.escape(process.cwd())}/${text}` : text
}

/**
 * Adds a path or a pattern to the blacklist of `sandbox.json`.
 *
 * @since 0.1.0
 * @category commands
 */
export const deny = (given: { readonly path: string }) =>
  Effect.gen(function* () {
    const entry = toEntry(given.path)
    const isNew = yield* (yield* SandboxConfig.SandboxConfig).addBlacklist(entry)
    yield* print("stdout", `${isNew ? "denied" : "denied already"}: ${entry}`)
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
    const gone = yield* config.forget(given.path, cwd)
    for (const { entry, list } of gone) yield* print("stdout", `forgotten: ${entry}, of the ${list}`)
    if (gone.length > 0) return ExitCode.success
    const isBuiltIn = PolicyBuilder.defaultBlacklist.some(PathEntry.sameAs(given.path, { ...settings, cwd }))
    return yield* complain(`${given.path} ${isBuiltIn ? "is built in, and stays" : `is not in ${config.file}`}.`)
  }).pipe(run)
