import { assert, describe, it } from "@effect/vitest"
import * as LiveMcpClient from "../../../src/extension/mcp/LiveMcpClient.js"
import type { McpServer } from "../../../src/extension/mcp/McpClient.js"
import * as McpName from "../../../src/extension/mcp/McpName.js"

const places = { home: "/home/u/.synapse", root: "/work" }

const unknownTool = (tool: string, tools: ReadonlyArray<string>) =>
  McpName.unknownTool(
    `mcp:fs:${tool}`,
    { server: "fs", tool },
    tools.map((name) => ({ name }))
  )

const named = (...names: ReadonlyArray<string>) =>
  names.map((name): McpServer => ({ name, source: "home", target: "" }))

describe("UnknownMcp", () => {
  it("S17 names the whole identifier, and how to see what there is", () => {
    const error = LiveMcpClient.unknownServer("mcp:nope:list", "nope", named("files", "github"), places)
    assert.strictEqual(error.command, "mcp:nope:list")
    assert.strictEqual(
      error.message,
      `Unknown MCP server: nope (in mcp:nope:list).\nThere are these MCP servers: files, github.\nHint: correct the name; Bash(command="mcp:nope:list --help") then shows how to use it.\nBash(command="command:search") lists what there is.`
    )
  })

  it("names the call at the nearest server", () => {
    const of = (command: string) =>
      LiveMcpClient.unknownServer(command, command.split(":")[1] ?? "", named("files", "github"), places).reason
    assert.strictEqual(
      of("mcp:githib:list"),
      "Unknown MCP server: githib (in mcp:githib:list). Did you mean mcp:github:list?"
    )
    const help = (servers: ReadonlyArray<string>) =>
      LiveMcpClient.unknownServer("mcp:githib:list", "githib", named(...servers), places)
        .message.split("\n")
        .slice(1)
    assert.deepStrictEqual(help(["files", "github"]), ['Bash(command="mcp:github:list --help") shows how to use it.'])
    assert.deepStrictEqual(help(["files", "githab", "github"]), [])
    assert.strictEqual(of("mcp:git"), "Unknown MCP server: git (in mcp:git). Did you mean mcp:github?")
  })

  it("says where servers are configured, where there are none", () => {
    assert.strictEqual(
      LiveMcpClient.unknownServer("mcp:a:b", "a", [], places).message,
      'Unknown MCP server: a (in mcp:a:b).\nNo MCP server is configured: the user names them in /work/mcp_servers.json or /home/u/.synapse/mcp/mcp_servers.json.\nOnce it is there, Bash(command="mcp:a:b --help") shows how to use it.'
    )
  })

  it("names the server where the command is another's", () =>
    assert.match(
      LiveMcpClient.unknownServer("another", "nope", [], places).reason,
      /^Unknown MCP server: nope\.\nNo MCP server is configured/
    ))

  it("names the files that can't be read, for it may stand in one", () => {
    const file = {
      name: "/work/mcp_servers.json",
      source: "project",
      target: "",
      problem: "it is no JSON",
      isFile: true
    } as const
    assert.match(
      LiveMcpClient.unknownServer("mcp:a:b", "a", [...named("files"), file], places).message,
      /\n\/work\/mcp_servers\.json can't be used: it is no JSON\.$/
    )
  })

  it("names the nearest tool, and not more than a few of many", () => {
    assert.strictEqual(
      unknownTool("read_fiel", ["list", "read_file"]).message,
      `Unknown MCP tool: read_fiel (in mcp:fs:read_fiel). Did you mean mcp:fs:read_file?\nBash(command="mcp:fs") lists its tools.`
    )
    assert.strictEqual(
      unknownTool("readFile", ["list", "read_file"]).reason,
      "Unknown MCP tool: readFile (in mcp:fs:readFile). Did you mean mcp:fs:read_file?"
    )
    const many = Array.from({ length: 500 }, (_, at) => `tool${at}`)
    assert.match(
      unknownTool("x", many).message,
      /\nThere are these tools of fs: tool0, .*, tool18, tool19, and 480 more\.\n/
    )
    assert.strictEqual(unknownTool("x", []).message, "Unknown MCP tool: x (in mcp:fs:x).\nThere are no tools of fs.")
  })

  it("shows names that a server or a command made up without obeying them", () => {
    const name = "a\u001b[2J\u202eb\nc"
    const shown = "a\\u001b[2J\\u202eb\\nc"
    assert.strictEqual(
      unknownTool(name, ["x", name]).reason,
      `Unknown MCP tool: ${shown} (in mcp:fs:${shown}).\nThere are these tools of fs: x, ${shown}.`
    )
  })
})
