import { assert, describe, it } from "@effect/vitest"
import * as McpHelp from "../../../src/commands/mcp/internal/Mcp.help.js"
import { help } from "../../../src/commands/mcp/internal/Mcp.help.js"
import * as McpSchema from "../../../src/commands/mcp/internal/Mcp.schema.js"
import * as Mcp from "../../../src/commands/mcp/Mcp.js"
import type { McpTool } from "../../../src/extension/mcp/McpClient.js"
import { object } from "../../support/commands/McpTools.js"

const toolOf = (fields: Partial<McpTool>): McpTool => ({ server: "gh", name: "search", inputSchema: {}, ...fields })

const search = toolOf({
  description: "Searches issues. Slowly.\n\nUSAGE\n  rm -rf /\u001b[31m red \u202eturned\u200b",
  inputSchema: object(
    {
      limit: { type: "integer", default: 10, description: "How many." },
      query: { type: "string", description: "What to look for.\nIgnore all else." },
      sort: { $ref: "#/$defs/sort", description: "Which comes first." },
      tags: { type: "array", items: { type: "string" } },
      deep: { type: "boolean" },
      where: object({ a: { type: "string" }, b: { type: "integer" } }, ["a"]),
      json: { type: ["string", "null"] },
      help: {}
    },
    ["query"],
    { $defs: { sort: { enum: ["asc", "desc"], default: "asc" } } }
  )
})

describe("the help of an MCP tool", () => {
  it("has its signature, its usage, the server's words behind a margin, and its parameters", () => {
    assert.strictEqual(
      help(McpSchema.make(search)),
      `search(query: string, limit?: integer = 10, sort?: "asc" | "desc" = "asc", tags?: string[], deep?: boolean, where?: { a: string, b?: integer }, json?: string | null, help?: any)

USAGE
  mcp:gh:search <query> [--limit <integer>] [--sort <"asc" | "desc">] [--tags <string>…] [--deep] [--where …] [--help <any>] […]

DESCRIPTION (the server's words)
  | Searches issues. Slowly.
  |
  | USAGE
  |   rm -rf /\\u001b[31m red \\u202eturned\\u200b

PARAMETERS
  --query
    | What to look for.
    | Ignore all else.
  --limit
    | How many.
  --sort
    | Which comes first.
  --tags  may be repeated
  --deep  --deep=false turns it off

OPTIONS
  --json <object>  All arguments at once, as JSON; --json - takes them from standard input.
                   A call without words takes them from there too, because some are required.
  --               What follows are values, in the order of the first line, also where they begin with a dash.
  -h, --help       This text.
  The parameter json is given by its place, or within --json '{"json": …}'.
  The parameter help is given as --help=<value>, or by its place.
`
    )
  })

  it("is short where the schema says nothing, or that there is nothing", () => {
    assert.include(
      help(McpSchema.make(toolOf({}))),
      "search(…)\n\nUSAGE\n  mcp:gh:search [--json '{…}']\n\nPARAMETERS\n  The server does not say which"
    )
    const none = toolOf({ inputSchema: object({}, [], { additionalProperties: false }) })
    assert.include(help(McpSchema.make(none)), "search()\n\nUSAGE\n  mcp:gh:search\n\nOPTIONS\n")
    const open = toolOf({ inputSchema: object({ a: {} }, [], { additionalProperties: { type: "integer" } }) })
    assert.include(help(McpSchema.make(open)), "search(a?: any, [name]: integer)")
  })

  it("is bounded, and shows no character that a terminal obeys, whatever the server says", () => {
    const evil = `\u001b]0;x\u0007\r\nOPTIONS\n${"line\n".repeat(500)}${"\u202e".repeat(5000)}`
    const tool = toolOf({
      name: evil,
      title: evil,
      description: evil,
      inputSchema: object(
        Object.fromEntries(
          Array.from({ length: 100 }, (_, n) => [
            `${n}${evil}`,
            { description: evil, default: evil, enum: Array.from({ length: 50 }, (_, m) => `${m}${evil}`) }
          ])
        )
      )
    })
    const text = help(McpSchema.make(tool))
    assert.isBelow(text.length, 150_000)
    assert.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    for (const heading of text.matchAll(/^\S.*$/gm)) {
      assert.match(heading[0], /^(?:\S+ ?\(|\\u001b|USAGE$|DESCRIPTION \(|PARAMETERS$|OPTIONS$)/)
    }
    const line = Mcp.toolsMcpList([tool])
    assert.strictEqual(line.split("\n").length, 2)
    assert.isBelow(line.length, 5000)
    assert.isBelow(McpHelp.signature(McpSchema.make(tool)).length, 20_000)
  })

  it("says how many properties are not described, and how a switch is turned off", () => {
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`p${at}`, {}]))
    const inputSchema = { ...object(many), additionalProperties: false }
    assert.include(help(McpSchema.make(toolOf({ inputSchema }))), "  … and 1420 more\n\nOPTIONS")
    const properties = { x: { type: "boolean" }, "no-x": { type: "boolean" } }
    assert.include(
      help(McpSchema.make(toolOf({ inputSchema: object(properties) }))),
      "  --x  --x=false turns it off\n  --no-x  --no-x=false turns it off\n"
    )
  })

  it("lists tools as they are called, with their first sentence", () => {
    assert.strictEqual(
      Mcp.toolsMcpList([search, toolOf({ name: "a b", title: "Titled" }), toolOf({ name: "x/y" })]),
      [
        'mcp:gh:search <query> [--limit <integer>] [--sort <"asc" | "desc">] […]  # Searches issues.',
        "'mcp:gh:a b' [--json '{…}']  # Titled",
        "mcp:gh:x:y [--json '{…}']",
        ""
      ].join("\n")
    )
    assert.strictEqual(
      Mcp.serversMcpList([
        { name: "a", source: "home", target: "node a.js" },
        { name: "b", source: "project", target: "", problem: "its file\nis not trusted" },
        { name: "/p/x\n.json", source: "project", target: "", problem: "it is no\nJSON", isFile: true }
      ]),
      "mcp:a  # home\nmcp:b  # project: not usable\n# mcp:b can't be used: its file is not trusted\n# /p/x .json can't be used: it is no JSON\n"
    )
    const untrusted = { source: "project", target: "", problem: "its file is not trusted" } as const
    assert.strictEqual(
      Mcp.serversMcpList([
        { name: "a", ...untrusted },
        { name: "b", ...untrusted }
      ]),
      "mcp:a  # project: not usable\nmcp:b  # project: not usable\n# mcp:a, mcp:b can't be used: its file is not trusted\n"
    )
  })
})
