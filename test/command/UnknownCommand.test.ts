import { assert, describe, it } from "@effect/vitest"
import * as UnknownCommand from "../../src/command/UnknownCommand.js"
import { toText } from "../../src/domain/CommandError.js"

const lines = (error: Parameters<typeof toText>[0]) => toText(error).split("\n")

describe("UnknownCommand", () => {
  it("names the one that is meant, and its help, never that of the wrong name", () => {
    assert.deepStrictEqual(lines(UnknownCommand.command("command:serach", ["command:search", "read", "task:*"])), [
      "Unknown command: command:serach. Did you mean command:search?",
      'Bash(command="command:search --help") shows how to use it.'
    ])
    assert.deepStrictEqual(lines(UnknownCommand.command("command:foo", ["read", "mcp:*"])), [
      "Unknown command: command:foo.",
      "There are these commands besides the shell's own: read, mcp:*."
    ])
    assert.deepStrictEqual(lines(UnknownCommand.command("job:kill", ["read", "job:list", "job:stop"])), [
      "Unknown command: job:kill.",
      "There are these: job:list, job:stop."
    ])
    assert.deepStrictEqual(lines(UnknownCommand.command("mcp:", ["mcp:*"])), [
      "Unknown command: mcp:. Did you mean mcp:*?"
    ])
  })

  it("advises to correct no name where there is none to take instead", () => {
    assert.deepStrictEqual(lines(UnknownCommand.of("task:x", [])), [
      "Unknown command: task:x.",
      "There are no commands besides the shell's own."
    ])
    assert.deepStrictEqual(lines(UnknownCommand.of("skill:no:such", ["read"])), [
      "Unknown skill: no (in skill:no:such).",
      "There are no skills."
    ])
  })

  it("S17: names the whole MCP command, as it is called where the server has another name", () => {
    assert.deepStrictEqual(lines(UnknownCommand.of("mcp:gh:list", ["read"])), [
      "Unknown MCP server: gh (in mcp:gh:list).",
      "There are no MCP servers.",
      'Once it is there, Bash(command="mcp:gh:list --help") shows how to use it.'
    ])
    assert.deepStrictEqual(lines(UnknownCommand.mcpServer("mcp:gihtub:list", ["github", "files"])), [
      "Unknown MCP server: gihtub (in mcp:gihtub:list). Did you mean mcp:github:list?",
      'Bash(command="mcp:github:list --help") shows how to use it.'
    ])
    assert.deepStrictEqual(lines(UnknownCommand.mcpServer("mcp:nope:list", ["github"])), [
      "Unknown MCP server: nope (in mcp:nope:list).",
      "There are these MCP servers: github.",
      'Hint: correct the name; Bash(command="mcp:nope:list --help") then shows how to use it.',
      'Bash(command="command:search") lists what there is.'
    ])
  })
})
