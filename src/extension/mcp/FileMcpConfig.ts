/** Reads the configuration of MCP servers from its files, again only where one has changed. */
import * as Path from "node:path"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ForeignText from "../../domain/ForeignText.js"
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
import { howToTrust, McpConfig, McpEntry } from "./McpConfig.js"
import * as NamedFiles from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import type { Expanded } from "./Server.js"
import * as Server from "./Server.js"
import * as ServerFile from "./ServerFile.js"
import * as TrustFile from "./TrustFile.js"

/** The age of a change, in milliseconds, below which a second one might bear the same time. */
const settled = 2000

/** The files that something was read from. */
interface FileStamps {
  /** Adds a path, which is to be read after that, whether or not something is there. */
  readonly add: (path: string) => void
  /**
   * Returns whether nothing has changed at any path. It is false as well where a file was changed so shortly before it
   * was read that a later change could not be told from that one.
   */
  readonly areCurrent: () => boolean
}

/**
 * Makes the stamps of no file.
 *
 * @param now the time, in milliseconds since 1970
 */
const stampsAt = (now: number): FileStamps => {
  const stamps = new Map<string, string>()
  let areSettled = true
  return {
    add: (path) => {
      if (stamps.has(path)) return
      const { changed, text } = FileStamp.of(path)
      stamps.set(path, text)
      if (Math.abs(now - changed) < settled) areSettled = false
    },
    areCurrent: () => areSettled && [...stamps].every(([path, stamp]) => FileStamp.of(path).text === stamp)
  }
}

/** A server, and whether it may be used. */
export interface Found {
  /** Undefined for a file that can't be read. */
  readonly server: Server.Server | undefined
  readonly entry: McpEntry
  readonly state: "ready" | "broken" | "untrusted" | "loose" | "disabled"
  /** The files that it names, with the content that they have now. */
  readonly files: ReadonlyArray<NamedFiles.NamedFile>
}

/** The servers as they were found at one time. */
export interface Reading {
  /** Sorted by name. */
  readonly found: ReadonlyArray<Found>
  /** The project's file, with the content that the servers were read from; undefined where there is none. */
  readonly project: NamedFiles.NamedFile | undefined
  /** Whether that content is trusted. */
  readonly isProjectTrusted: boolean
  /** The reason why it is not known what is trusted. */
  readonly trustProblem: string | undefined
}

/** Whether the content of a file is the one that the user has trusted. */
type Trust = "trusted" | "changed" | "new"

/** The most characters of a problem. */
const longest = 600

/** Says why a file is not trusted. */
const whyUntrusted = (trust: Trust, problem: string | undefined): string => {
  if (problem !== undefined) return `is not trusted, for nothing is: ${problem}`
  return trust === "changed" ? "has changed since the user trusted it" : "is not trusted yet"
}

/** Adds where a server stands, and that another one of its name is not used. */
const inPlaceOf = (other: Server.Origin | undefined): string =>
  other === undefined ? "" : `. Until then, the server of the same name in ${other.file} is not used either`

/** What keeps a server from being used, where it is not broken. */
interface Denial {
  readonly reason: "untrusted" | "loose"
  readonly file: string
  /** Why the file does, with what to do: a sentence without its subject. */
  readonly why: string
  /** True for the program of the server, and false for the file that lists it. */
  readonly isRun: boolean
}

const broken = (server: McpServer, fingerprint: string, text: string): McpEntry => {
  const problem = ForeignText.word(text, longest)
  return McpEntry.Unusable({ server: { ...server, problem }, fingerprint, reason: "broken", problem })
}

const denied = (server: McpServer, fingerprint: string, { file, isRun, reason, why }: Denial): McpEntry => {
  const problem = ForeignText.word(`${isRun ? "it runs what commands may write: " : ""}${file} ${why}`, longest)
  const denial = { file, why: ForeignText.word(`${isRun ? "the server runs it, and it" : "it"} ${why}`, longest) }
  return McpEntry.Unusable({ server: { ...server, problem }, fingerprint, reason, problem, denial })
}

const usable = (server: McpServer, fingerprint: string, expanded: Expanded, named: NamedFiles.Named): McpEntry =>
  expanded._tag === "Stdio"
    ? McpEntry.Stdio({ ...expanded, server, fingerprint, named })
    : McpEntry.Http({ ...expanded, server, fingerprint })

const compare = (one: Found, other: Found): number =>
  one.entry.server.name < other.entry.server.name ? -1 : one.entry.server.name > other.entry.server.name ? 1 : 0

/**
 * Reads the files.
 *
 * @param stamps takes the paths of all files that are read
 */
const readAll = (around: Server.Surroundings, stamps: Pick<FileStamps, "add">): Reading => {
  const homeOrigin: Server.Origin = { source: "home", file: ServerFile.inHome(around.home) }
  const projectOrigin: Server.Origin = { source: "project", file: ServerFile.inProject(around.root) }
  for (const path of [homeOrigin.file, projectOrigin.file, TrustFile.pathIn(around.home)]) stamps.add(path)

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
    const content = ServerFile.read(origin.file, origin.source === "home")
    const { file, source } = origin
    const problems = content._tag === "Broken" ? [content.reason] : []
    return {
      content,
      broken: problems.map((problem): Found => {
        const entry = broken({ name: file, source, target: "", isFile: true }, OwnFile.hash(file), problem)
        return { server: undefined, entry, state: "broken", files: [] }
      }),
      servers:
        content._tag === "Servers"
          ? [...content.servers].map(([name, value]) => Server.make(origin, name, value, around))
          : []
    }
  }
  const home = fromFile(homeOrigin)
  const project = fromFile(projectOrigin)
  const projectFile =
    project.content._tag === "Servers" ? { path: projectOrigin.file, sha256: project.content.sha256 } : undefined
  const projectTrust = projectFile === undefined ? "trusted" : trustIn(projectFile)

  const resolve = (server: Server.Server, other: Server.Origin | undefined): Found => {
    const { expanded, isDisabled, name, origin, paths, target, value } = server
    for (const path of paths) stamps.add(path)
    const named = isDisabled ? Either.right([]) : NamedFiles.read(paths)
    const files = Either.getOrElse(named, () => [])
    const fingerprint = OwnFile.hash(JSON.stringify([origin.file, name, value, files]))
    const known: McpServer = { name, source: origin.source, target }
    const say = (state: "broken" | "disabled", problem: string): Found => ({
      server,
      entry: broken(known, fingerprint, problem),
      state,
      files
    })
    const deny = (denial: Denial): Found => ({
      server,
      entry: denied(known, fingerprint, { ...denial, why: denial.why + inPlaceOf(other) }),
      state: denial.reason,
      files
    })
    const untrusted = (file: string, trust: Trust, isRun: boolean): Found => {
      const why = whyUntrusted(trust, trustProblem)
      // Commands of this session can write what was not trusted when it began.
      const isLate = isRun && around.looseness?.(file)?.isLate === true
      const remedy = `${howToTrust(around.root)}${isLate ? ", and start a new session" : ""}`
      return deny({
        reason: "untrusted",
        file,
        why: trustProblem === undefined ? `${why}; ${remedy}` : why,
        isRun
      })
    }
    if (origin.source === "project" && projectTrust !== "trusted") return untrusted(origin.file, projectTrust, false)
    if (isDisabled) return say("disabled", `it is disabled in ${origin.file}`)
    if (Either.isLeft(expanded)) return say("broken", `${expanded.left} (in ${origin.file})`)
    if (Either.isLeft(named)) return say("broken", `${named.left} (in ${origin.file})`)
    const loose = (isLate: boolean): Found | undefined => {
      for (const { path: file } of files) {
        const found = around.looseness?.(file)
        if (found?.isLate === isLate) return deny({ reason: "loose", file, why: found.why, isRun: true })
      }
      return undefined
    }
    const strange = files.find((file) => trustIn(file) !== "trusted")
    // Trust does not help against it; that a trusted file has changed is told first.
    const lasting = strange !== undefined && trustIn(strange) === "changed" ? undefined : loose(false)
    if (lasting !== undefined) return lasting
    if (strange !== undefined) return untrusted(strange.path, trustIn(strange), true)
    const passing = loose(true)
    if (passing !== undefined) return passing
    return { server, entry: usable(known, fingerprint, expanded.right, { paths, files }), state: "ready", files }
  }

  const inProject = new Set(project.servers.map(({ name }) => name))
  const inHome = new Set(home.servers.map(({ name }) => name))
  return {
    found: [
      ...home.broken,
      ...project.broken,
      ...project.servers.map((server) => resolve(server, inHome.has(server.name) ? homeOrigin : undefined)),
      ...home.servers.filter(({ name }) => !inProject.has(name)).map((server) => resolve(server, undefined))
    ].sort(compare),
    project: projectFile,
    isProjectTrusted: projectTrust === "trusted",
    trustProblem
  }
}

/** Reads the servers with what the command line shows of them besides their entries. */
export class McpReading extends Context.Tag("synapse/McpReading")<
  McpReading,
  {
    /** Reads the files anew where one has changed. */
    readonly read: Effect.Effect<Reading>
    /** The directory of Synapse's own files: `$SYNAPSE_HOME`. */
    readonly home: string
    /** The working directory. */
    readonly root: string
    /** Tests whether sandboxed commands may write to a path. */
    readonly isWritable: (path: string) => boolean
  }
>() {}

/** The most names of a path, and of the links in it, that are followed. */
const mostNames = 10_000

/** Leaves out the rules for trusted files: these are looked at because commands could write them before they were trusted. */
const withoutTrust = (policy: SandboxPolicy): SandboxPolicy => ({
  ...policy,
  readonly: policy.readonly.filter(({ source }) => source !== "trust" && source !== "startup")
})

/**
 * Makes the reading of the files.
 *
 * @param isNext true to tell what a session that starts now may use, rather than the one that has begun
 */
const make = Effect.fnUntraced(function* (isNext: boolean) {
  const settings = yield* SandboxSettings
  const session = yield* SessionSettings
  const config = yield* SandboxConfig
  const policies = yield* PolicyBuilder
  const root = Path.resolve(session.cwd ?? process.cwd())
  const sandboxFile = Path.join(settings.home, fileName)
  const places = {
    variables: { ...settings.variables, ...session.environment },
    userHome: settings.userHome,
    root,
    home: settings.home
  }

  const look = (tell: typeof TrustFile.make): TrustFile.HeldFiles => {
    const policy = Either.map(policies.peek(root), PolicyDecision.make)
    return tell(TrustedFiles.read(settings.home), (path) =>
      Either.match(policy, { onLeft: () => true, onRight: ({ decide }) => decide(path, "write").allowed })
    )
  }
  // Before any sandbox of the session has started.
  const held = isNext ? undefined : look(TrustFile.make)
  /** Without a sandbox, nothing is read-only for commands, and trusted content is enough. */
  const looseness = (): TrustFile.HeldFiles | undefined => {
    const isEnabled =
      settings.enabled ?? Either.match(config.peek(), { onLeft: () => true, onRight: (file) => file.enabled })
    return isEnabled ? (held ?? look(TrustFile.makeNext)) : undefined
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

  let last: { readonly reading: Reading; readonly stamps: FileStamps } | undefined
  const read = Effect.map(Clock.currentTimeMillis, (now) => {
    if (last?.stamps.areCurrent() === true) return last.reading
    const stamps = stampsAt(now)
    stamps.add(sandboxFile)
    const reading = readAll({ ...places, isWritable: writableBy(), looseness: looseness() }, stamps)
    last = { reading, stamps }
    return reading
  })
  return McpReading.of({ read, home: settings.home, root, isWritable: (path) => writableBy()(path) })
})

/** Holds, from its first use, the directory that the session's commands have in the place of `/tmp`. */
const holdingTemporary = Effect.gen(function* () {
  const settings = yield* SandboxSettings
  const config = yield* SandboxConfig
  const policies = yield* PolicyBuilder
  const { cwd = process.cwd() } = yield* SessionSettings
  let held: TemporaryDirectory.Held | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => held?.release()))
  return () => {
    const isEnabled =
      settings.enabled ?? Either.match(config.peek(), { onLeft: () => true, onRight: (file) => file.enabled })
    if (held === undefined && isEnabled) {
      held = Either.match(policies.peek(Path.resolve(cwd)), {
        onLeft: () => undefined,
        onRight: TemporaryDirectory.find
      })
    }
    return held?.path
  }
})

/** A layer which reads the files with all that the command line shows. */
export const layerReading: Layer.Layer<
  McpReading,
  never,
  PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings
> = Layer.effect(McpReading, make(true))

/**
 * A layer which reads the entries from `mcp_servers.json` in the working directory and in `$SYNAPSE_HOME/mcp`. It has to be
 * made before the sandbox: a server is started only where the files that it runs are read-only for commands since then.
 */
export const layer: Layer.Layer<McpConfig, never, PolicyBuilder | SandboxConfig | SandboxSettings | SessionSettings> =
  Layer.scoped(
    McpConfig,
    Effect.gen(function* () {
      const { home, isWritable, read, root } = yield* make(false)
      const temporary = yield* holdingTemporary
      let last: Reading | undefined
      let entries: ReadonlyArray<McpEntry> = []
      return McpConfig.of({
        entries: Effect.map(read, (reading) => {
          if (reading !== last) entries = reading.found.map(({ entry }) => entry)
          last = reading
          return entries
        }),
        home,
        root,
        temporary,
        isWritable
      })
    })
  )
