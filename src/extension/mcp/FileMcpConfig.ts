/** Reads the configuration of MCP servers from its files, and again only after a change. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as FileStamp from "../../files/FileStamp.js"
import { PolicyBuilder } from "../../sandbox/config/PolicyBuilder.js"
import { fileName, SandboxConfig } from "../../sandbox/config/SandboxConfig.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import * as TrustedFiles from "../../sandbox/config/TrustedFiles.js"
import * as TemporaryDirectory from "../../sandbox/platform/TemporaryDirectory.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import * as RealPath from "../../sandbox/policy/RealPath.js"
import type { SandboxPolicy } from "../../sandbox/policy/SandboxPolicy.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import type { McpServer } from "./McpClient.js"
import { howToTrust, type Known, McpConfig, McpEntry, type Places } from "./McpConfig.js"
import * as NamedFiles from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import * as Server from "./Server.js"
import * as ServerFile from "./ServerFile.js"
import * as TrustFile from "./TrustFile.js"

/** The age in milliseconds below which a file's time is not reliable: a second change could have the same time. */
const settled = 2000

/**
 * Stamps the paths that something is read from, before the read and whether or not they exist. The stamps are not
 * current if a file changed so recently that a second change might have the same time.
 *
 * @param now the time, in milliseconds since 1970
 */
const stampsAt = (now: number) => {
  const stamps = new Map<string, string>()
  let areSettled = true
  return {
    add: (path: string) => {
      if (stamps.has(path)) return
      const { changed, text } = FileStamp.of(path)
      stamps.set(path, text)
      if (Math.abs(now - changed) < settled) areSettled = false
    },
    areCurrent: () => areSettled && [...stamps].every(([path, stamp]) => FileStamp.of(path).text === stamp)
  }
}

type FileStamps = ReturnType<typeof stampsAt>

/** The servers found at one time. */
export interface Reading {
  /** Sorted by name. */
  readonly entries: ReadonlyArray<McpEntry>
  /** The project's file with the content that was read, if it exists. */
  readonly project: NamedFiles.NamedFile | undefined
  /** True if that content is trusted. */
  readonly isProjectTrusted: boolean
  /** Why the trusted files can't be read. */
  readonly trustProblem: string | undefined
}

/** Compares the content of a file with the content that the user trusted. */
type Trust = "trusted" | "changed" | "new"

/** The most characters of a problem. */
const longest = 600

const unusable = (
  known: Known,
  reason: "broken" | "disabled" | "untrusted" | "loose",
  text: string,
  denial?: { readonly file: string; readonly why: string }
): McpEntry => {
  const problem = UntrustedText.word(text, longest)
  const denied = denial === undefined ? {} : { denial }
  return McpEntry.Unusable({ ...known, server: { ...known.server, problem }, reason, problem, ...denied })
}

const byName = (one: McpEntry, other: McpEntry): number => (one.server.name < other.server.name ? -1 : 1)

/**
 * @param stamps collects the paths of the files
 */
const readAll = (around: Server.ServerPlaces, stamps: FileStamps): Reading => {
  stamps.add(TrustFile.pathIn(around.home))
  const trusts = TrustFile.read(around.home)
  const trusted: TrustFile.Trusted = Either.getOrElse(trusts, () => new Map())
  const trustProblem = Either.isLeft(trusts)
    ? `${TrustFile.pathIn(around.home)} can't be used: ${trusts.left}`
    : undefined
  const trustIn = ({ path, sha256 }: NamedFiles.NamedFile): Trust => {
    const known = trusted.get(path)
    return known === sha256 ? "trusted" : known === undefined ? "new" : "changed"
  }

  const fromFile = (origin: Server.Origin) => {
    const { file, source } = origin
    stamps.add(file)
    const content = ServerFile.read(file, source === "home")
    const { servers, sha256 = undefined } = Either.getOrUndefined(content) ?? { servers: new Map<string, unknown>() }
    const known = { server: { name: file, source, target: "", isFile: true as const }, fingerprint: OwnFile.hash(file) }
    return {
      file: sha256 === undefined ? undefined : { path: file, sha256 },
      servers: [...servers].map(([name, value]) => Server.make(origin, name, value, around)),
      broken: Either.isLeft(content) ? [unusable(known, "broken", content.left)] : []
    }
  }
  const home = fromFile({ source: "home", file: ServerFile.inHome(around.home) })
  const project = fromFile({ source: "project", file: ServerFile.inProject(around.root) })
  const projectTrust = project.file === undefined ? "trusted" : trustIn(project.file)

  const resolve = (written: Server.Server, isShadowing: boolean): McpEntry => {
    const { consent, expanded, isDisabled, name, origin, target, value } = written
    for (const path of written.named.paths) stamps.add(path)
    const named = isDisabled ? Either.right([]) : NamedFiles.read(written.named)
    const files = Either.getOrElse(named, () => [])
    const fingerprint = OwnFile.hash(JSON.stringify([origin.file, name, value, files]))
    const server: McpServer = { name, source: origin.source, target }
    const known = { server, fingerprint, written, files }
    /**
     * `why` is a sentence without its subject. `does` is what the server does with the file, and undefined for the file
     * that lists it.
     */
    const deny = (reason: "untrusted" | "loose", file: string, why: string, does: string | undefined): McpEntry => {
      const also = isShadowing
        ? `. Until then, the server of the same name in ${ServerFile.inHome(around.home)} is not used either`
        : ""
      return unusable(
        known,
        reason,
        `${does === undefined ? "" : `it ${does} what commands may write: `}${file} ${why}${also}`,
        {
          file,
          why: UntrustedText.word(`${does === undefined ? "" : `the server ${does} it, and `}it ${why}${also}`, longest)
        }
      )
    }
    const untrusted = (file: string, trust: Trust, does?: string): McpEntry => {
      if (trustProblem !== undefined)
        return deny("untrusted", file, `is not trusted, for nothing is: ${trustProblem}`, does)
      const why = trust === "changed" ? "has changed since the user trusted it" : "is not trusted yet"
      // Commands of this session could write a file that was not trusted when the session began.
      const also = does === "runs" && around.looseness?.(file)?.isLate === true ? ", and start a new session" : ""
      return deny("untrusted", file, `${why}; ${howToTrust(around.root)}${also}`, does)
    }
    if (origin.source === "project" && projectTrust !== "trusted") return untrusted(origin.file, projectTrust)
    if (isDisabled) return unusable(known, "disabled", `it is disabled in ${origin.file}`)
    if (Either.isLeft(expanded)) return unusable(known, "broken", `${expanded.left} (in ${origin.file})`)
    if (Either.isLeft(named)) return unusable(known, "broken", `${named.left} (in ${origin.file})`)
    for (const file of files) {
      const trust = trustIn(file)
      const found = around.looseness?.(file.path)
      // For a trusted file that commands can still change, trusting it again does not help. A changed file is reported
      // as changed first.
      const isLoose = found !== undefined && trust !== "changed" && (trust === "trusted" || !found.isLate)
      if (isLoose) return deny("loose", file.path, found.why, "runs")
      if (trust !== "trusted") return untrusted(file.path, trust, "runs")
    }
    const [place] = written.named.places
    if (consent !== undefined && place !== undefined && trustIn(consent) !== "trusted")
      return untrusted(place, "new", "may take code from")
    return expanded.right._tag === "Stdio"
      ? McpEntry.Stdio({ ...known, ...expanded.right })
      : McpEntry.Http({ ...known, ...expanded.right })
  }

  const inProject = new Set(project.servers.map(({ name }) => name))
  const inHome = new Set(home.servers.map(({ name }) => name))
  return {
    entries: [
      ...home.broken,
      ...project.broken,
      ...project.servers.map((server) => resolve(server, inHome.has(server.name))),
      ...home.servers.filter(({ name }) => !inProject.has(name)).map((server) => resolve(server, false))
    ].sort(byName),
    project: project.file,
    isProjectTrusted: projectTrust === "trusted",
    trustProblem
  }
}

/** Reads the servers for the command line, which shows more than their entries. */
export class McpReading extends Context.Tag("synapse/McpReading")<
  McpReading,
  Places & {
    /** Reads the files again if one has changed. */
    readonly read: Effect.Effect<Reading>
  }
>() {}

/** The most path components and links that are followed. */
const mostNames = 10_000

/** Drops the rules for trusted files. A file has to be trusted because commands could write it without these rules. */
const withoutTrust = (policy: SandboxPolicy): SandboxPolicy => ({
  ...policy,
  readonly: policy.readonly.filter(({ source }) => source !== "trust" && source !== "startup")
})

/**
 * Makes the reader of the files.
 *
 * @param isNext true to evaluate trust for a session that starts now, false for the current session
 */
const make = Effect.fnUntraced(function* (isNext: boolean) {
  const settings = yield* SandboxSettings
  const session = yield* SessionSettings
  const config = yield* SandboxConfig
  const policies = yield* PolicyBuilder
  const root = Path.resolve(session.cwd ?? process.cwd())
  const sandboxFile = Path.join(settings.home, fileName)
  const listed = [ServerFile.inHome(settings.home), ...ServerFile.candidates(root)]
  const places = {
    variables: { ...settings.variables, ...session.environment },
    userHome: settings.userHome,
    root,
    home: settings.home
  }
  const isEnabled = Effect.gen(function* () {
    return (
      settings.enabled ??
      (yield* Effect.match(config.load, { onFailure: () => true, onSuccess: (file) => file.enabled }))
    )
  })

  /** Without a policy, commands do not run now, but earlier ones may have written anything. */
  const decideBy = (change: (policy: SandboxPolicy) => SandboxPolicy): Effect.Effect<(path: string) => boolean> =>
    Effect.match(policies.build(root), {
      onFailure: () => () => true,
      onSuccess: (policy) => {
        const { decide } = PolicyDecision.make(change(policy))
        return (path) => decide(path, "write").allowed
      }
    })
  const look = Effect.gen(function* () {
    const trusted = TrustedFiles.read(settings.home)
    const decide = trusted.length === 0 ? () => false : yield* decideBy((policy) => policy)
    return TrustFile.make(trusted, decide)
  })
  // Looked up before any sandbox of the session starts.
  const held = isNext ? undefined : yield* look
  const next = Effect.map(
    look,
    (find): TrustFile.HeldFiles =>
      (path) => {
        const found = find(path)
        return found?.isLate === true ? undefined : found
      }
  )
  /** Without a sandbox, nothing is read-only for commands, so trusted content is enough. */
  const looseness = Effect.gen(function* () {
    if (!(yield* isEnabled)) return undefined
    return held ?? (yield* next)
  })

  const isWritable = Effect.map(decideBy(withoutTrust), (decide) => {
    // Cached, since servers share most of their paths: the directories of PATH.
    const known = new Map<string, boolean>()
    return (path: string): boolean => {
      const before = known.get(path)
      if (before !== undefined) return before
      const { links, real } = RealPath.follow(path, mostNames)
      const isOpen = [...links, real].some(decide)
      known.set(path, isOpen)
      return isOpen
    }
  })

  let last: { readonly reading: Reading; readonly stamps: FileStamps } | undefined
  const read = Effect.gen(function* () {
    if (last?.stamps.areCurrent() === true) return last.reading
    const stamps = stampsAt(yield* Clock.currentTimeMillis)
    for (const file of [sandboxFile, ...listed]) stamps.add(file)
    // Most users have no servers, and to build the policy takes as long as all else. A file that comes now is read again.
    const decide = listed.some((file) => Fs.existsSync(file)) ? yield* isWritable : () => true
    const around = { ...places, isWritable: decide, looseness: yield* looseness }
    const reading = readAll(around, stamps)
    last = { reading, stamps }
    return reading
  })

  let temporary: TemporaryDirectory.Held | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => temporary?.release()))
  return McpReading.of({
    read,
    home: settings.home,
    root,
    isWritable,
    temporary: Effect.gen(function* () {
      if (temporary === undefined && (yield* isEnabled)) {
        const policy = yield* Effect.option(policies.build(root))
        if (Option.isSome(policy)) temporary ??= TemporaryDirectory.find(policy.value)
      }
      return temporary?.path
    })
  })
})

/** A layer that reads the files with everything that the command line shows. */
export const layerReading: Layer.Layer<
  McpReading,
  never,
  PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings
> = Layer.scoped(McpReading, make(true))

/**
 * A layer that reads the entries of the project's file and of `$SYNAPSE_HOME/mcp/mcp_servers.json`. It must be
 * built before the sandbox: a server starts only if the files that it runs have been read-only for commands since then.
 */
export const layer: Layer.Layer<McpConfig, never, PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings> =
  Layer.scoped(
    McpConfig,
    Effect.map(make(false), ({ read, ...places }) =>
      McpConfig.of({ ...places, entries: Effect.map(read, ({ entries }) => entries) })
    )
  )
