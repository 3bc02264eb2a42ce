/** The configuration files of MCP clients, and how Synapse is added to them as a server. */
import * as Path from "node:path"
import { isDeepStrictEqual } from "node:util"
import type * as Context from "effect/Context"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { getNodeValue, type ParseError, parseTree } from "jsonc-parser"
import * as JsonText from "../../domain/JsonText.js"
import type { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"

/** The command that starts Synapse's MCP server. */
export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** A client, with the file that lists its servers and the form of an entry. */
export interface Client {
  readonly title: string
  readonly path: string
  /** The key of the list of servers. */
  readonly key: string
  readonly value: (launch: Launch) => Readonly<Record<string, unknown>>
}

const plain = ({ args, command }: Launch) => ({ command, args })
const typed = (launch: Launch) => ({ type: "stdio", ...plain(launch) })
const custom = (launch: Launch) => ({ source: "custom", ...plain(launch) })
const listed = ({ args, command }: Launch) => ({ type: "local", command: [command, ...args], enabled: true })

/** The directory where desktop programs keep their settings. */
const support = process.platform === "darwin" ? "~/Library/Application Support" : "~/.config"

/** The clients, by their names on the command line. */
export const clients = {
  "claude-code": { title: "Claude Code", path: "~/.claude.json", key: "mcpServers", value: typed },
  "claude-desktop": {
    title: "Claude Desktop",
    path: `${support}/Claude/claude_desktop_config.json`,
    key: "mcpServers",
    value: plain
  },
  codex: { title: "Codex", path: "~/.codex/config.toml", key: "mcp_servers", value: plain },
  cursor: { title: "Cursor", path: "~/.cursor/mcp.json", key: "mcpServers", value: plain },
  gemini: { title: "Gemini CLI", path: "~/.gemini/settings.json", key: "mcpServers", value: plain },
  opencode: { title: "opencode", path: "~/.config/opencode/opencode.json", key: "mcp", value: listed },
  vscode: { title: "VS Code", path: `${support}/Code/User/mcp.json`, key: "servers", value: typed },
  zed: { title: "Zed", path: "~/.config/zed/settings.json", key: "context_servers", value: custom }
} satisfies Readonly<Record<string, Client>>

/** The variables that name other directories for the clients' files. */
const movedBy: ReadonlyArray<readonly [usual: string, variable: string]> = [
  ["~/.claude.json", "CLAUDE_CONFIG_DIR"],
  ["~/.codex/", "CODEX_HOME"],
  ["~/.config/", "XDG_CONFIG_HOME"]
]

/** Returns where a user's client looks for its file. */
export const pathOf = (
  { path }: Client,
  { userHome, variables }: Pick<Context.Tag.Service<SandboxSettings>, "userHome" | "variables">
): string => {
  const [usual = "", variable = ""] = movedBy.find(([usual]) => path.startsWith(usual)) ?? []
  const directory = variables[variable]
  return directory === undefined || !Path.isAbsolute(directory)
    ? path.replace("~", () => userHome)
    : Path.join(directory, path.slice(usual.lastIndexOf("/")))
}

const isToml = (path: string): boolean => path.endsWith(".toml")

/** Parses TOML, or JSON with comments, depending on the path. */
export const parse = async (text: string, path: string): Promise<Either.Either<unknown, string>> => {
  if (isToml(path)) {
    // Loaded on first use.
    const { parse } = await import("smol-toml")
    return Either.try({ try: (): unknown => parse(text), catch: () => "it is no TOML" })
  }
  const errors: Array<ParseError> = []
  // Unlike `parse`, `parseTree` keeps a key called __proto__.
  const tree = parseTree(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true })
  return errors.length === 0 && tree !== undefined ? Either.right(getNodeValue(tree)) : Either.left("it is no JSON")
}

/** The name of Synapse's server in every client. */
const serverName = "synapse"

const tomlOf = ({ key, value }: Client, launch: Launch): string =>
  [
    `[${key}.${serverName}]`,
    // JSON strings are also valid TOML.
    ...Object.entries(value(launch)).map(([name, given]) => `${name} = ${JSON.stringify(given)}`),
    ""
  ].join("\n")

/** Writes the entry in the format of the client's file. */
export const entryOf = (client: Client, launch: Launch): string =>
  isToml(client.path)
    ? tomlOf(client, launch)
    : `${JSON.stringify({ [client.key]: { [serverName]: client.value(launch) } }, undefined, 2)}\n`

/** Cuts the entry's tables out of a TOML text. Comments before the next table belong to that table. */
const withoutTable = (text: string, { key }: Client): string => {
  const own = new RegExp(`^\\s*\\[\\s*${key}\\s*\\.\\s*["']?${serverName}["']?\\s*[.\\]]`)
  const kept: Array<string> = []
  let isOwn = false
  let between: Array<string> = []
  for (const line of text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) {
      isOwn = own.test(line)
      if (!isOwn) kept.push(...between)
    }
    if (!isOwn) kept.push(line)
    between = isOwn && /^\s*(?:#|$)/.test(line) ? [...between, line] : []
  }
  return kept.join("")
}

const serversIn = (content: unknown, { key }: Client): Either.Either<Readonly<Record<string, unknown>>, string> => {
  if (!Predicate.isReadonlyRecord(content)) return Either.left("it holds no object")
  const servers = content[key] ?? {}
  return Predicate.isReadonlyRecord(servers) ? Either.right(servers) : Either.left(`its ${key} is no object`)
}

/** Compares values of different parsers, whose objects have different prototypes. */
const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(structuredClone(a), structuredClone(b))

/**
 * Writes the entry into the text of a client's file, or removes it without `launch`. Keeps comments and order.
 * Undefined if nothing changes; the left side says why the file can't be changed.
 */
export const change = async (
  text: string,
  client: Client,
  launch: Launch | undefined
): Promise<Either.Either<string | undefined, string>> => {
  const read = async (text: string) =>
    Either.flatMap(await parse(text, client.path), (content) => serversIn(content, client))
  const written = text.trim() === "" && !isToml(client.path) ? "{}\n" : text
  const before = await read(written)
  if (Either.isLeft(before)) return Either.left(before.left)
  const { [serverName]: old, ...others } = before.right
  if (launch === undefined && old === undefined) return Either.right(undefined)
  const value = launch === undefined ? undefined : client.value(launch)
  if (isSame(old, value)) return Either.right(undefined)
  const path = [client.key, serverName]
  const edit = value === undefined ? JsonText.Edit.Remove({ path }) : JsonText.Edit.Set({ path, value })
  const left = isToml(client.path) ? withoutTable(text, client) : ""
  const changed = !isToml(client.path)
    ? JsonText.edit(written, [edit])
    : launch === undefined
      ? left
      : `${left.trimEnd()}${left.trim() === "" ? "" : "\n\n"}${tomlOf(client, launch)}`
  const after = await read(changed)
  const expected = value === undefined ? others : { ...others, [serverName]: value }
  const isRight = Either.isRight(after) && isSame(after.right, expected)
  return isRight ? Either.right(changed) : Either.left("it is written in a way that can't be changed safely")
}
