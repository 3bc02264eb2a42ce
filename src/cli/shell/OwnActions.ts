/** Runs the shell's own commands that show or change something. Each returns the text to show. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Snapshots from "../../agent/Snapshots.js"
import * as TakeBack from "../../agent/TakeBack.js"
import * as CommandLine from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as SandboxSettings from "../../sandbox/config/SandboxSettings.js"
import * as Explanation from "../../sandbox/denial/Explanation.js"
import * as HostEntry from "../../sandbox/policy/HostEntry.js"
import * as PathEntry from "../../sandbox/policy/PathEntry.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import * as PrivateTemporary from "../../sandbox/policy/PrivateTemporary.js"
import type { SandboxPolicy } from "../../sandbox/policy/SandboxPolicy.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as TerminalRenderer from "../../terminal/TerminalRenderer.js"
import * as OwnCommand from "./OwnCommand.js"
import * as PolicyText from "./PolicyText.js"
import { type Services, ShellApp } from "./ShellApp.js"

const policy = Effect.flatMap(SandboxManager, ({ inForce }) => Effect.map(inForce, PolicyText.make))

const restart = Effect.flatMap(SandboxManager, (sandbox) =>
  Effect.as(Effect.zipRight(sandbox.restart, sandbox.setStatus(0)), "The next command starts a new shell.")
)

/** Uses the snapshots of the session's directory. */
const ofTurns = <R>(use: (place: Snapshots.Place) => Effect.Effect<string, Snapshots.NoSnapshot, R>) =>
  Effect.gen(function* () {
    const { home } = yield* SandboxSettings.SandboxSettings
    const sandbox = yield* SandboxManager
    return yield* use({ home, cwd: yield* sandbox.cwd })
  }).pipe(
    Effect.catchTag("NoSnapshot", ({ message }) => Effect.succeed(message)),
    Effect.provide(Layer.merge(SandboxSettings.layerFromEnv(), NodeFileSystem.layer))
  )

const undo = ofTurns((place) => Effect.map(TakeBack.run(place), ({ limits, lines }) => [...lines, limits].join("\n")))

const diff = ofTurns((place) =>
  Effect.zipWith(TakeBack.diff(place), ShellApp, (given, { terminal }) => {
    const text = UntrustedText.harmless(given.trimEnd(), true)
    return terminal.isLive ? TerminalRenderer.diff(text) : text
  })
)

const realPath = (path: string): string | undefined => Attempt.orUndefined(() => Fs.realpathSync(path))

/** Unquotes a word as bash does. Text that is not exactly one word stays unchanged. */
const wordOf = (written: string): string => {
  const { words } = CommandLine.parse(`: ${written}`)
  return words.length === 1 ? (words[0]?.value ?? written) : written
}

/** Explains what to do about a missing path. */
const whereMissing = (path: string, policy: SandboxPolicy): string => {
  const { cwd } = policy
  const remedy = Explanation.remedyFor(path, cwd)
  const only = "only what exists can be allowed."
  const read = PolicyDecision.make(policy).explain(path, cwd, "read")
  if (!read.allowed) {
    return read.rule.source === "default"
      ? `${only} Outside of this shell: synapse sandbox allow --write ${Quote.word(path)}`
      : only
  }
  if (remedy === undefined) return only
  return remedy.isThere
    ? `${only} Name its directory.`
    : `${only}\n${Diagnostic.toWrite({ exist: false, paths: [Quote.word(remedy.path)] }, Diagnostic.shell)}`
}

const isWide = (real: string, cwd: string): boolean => Fs.statSync(real).isDirectory() && Explanation.isWide(real, cwd)

const allowHost = (entry: string) =>
  Effect.gen(function* () {
    const { confirm } = yield* ShellApp
    const sandbox = yield* SandboxManager
    const parsed = HostEntry.parse(entry, "allowed")
    if (Either.isLeft(parsed)) return `${UntrustedText.word(entry, 300)} can't be allowed: ${parsed.left}.`
    if (!(yield* confirm(`Let commands reach ${entry} until you leave?`))) return "Nothing was allowed."
    yield* sandbox.allowHost(entry)
    return `Commands may reach ${entry} until you leave. To allow it for good: synapse sandbox allow ${HostEntry.toArgument(entry)}`
  })

const allow = (written: string) =>
  Effect.gen(function* () {
    const app = yield* ShellApp
    const sandbox = yield* SandboxManager
    if (written === "") return `Usage: ${OwnCommand.usage("allow")}`
    const cwd = yield* sandbox.cwd
    const at = (place: string) =>
      Path.resolve(
        cwd,
        place.replace(/^~(?=\/|$)/, () => app.home)
      )
    // Accepts the path literally if it exists, and otherwise quoted as for bash.
    const path = realPath(at(written)) === undefined ? at(wordOf(written)) : at(written)
    const shown = UntrustedText.word(path, 300)
    const real = realPath(path)
    const inForce = yield* sandbox.inForce
    if (inForce === undefined) return "There is no sandbox: commands may write wherever you may."
    if (real === undefined && (written.startsWith("--host ") || HostEntry.isLikely(written)))
      return yield* allowHost(written.replace("--host ", ""))
    if (real === undefined) {
      const host = Attempt.orUndefined(() => new URL(written).host) || written
      const isHost = Either.isRight(HostEntry.parse(host, "allowed"))
      const way = isHost ? `\nIf it is a host: /allow ${HostEntry.toArgument(host)}` : ""
      return `${shown} does not exist: ${whereMissing(path, inForce.policy)}${way}`
    }
    const explain = (access: PolicyDecision.Access) =>
      PolicyDecision.make(inForce.policy).explain(real, inForce.policy.cwd, access)
    const verdict = explain("write")
    const read = explain("read")
    const isMachines = PrivateTemporary.make(inForce.policy).isHidden(real)
    if (verdict.allowed && !isMachines) return `Commands may write to ${shown} already.`
    if (!verdict.allowed && read.allowed && read.rule !== undefined && !PolicyDecision.isNotWhitelisted(verdict.rule))
      return `Commands may read ${shown} already.`
    if (!verdict.allowed && verdict.rule.source === "startup")
      return `Only a new shell has it. In another terminal: synapse sandbox allow ${Quote.word(verdict.rule.path)}; then here: /restart`
    // A built-in rule gives way to a named path.
    const isHidden = isMachines || (!read.allowed && read.rule.source === "default")
    if (!isHidden && !verdict.allowed && !PolicyDecision.isNotWhitelisted(verdict.rule))
      return `${shown} can't be allowed: ${UntrustedText.line(verdict.reason, 300)} (rule ${UntrustedText.word(verdict.rule.pattern, 200)}).`
    const never = PathEntry.unwritable(real)
    if (never !== undefined) return `${shown} can't be allowed: ${never}.`
    const what = Fs.statSync(real).isDirectory() ? `${shown} and everything in it` : shown
    const wide = isWide(real, inForce.policy.cwd) ? " It holds much else." : ""
    // Ask, because the entry came through the session's shell, where a command may have forged it.
    const use = isHidden ? "read" : "write to"
    const isSure = yield* app.confirm(`Let commands ${use} ${what} until you leave?${wide}`)
    if (!isSure) return "Nothing was allowed."
    yield* sandbox.allow(path, isHidden ? "read" : "write")
    return `Commands may ${use} ${what} until you leave. To allow it for good: synapse sandbox allow ${Quote.word(path)}`
  })

/** Runs a command. Errors are part of the text. */
export const run = (
  name: Exclude<OwnCommand.Name, "ask" | "exit" | "resume">,
  rest: string
): Effect.Effect<string, never, Services> => {
  const actions = { allow: allow(rest), diff, help: Effect.succeed(OwnCommand.help), policy, restart, undo }
  const action: Effect.Effect<string, { readonly message: string }, Services> = actions[name]
  return Effect.catchAll(action, (error) => Effect.succeed(`synapse: ${UntrustedText.line(error.message, 1000)}`))
}
