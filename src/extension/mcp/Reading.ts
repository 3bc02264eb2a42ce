/**
 * Reads all servers: those of the working directory's file over those of the home file, and which of them are trusted.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ForeignText from "../../domain/ForeignText.js"
import type { Expanded } from "./Expanded.js"
import type * as FileStamps from "./FileStamps.js"
import type { McpServer } from "./McpClient.js"
import { McpEntry } from "./McpConfig.js"
import * as NamedFiles from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import * as Server from "./Server.js"
import * as ServerFile from "./ServerFile.js"
import * as TrustFile from "./TrustFile.js"

/**
 * A server, and whether it may be used.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  /** Undefined for a file that can't be read. */
  readonly server: Server.Server | undefined
  readonly entry: McpEntry
  readonly state: "ready" | "broken" | "untrusted" | "disabled"
  /** The files that it names, with the content that they have now. */
  readonly files: ReadonlyArray<NamedFiles.NamedFile>
}

/**
 * The servers as they were found at one time.
 *
 * @since 0.1.0
 * @category models
 */
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

const remedy = "the user can look at it, and trust it, with: synapse mcp trust"

/** Says why a file is not trusted. */
const untrusted = (path: string, trust: Trust, problem: string | undefined): string => {
  if (problem !== undefined) return `${path} is not trusted, for nothing is: ${problem}`
  return trust === "changed"
    ? `${path} has changed since it was trusted; ${remedy}`
    : `${path} is not trusted yet; ${remedy}`
}

/** Adds where a server stands, and that another one of its name is not used. */
const inPlaceOf = (other: Server.Origin | undefined): string =>
  other === undefined ? "" : `. Until then, the server of the same name in ${other.file} is not used either`

const unusable = (
  server: McpServer,
  fingerprint: string,
  reason: "broken" | "untrusted" | "loose",
  text: string
): McpEntry => {
  const problem = ForeignText.word(text, longest)
  return McpEntry.Unusable({ server: { ...server, problem }, fingerprint, reason, problem })
}

const usable = (server: McpServer, fingerprint: string, expanded: Expanded, named: NamedFiles.Named): McpEntry =>
  expanded._tag === "Stdio"
    ? McpEntry.Stdio({
        server,
        fingerprint,
        command: expanded.command,
        args: expanded.args,
        env: expanded.env,
        cwd: expanded.cwd,
        named
      })
    : McpEntry.Http({ server, fingerprint, url: expanded.url, headers: expanded.headers })

const compare = (one: Found, other: Found): number =>
  one.entry.server.name < other.entry.server.name ? -1 : one.entry.server.name > other.entry.server.name ? 1 : 0

/**
 * Reads the files.
 *
 * @param stamps takes the paths of all files that are read
 * @since 0.1.0
 * @category reading
 */
export const read = (around: Server.Surroundings, stamps: Pick<FileStamps.FileStamps, "add">): Reading => {
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
    const broken = content._tag === "Broken" ? [content.reason] : []
    return {
      content,
      broken: broken.map((problem): Found => {
        const entry = unusable({ name: file, source, target: file }, OwnFile.hash(file), "broken", problem)
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
    const say = (state: "broken" | "untrusted" | "disabled" | "loose", problem: string): Found => ({
      server,
      entry: unusable(known, fingerprint, state === "disabled" ? "broken" : state, problem),
      state: state === "loose" ? "untrusted" : state,
      files
    })
    if (origin.source === "project" && projectTrust !== "trusted") {
      return say("untrusted", untrusted(origin.file, projectTrust, trustProblem) + inPlaceOf(other))
    }
    if (isDisabled) return say("disabled", `it is disabled in ${origin.file}`)
    if (Either.isLeft(expanded)) return say("broken", `${expanded.left} (in ${origin.file})`)
    if (Either.isLeft(named)) return say("broken", named.left)
    const strange = files.find((file) => trustIn(file) !== "trusted")
    if (strange !== undefined) {
      const words = untrusted(strange.path, trustIn(strange), trustProblem)
      return say("untrusted", `it runs what commands may write: ${words}${inPlaceOf(other)}`)
    }
    const loose = files.flatMap(({ path }) => around.looseness?.(path) ?? [])[0]
    if (loose !== undefined) return say("loose", `it runs what commands may write: ${loose}${inPlaceOf(other)}`)
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
