import { assert, describe, it } from "@effect/vitest"
import * as UnknownMcp from "../../../src/extension/mcp/UnknownMcp.js"

const places = { home: "/home/u/.synapse", root: "/work" }

describe("UnknownMcp", () => {
  it("S17 names the whole identifier, and how to see what there is", () => {
    const error = UnknownMcp.server("mcp:nope:list", "nope", ["files", "github"], places)
    assert.strictEqual(error.command, "mcp:nope:list")
    assert.strictEqual(
      error.message,
      `Unknown MCP server: nope (in mcp:nope:list).\nThere are these MCP servers: files, github.\nHint: correct the name; Bash(command="mcp:nope:list --help") then shows how to use it.`
    )
  })

  it("names the call at the nearest server, and nothing else", () => {
    const of = (command: string, name: string) => UnknownMcp.server(command, name, ["files", "github"], places).message
    assert.strictEqual(
      of("mcp:githib:list", "githib"),
      "Unknown MCP server: githib (in mcp:githib:list). Did you mean mcp:github:list?"
    )
    assert.strictEqual(of("mcp:git", "git"), "Unknown MCP server: git. Did you mean mcp:github?")
  })

  it("says where servers are configured, where there are none", () => {
    assert.strictEqual(
      UnknownMcp.server("mcp:a:b", "a", [], places).message,
      'Unknown MCP server: a (in mcp:a:b).\nNo MCP server is configured: the user names them in /work/mcp_servers.json or /home/u/.synapse/mcp/mcp_servers.json.\nHint: correct the name; Bash(command="mcp:a:b --help") then shows how to use it.'
    )
  })

  it("names the nearest tool, and not more than a few of many", () => {
    assert.strictEqual(
      UnknownMcp.tool("fs", "read_fiel", ["list", "read_file"]).message,
      `The MCP server fs has no tool read_fiel. Did you mean mcp:fs:read_file?\nHint: Bash(command="mcp:fs") tells what they do.`
    )
    const many = Array.from({ length: 500 }, (_, at) => `tool${at}`)
    assert.match(UnknownMcp.tool("fs", "x", many).message, /tool18, tool19, and 480 more\.\n/)
    assert.strictEqual(
      UnknownMcp.tool("fs", "x", []).message,
      "The MCP server fs has no tool x.\nIt has no tools at all."
    )
  })

  it("shows names that a server or a command made up without obeying them", () => {
    const name = "a\u001b[2J\u202eb\nc"
    assert.strictEqual(
      UnknownMcp.tool("fs", name, [name]).reason,
      "The MCP server fs has no tool a␛[2J<U+202E>b c.\nIt has these: a␛[2J<U+202E>b c."
    )
  })
})
