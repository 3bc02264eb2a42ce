/** Reads the configuration of MCP servers from its files, again only where one has changed. */
import * as Path from "node:path"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { PolicyBuilder } from "../../sandbox/config/PolicyBuilder.js"
import { SandboxConfig } from "../../sandbox/config/SandboxConfig.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import * as SandboxStore from "../../sandbox/config/SandboxStore.js"
import * as TrustedFiles from "../../sandbox/config/TrustedFiles.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import * as RealPath from "../../sandbox/policy/RealPath.js"
import type { SandboxPolicy } from "../../sandbox/policy/SandboxPolicy.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import * as FileStamps from "./internal/FileStamps.js"
import * as HeldFiles from "./internal/HeldFiles.js"
import { McpConfig, type McpEntry } from "./McpConfig.js"
import * as Reading from "./Reading.js"

/** Reads the servers with what the command line shows of them besides their entries. */
export class McpReading extends Context.Tag("synapse/McpReading")<
  McpReading,
  {
    /** Reads the files anew where one has changed. */
    readonly read: Effect.Effect<Reading.Reading>
    /** The directory of Synapse's own files: `$SYNAPSE_HOME`. */
    readonly home: string
    /** The working directory. */
    readonly root: string
  }
>() {}

/** The most names of a path, and of the links in it, that are followed. */
const mostNames = 10_000

/** Leaves out the rules for trusted files: these are looked at because commands could write them before they were trusted. */
const withoutTrust = (policy: SandboxPolicy): SandboxPolicy => ({
  ...policy,
  readonly: policy.readonly.filter(({ source }) => source !== "trust")
})

/** @param looseness returns undefined where trusted content is enough */
const make = Effect.fnUntraced(function* (looseness: () => HeldFiles.HeldFiles | undefined) {
  const settings = yield* SandboxSettings
  const session = yield* SessionSettings
  const policies = yield* PolicyBuilder
  const root = Path.resolve(session.cwd ?? process.cwd())
  const sandboxFile = Path.join(settings.home, SandboxStore.fileName)
  const places = {
    variables: { ...settings.variables, ...session.environment },
    userHome: settings.userHome,
    root,
    home: settings.home
  }
  /** Without a policy, commands do not run; what they may have written before is not known. */
  const writableBy = () => {
    let policy: PolicyDecision.PolicyDecision | undefined
    const decide = (path: string): boolean => {
      policy ??= Either.getOrUndefined(
        Either.map(policies.peek(root), (policy) => PolicyDecision.make(withoutTrust(policy)))
      )
      if (policy === undefined) return true
      const { links, real } = RealPath.follow(path, mostNames)
      return [...links, real].some((one) => policy?.decide(one, "write").allowed)
    }
    // Servers have most of their paths in common: where their programs are looked for.
    const known = new Map<string, boolean>()
    return (path: string): boolean => {
      const isWritable = known.get(path) ?? decide(path)
      known.set(path, isWritable)
      return isWritable
    }
  }

  let last: { readonly reading: Reading.Reading; readonly stamps: FileStamps.FileStamps } | undefined
  const read = Effect.map(Clock.currentTimeMillis, (now) => {
    if (last?.stamps.areCurrent() === true) return last.reading
    const stamps = FileStamps.make(now)
    stamps.add(sandboxFile)
    const reading = Reading.read({ ...places, isWritable: writableBy(), looseness: looseness() }, stamps)
    last = { reading, stamps }
    return reading
  })
  return McpReading.of({ read, home: settings.home, root })
})

/** Looks at what is trusted, without a sandbox at nothing: then nothing is read-only for commands. */
const holding = Effect.gen(function* () {
  const settings = yield* SandboxSettings
  const session = yield* SessionSettings
  const config = yield* SandboxConfig
  const policies = yield* PolicyBuilder
  const look = (tell: typeof HeldFiles.make): HeldFiles.HeldFiles => {
    const policy = Either.map(policies.peek(Path.resolve(session.cwd ?? process.cwd())), PolicyDecision.make)
    return tell(TrustedFiles.read(settings.home), (path) =>
      Either.match(policy, { onLeft: () => true, onRight: ({ decide }) => decide(path, "write").allowed })
    )
  }
  const isEnabled = (): boolean =>
    settings.enabled ?? Either.match(config.peek(), { onLeft: () => true, onRight: (file) => file.enabled })
  return { look, isEnabled }
})

/** Looks before any sandbox of the session has started. */
const holdingSince = Effect.map(holding, ({ isEnabled, look }) => {
  const held = look(HeldFiles.make)
  return () => (isEnabled() ? held : undefined)
})

/** Looks each time, as a session that starts then would. */
const holdingNext = Effect.map(
  holding,
  ({ isEnabled, look }) =>
    () =>
      isEnabled() ? look(HeldFiles.makeNext) : undefined
)

/** A layer which reads the files with all that the command line shows. */
export const layerReading: Layer.Layer<
  McpReading,
  never,
  PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings
> = Layer.effect(McpReading, Effect.flatMap(holdingNext, make))

/**
 * A layer which reads the entries from `mcp_servers.json` in the working directory and in `$SYNAPSE_HOME/mcp`. It has to be
 * made before the sandbox: a server is started only where the files that it runs are read-only for commands since then.
 */
export const layer: Layer.Layer<McpConfig, never, PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings> =
  Layer.effect(
    McpConfig,
    Effect.map(Effect.flatMap(holdingSince, make), ({ home, read, root }) => {
      let last: Reading.Reading | undefined
      let entries: ReadonlyArray<McpEntry> = []
      return McpConfig.of({
        entries: Effect.map(read, (reading) => {
          if (reading !== last) entries = reading.found.map(({ entry }) => entry)
          last = reading
          return entries
        }),
        home,
        root
      })
    })
  )
