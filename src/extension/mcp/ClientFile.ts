/** The files in which MCP clients list their servers, and how Synapse is written into them. */
import { isDeepStrictEqual } from "node:util"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as JsonText from "../../domain/JsonText.js"
import * as Import from "./Import.js"

/** The command that starts the server. */
export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** A client: where it keeps its servers, and how it writes one. */
export interface Client {
  readonly title: string
  readonly path: (userHome: string, support: string) => string
  /** The key of the servers. */
  readonly key: string
  readonly isToml?: true
  readonly value: (launch: Launch) => Readonly<Record<string, unknown>>
}

const plain = ({ args, command }: Launch) => ({ command, args })

/** The clients, by the name that they are called by. */
export const clients = {
  "claude-code": {
    title: "Claude Code",
    path: (userHome) => `${userHome}/.claude.json`,
    key: "mcpServers",
    value: (launch) => ({ type: "stdio", ...plain(launch) })
  },
  "claude-desktop": {
    title: "Claude Desktop",
    path: (_, support) => `${support}/Claude/claude_desktop_config.json`,
    key: "mcpServers",
    value: plain
  },
  codex: {
    title: "Codex",
    path: (userHome) => `${userHome}/.codex/config.toml`,
    key: "mcp_servers",
    isToml: true,
    value: plain
  },
  cursor: { title: "Cursor", path: (userHome) => `${userHome}/.cursor/mcp.json`, key: "mcpServers", value: plain },
  gemini: {
    title: "Gemini CLI",
    path: (userHome) => `${userHome}/.gemini/settings.json`,
    key: "mcpServers",
    value: plain
  },
  opencode: {
    title: "opencode",
    path: (userHome) => `${userHome}/.config/opencode/opencode.json`,
    key: "mcp",
    value: ({ args, command }) => ({ type: "local", command: [command, ...args], enabled: true })
  },
  vscode: {
    title: "VS Code",
    path: (_, support) => `${support}/Code/User/mcp.json`,
    key: "servers",
    value: (launch) => ({ type: "stdio", ...plain(launch) })
  },
  zed: {
    title: "Zed",
    path: (userHome) => `${userHome}/.config/zed/settings.json`,
    key: "context_servers",
    value: (launch) => ({ source: "custom", ...plain(launch) })
  }
} satisfies Readonly<Record<string, Client>>

/** The name of the server in every client. */
const serverName = "synapse"

const tomlOf = ({ key, value }: Client, launch: Launch): string =>
  [
    `[${key}.${serverName}]`,
    // A string of JSON is one of TOML.
    ...Object.entries(value(launch)).map(([name, given]) => `${name} = ${JSON.stringify(given)}`),
    ""
  ].join("\n")

/** Writes the entry as it stands in the client's file. */
export const entryOf = (client: Client, launch: Launch): string =>
  client.isToml === true
    ? tomlOf(client, launch)
    : `${JSON.stringify({ [client.key]: { [serverName]: client.value(launch) } }, undefined, 2)}\n`

/** Cuts the entry's tables out of a TOML text; comments before the next table are that one's. */
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

const parse = (text: string, client: Client): Promise<Either.Either<Readonly<Record<string, unknown>>, string>> =>
  (client.isToml === true
    ? Import.parsedToml(text)
    : Promise.resolve(Import.parsedJson(text.trim() === "" ? "{}" : text))
  ).then(Either.flatMap((content) => serversIn(content, client)))

/**
 * Writes the entry into the text of a client's file, or takes it out where there is no `launch`. Comments and order stay. The outcome is
 * undefined where nothing changes; on the left is why the file can't be changed.
 */
export const change = async (
  text: string,
  client: Client,
  launch: Launch | undefined
): Promise<Either.Either<string | undefined, string>> => {
  const before = await parse(text, client)
  if (Either.isLeft(before)) return Either.left(before.left)
  const { [serverName]: old, ...others } = before.right
  if (launch === undefined && old === undefined) return Either.right(undefined)
  const value = launch === undefined ? undefined : client.value(launch)
  if (isSame(old, value)) return Either.right(undefined)
  const path = [client.key, serverName]
  const edit = value === undefined ? JsonText.Edit.Remove({ path }) : JsonText.Edit.Set({ path, value })
  const left = client.isToml === true ? withoutTable(text, client) : ""
  const changed =
    client.isToml !== true
      ? JsonText.edit(text.trim() === "" ? "{}\n" : text, [edit])
      : launch === undefined
        ? left
        : `${left.trimEnd()}${left.trim() === "" ? "" : "\n\n"}${tomlOf(client, launch)}`
  const after = await parse(changed, client)
  const expected = value === undefined ? others : { ...others, [serverName]: value }
  const isRight = Either.isRight(after) && isSame(after.right, expected)
  return isRight ? Either.right(changed) : Either.left("it is written in a way that can't be changed safely")
}
