/** Plans which servers of other programs are taken over into the home file. */
import * as Path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { getNodeValue, type ParseError, parseTree } from "jsonc-parser"
import * as ForeignText from "../../domain/ForeignText.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import { Definition, decode, encode, textsOf } from "./Definition.js"
import * as McpName from "./McpName.js"
import * as NamedFiles from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"

/**
 * The way in which servers are written: under `mcpServers`; in Claude Code's own file, where each project has some as well; under
 * `servers`, as VS Code has them; in Codex's TOML.
 */
export type Format = "mcpServers" | "claude" | "vscode" | "codex"

/** The servers of a file: by name what each is, or the reason why it can't be taken over. */
type Servers = ReadonlyMap<string, Either.Either<Definition, string>>

type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => (Predicate.isReadonlyRecord(value) ? value : {})
const own = (value: unknown, key: string): unknown => {
  const fields = fieldsOf(value)
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

/** Writes what editors write as `${env:NAME}` as we do. */
const withVariables = (value: unknown, workspace: string): unknown => {
  if (typeof value === "string") {
    return value
      .replace(/\$\{env:([A-Za-z_]\w*)\}/g, "${$1}")
      .replace(/\$\{userHome\}/g, "${HOME}")
      .replace(/\$\{workspaceFolder\}/g, () => workspace)
  }
  if (Array.isArray(value)) return value.map((one) => withVariables(one, workspace))
  if (!Predicate.isReadonlyRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withVariables(one, workspace)]))
}

const editorOnly = /\$\{[A-Za-z]+:(?!-)[^}]*\}/

/** Writes Codex's names for headers, and where their values come from, as headers. */
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

const definitionOf = (
  name: string,
  written: unknown,
  format: Format,
  workspace: string
): Either.Either<Definition, string> => {
  const refusal = McpName.refusal(name)
  if (refusal !== undefined) return Either.left(refusal)
  if (!Predicate.isReadonlyRecord(written)) return Either.left("it is no object")
  const value = fieldsOf(withVariables(format === "codex" ? codexHeaders(written) : written, workspace))
  if (value["envFile"] !== undefined)
    return Either.left("its variables are in a file (envFile), which is not read here")
  return Either.flatMap(decode(value), ({ definition, isDisabled }) => {
    const editors = textsOf(definition).flatMap((text) => editorOnly.exec(text)?.[0] ?? [])[0]
    if (editors !== undefined) return Either.left(`${ForeignText.word(editors)} is filled in by its editor only`)
    return isDisabled ? Either.left("it is disabled there") : Either.right(definition)
  })
}

/** Returns the first key of a file that should hold servers, and does not. */
const misshapen = (content: unknown, format: Format): string | undefined => {
  const keys = format === "codex" ? ["mcp_servers"] : format === "vscode" ? ["servers", "mcpServers"] : ["mcpServers"]
  return keys.find((key) => {
    const value = own(content, key)
    return value !== undefined && value !== null && !Predicate.isReadonlyRecord(value)
  })
}

const serversIn = (content: unknown, format: Format, workspace: string): Fields => {
  if (format === "codex") return fieldsOf(own(content, "mcp_servers"))
  if (format === "vscode") return { ...fieldsOf(own(content, "servers")), ...fieldsOf(own(content, "mcpServers")) }
  const global = fieldsOf(own(content, "mcpServers"))
  if (format === "mcpServers") return global
  return { ...global, ...fieldsOf(own(own(own(content, "projects"), workspace), "mcpServers")) }
}

/** Parses JSON with comments. */
export const parsedJson = (text: string): Either.Either<unknown, string> => {
  const errors: Array<ParseError> = []
  // Unlike `parse`, the values of a tree keep what is called __proto__.
  const tree = parseTree(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true })
  return errors.length === 0 && tree !== undefined ? Either.right(getNodeValue(tree)) : Either.left("it is no JSON")
}

/** Parses TOML, whose parser is loaded by its first use. */
export const parsedToml = async (text: string): Promise<Either.Either<unknown, string>> => {
  const { parse } = await import("smol-toml")
  return Either.try({ try: (): unknown => parse(text), catch: () => "it is no TOML" })
}

/**
 * Reads a file's text; on the left is the reason why it has no servers that can be read.
 *
 * @param workspace the working directory, which an editor's `${workspaceFolder}` stands for
 */
export const parse = async (
  text: string,
  format: Format,
  workspace: string
): Promise<Either.Either<Servers, string>> => {
  const parsed = format === "codex" ? await parsedToml(text) : parsedJson(text)
  return Either.flatMap(parsed, (content) => {
    const wrong = misshapen(content, format)
    if (wrong !== undefined) return Either.left(`its ${wrong} is no object`)
    const servers = Object.entries(serversIn(content, format, workspace))
    return Either.right(
      new Map(servers.map(([name, written]) => [name, definitionOf(name, written, format, workspace)]))
    )
  })
}

/** A file of another program. */
interface ForeignFile {
  readonly path: string
  readonly format: Format
  /** True for a file of the project, which is somebody else's. */
  readonly isProjects: boolean
}

/** The most bytes of a file: Claude Code's holds its history as well. */
const largest = 64 * 1024 ** 2

/** Returns the directory where programs with windows keep their settings. */
export const supportOf = (userHome: string): string =>
  process.platform === "darwin" ? `${userHome}/Library/Application Support` : `${userHome}/.config`

/** Returns the files that are looked for, the project's first. */
export const usual = (root: string, userHome: string): ReadonlyArray<ForeignFile> => {
  const support = supportOf(userHome)
  const file =
    (format: Format, isProjects: boolean) =>
    (path: string): ForeignFile => ({
      path,
      format,
      isProjects
    })
  return [
    ...[`${root}/.mcp.json`, `${root}/.cursor/mcp.json`].map(file("mcpServers", true)),
    file("vscode", true)(`${root}/.vscode/mcp.json`),
    file("claude", false)(`${userHome}/.claude.json`),
    ...[`${support}/Claude/claude_desktop_config.json`, `${userHome}/.cursor/mcp.json`].map(file("mcpServers", false)),
    file("vscode", false)(`${support}/Code/User/mcp.json`),
    file("codex", false)(`${userHome}/.codex/config.toml`)
  ]
}

/** Makes a file of a path that a person named; its format is told by its name. */
export const namedForeignFiles = (path: string, root: string): ForeignFile => {
  const absolute = Path.resolve(root, path)
  const relative = Path.relative(root, absolute)
  const base = Path.basename(absolute)
  const isVsCode = base === "mcp.json" && !absolute.includes("/.cursor/")
  return {
    path: absolute,
    format: base.endsWith(".toml") ? "codex" : base === ".claude.json" ? "claude" : isVsCode ? "vscode" : "mcpServers",
    isProjects: !relative.startsWith("..")
  }
}

/** Reads the servers of a file; undefined where there is none. On the left is the reason why it can't be read. */
export const read = (
  { format, isProjects, path }: ForeignFile,
  root: string
): Effect.Effect<Either.Either<Servers | undefined, string>> =>
  Effect.promise(async () => {
    const found = OwnFile.read(path, { most: largest, mayBeLink: !isProjects, mayBeForeign: isProjects })
    const text = OwnFile.textOf(found)
    if (Either.isLeft(text)) return Either.left(text.left)
    return text.right === undefined ? Either.right(undefined) : parse(text.right, format, root)
  })

/** A definition as it is written in a file. */
export type Written = Readonly<Record<string, unknown>>

/** The decision on a server: it is taken over as it is `written`, or left. */
export type Result = Data.TaggedEnum<{
  Take: { readonly written: Written }
  Leave: { readonly what: string; readonly why: string }
}>

export const Result = Data.taggedEnum<Result>()

/** A server of a file, and what is done with it. */
export interface Step {
  readonly name: string
  readonly file: ForeignFile
  readonly result: Result
}

const plain = (value: unknown): unknown =>
  Either.match(decode(value), { onLeft: () => value, onRight: ({ definition }) => encode(definition) })

const isBelow = (root: string) => (path: string) => path.startsWith(`${root}/`) && !HostPath.isMissing(path)

/**
 * Gives a server the directory that it was written for: one that names files of the project needs it, and no other gets
 * it, for `npx` would run what the project has installed.
 */
const located = (definition: Definition, root: string): Definition => {
  if (definition._tag === "Http") return definition
  const { args, command, cwd, env } = definition
  if (cwd !== undefined) {
    const isElsewhere = /^[/~]|\$\{/.test(cwd)
    return isElsewhere ? definition : Definition.Stdio({ args, command, env, cwd: Path.resolve(root, cwd) })
  }
  const named = NamedFiles.pathsOf({ args, command, cwd: root, env }, "/", isBelow(root))
  const needs = Either.isRight(named) && named.right.length > 0
  return needs ? Definition.Stdio({ args, command, env, cwd: root }) : definition
}

/**
 * Decides on each server of the files, the first of a name first.
 *
 * @param before the servers that the home file has, as they are written
 * @param home the path of that file
 */
export const plan = (
  found: ReadonlyArray<{ readonly file: ForeignFile; readonly servers: Servers }>,
  before: ReadonlyMap<string, unknown>,
  home: string,
  root: string
): ReadonlyArray<Step> => {
  const taken = new Map([...before].map(([name, value]) => [name, { value: plain(value), by: home }]))
  return found.flatMap(({ file, servers }) =>
    [...servers].map(([name, server]): Step => {
      if (Either.isLeft(server)) {
        return { name, file, result: Result.Leave({ what: "not taken over", why: server.left }) }
      }
      const written = encode(located(server.right, root))
      const other = taken.get(name)
      if (other === undefined) {
        taken.set(name, { value: written, by: file.path })
        return { name, file, result: Result.Take({ written }) }
      }
      const isSame = isDeepStrictEqual(other.value, written)
      const why = `the name is taken, by another server in ${other.by}`
      return {
        name,
        file,
        result: Result.Leave(isSame ? { what: "there already", why: "" } : { what: "skipped", why })
      }
    })
  )
}
