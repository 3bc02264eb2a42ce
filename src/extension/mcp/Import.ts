/** Plans which servers of other programs are copied: those of the project into its file, others into the home file. */
import * as Path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as ClientFile from "./ClientFile.js"
import { type Definition, decode, encode, textsOf } from "./Definition.js"
import * as McpName from "./McpName.js"
import * as OwnFile from "./OwnFile.js"
import * as Server from "./Server.js"
import * as ServerFile from "./ServerFile.js"

/** The servers of a file by name: the definition, or why it can't be copied. */
type Servers = ReadonlyMap<string, Either.Either<Definition, string>>

type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => (Predicate.isReadonlyRecord(value) ? value : {})
const own = (value: unknown, key: string): unknown => {
  const fields = fieldsOf(value)
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

/** Converts the variables of editors (`${env:NAME}`) into those of Synapse. */
const withVariables = (text: string, workspace: string): string =>
  text
    .replace(/\$\{env:([A-Za-z_]\w*)\}/g, "${$1}")
    .replace(/\$\{userHome\}/g, "${HOME}")
    .replace(/\$\{workspaceFolder\}/g, () => JSON.stringify(workspace).slice(1, -1))

const editorOnly = /\$\{[A-Za-z]+:(?!-)[^}]*\}/

/** Converts Codex's keys for headers and their variables into `headers`. */
const codexHeaders = (server: Fields): Fields => {
  const { bearer_token_env_var: bearer, enabled, env_http_headers, http_headers, ...rest } = server
  const headers = {
    ...fieldsOf(http_headers),
    ...Object.fromEntries(
      Object.entries(fieldsOf(env_http_headers)).map(([name, variable]) => [name, `\${${String(variable)}}`])
    ),
    ...(typeof bearer === "string" ? { Authorization: `Bearer \${${bearer}}` } : {})
  }
  const isDisabled = enabled === false ? { disabled: true } : {}
  return { ...rest, ...isDisabled, ...(Object.keys(headers).length === 0 ? {} : { headers }) }
}

const definitionOf = (name: string, written: unknown): Either.Either<Definition, string> => {
  const refusal = McpName.refusal(name)
  if (refusal !== undefined) return Either.left(refusal)
  if (!Predicate.isReadonlyRecord(written)) return Either.left("it is no object")
  const value = codexHeaders(written)
  if (value["envFile"] !== undefined)
    return Either.left("its variables are in a file (envFile), which is not read here")
  return Either.flatMap(decode(value), ({ definition, isDisabled }) => {
    const editors = textsOf(definition).flatMap((text) => editorOnly.exec(text)?.[0] ?? [])[0]
    if (editors !== undefined) return Either.left(`${UntrustedText.word(editors)} is filled in by its editor only`)
    return isDisabled ? Either.left("it is disabled there") : Either.right(definition)
  })
}

/** The keys under which the programs list servers. Later ones take precedence. */
const keys = ["mcp_servers", "servers", "mcpServers"]

/**
 * Reads the servers in a file's text, or says on the left why it can't.
 *
 * @param workspace the working directory. It replaces an editor's `${workspaceFolder}`, and Claude Code's file has a
 *   list of servers for it
 */
export const parse = async (text: string, path: string, workspace: string): Promise<Either.Either<Servers, string>> =>
  Either.flatMap(await ClientFile.parse(withVariables(text, workspace), path), (content) => {
    const places = [content, own(own(content, "projects"), workspace)]
    const lists = places.flatMap((place) => keys.map((key) => [key, own(place, key)] as const))
    const wrong = lists.find(([, value]) => value !== undefined && value !== null && !Predicate.isReadonlyRecord(value))
    if (wrong !== undefined) return Either.left(`its ${wrong[0]} is no object`)
    const servers = lists.flatMap(([, value]) => Object.entries(fieldsOf(value)))
    return Either.right(new Map(servers.map(([name, written]) => [name, definitionOf(name, written)])))
  })

/** A configuration file of another program. */
interface ForeignFile {
  readonly path: string
  /** True for a file of the project, which somebody else may have written. */
  readonly isProjects: boolean
}

/** The largest file, in bytes. Claude Code's file also holds its history. */
const largest = 64 * 1024 ** 2

/** Returns the files to look for, those of the project first. */
export const usual = (root: string, settings: Parameters<typeof ClientFile.pathOf>[1]): ReadonlyArray<ForeignFile> => {
  const known = Object.values(ClientFile.clients).filter(({ key }) => keys.includes(key))
  return [
    ...[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"]
      .filter((name) => Path.basename(ServerFile.inProject(root)) !== name)
      .map((name) => ({ path: `${root}/${name}`, isProjects: true })),
    ...known.map((client) => ({ path: ClientFile.pathOf(client, settings), isProjects: false }))
  ]
}

/** Reads the servers of a file, if it exists. The left side says why it can't be read. */
export const read = (
  { isProjects, path }: ForeignFile,
  root: string
): Effect.Effect<Either.Either<Servers | undefined, string>> =>
  Effect.promise(async () => {
    const found = OwnFile.read(path, { most: largest, mayBeLink: !isProjects, mayBeForeign: isProjects })
    const text = OwnFile.textOf(found)
    if (Either.isLeft(text)) return Either.left(text.left)
    return text.right === undefined ? Either.right(undefined) : parse(text.right, path, root)
  })

export type Written = Readonly<Record<string, unknown>>

/** A server of a file, and what is done with it. */
export interface Step {
  readonly name: string
  readonly file: ForeignFile
  readonly what: "taken over" | "not taken over" | "there already" | "skipped"
  readonly why: string
  /** The entry to write, if the server is copied. */
  readonly written?: Written
}

const plain = (value: unknown): unknown =>
  Either.match(decode(value), { onLeft: () => value, onRight: ({ definition }) => encode(definition) })

/**
 * Decides what to do with each server. Of several with one name, the first wins.
 *
 * @param before the files that servers are copied into, with the entries that they have
 */
export const plan = (
  found: ReadonlyArray<{ readonly file: ForeignFile; readonly servers: Servers }>,
  before: ReadonlyArray<{ readonly path: string; readonly servers: ReadonlyMap<string, unknown> }>,
  root: string
): ReadonlyArray<Step> => {
  const taken = new Map(
    before.flatMap(({ path, servers }) =>
      [...servers].map(([name, value]) => [name, { value: plain(value), by: path }])
    )
  )
  return found.flatMap(({ file, servers }) =>
    [...servers].map(([name, server]): Step => {
      const step = { name, file, why: "" }
      if (Either.isLeft(server)) return { ...step, what: "not taken over", why: server.left }
      const written = encode(file.isProjects ? server.right : Server.settle(server.right, root))
      const other = taken.get(name)
      if (other === undefined) {
        taken.set(name, { value: written, by: file.path })
        return { ...step, what: "taken over", written }
      }
      return isDeepStrictEqual(other.value, written)
        ? { ...step, what: "there already" }
        : { ...step, what: "skipped", why: `the name is taken, by another server in ${other.by}` }
    })
  )
}
