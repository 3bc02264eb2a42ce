/**
 * Finds the options that have no effect: all that are for a sandbox, where `sandbox.json` switches it off; `--allow` and
 * `--allow-read` where a rule takes precedence, or nothing is there.
 */
import * as Path from "node:path"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Name from "../sandbox/policy/Name.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as Action from "./Action.js"
import { WrongUsage } from "./Invocation.js"
import * as SandboxEntry from "./SandboxEntry.js"
import type * as SessionOptions from "./SessionOptions.js"

/**
 * Fails for an option where there is no sandbox, and for a path that would not become writable. What is wrong with the
 * settings is told where they are used.
 *
 * @param option one that was given, and that only a sandbox can follow
 */
export const check = (
  given: SessionOptions.Given,
  option: string
): Effect.Effect<void, ConfigError | WrongUsage, FileSystem> =>
  Effect.gen(function* () {
    const { file, peek } = yield* SandboxConfig.SandboxConfig
    const config = peek()
    if (Either.isRight(config) && !config.right.enabled) {
      return yield* new WrongUsage({ message: `${option} has no effect: ${file} switches the sandbox off.` })
    }
    const { blacklist, readable, whitelist } = given
    if (whitelist.length + readable.length === 0) return
    const { directory } = yield* UserEnvironment
    const cwd = Path.resolve(Option.getOrElse(given.cwd, directory))
    const { merge } = PolicyBuilder
    const settings = yield* SandboxSettings.SandboxSettings
    if (Either.isLeft(config)) return
    const before = merge(cwd, file, config.right, settings)
    const after = merge(cwd, file, config.right, { ...settings, blacklist, readable, whitelist })
    if (Either.isLeft(before) || Either.isLeft(after)) return
    const isAllowedAnyway = PolicyDecision.make(before.right).explain
    const { explain } = PolicyDecision.make(after.right)
    const wanted = [
      ...whitelist.map((entry) => ({ entry, access: "write", option: "--allow" }) as const),
      ...readable.map((entry) => ({ entry, access: "read", option: "--allow-read" }) as const)
    ]
    for (const { access, entry, option } of wanted) {
      // Names with these may mean another path: whether they may be on the list is told where it is made.
      if (/[~$*?[\]{}\\]/.test(entry)) continue
      const path = Path.resolve(cwd, entry)
      const verdict = explain(path, cwd, access)
      const told = Name.of(entry)
      const indifferent = SandboxEntry.indifferent(path)
      if (indifferent !== undefined)
        return yield* new WrongUsage({ message: `${option} ${told} has no effect: ${indifferent}.` })
      if (!verdict.allowed) {
        const { reason, rule } = verdict
        return yield* new WrongUsage({
          message: `${option} ${told} has no effect: rule ${Name.ofEntry(rule.pattern)} takes precedence: ${reason}.`
        })
      }
      if (isAllowedAnyway(path, cwd, access).allowed) continue
      if (HostPath.isMissing(path)) {
        return yield* new WrongUsage({
          message: `${option} ${told} has no effect: it does not exist. Make it, or allow the directory that it is to lie in.`
        })
      }
    }
  }).pipe(Effect.provide(Action.layer))
