import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as ClientFile from "../../../src/extension/mcp/ClientFile.js"

const launch: ClientFile.Launch = { command: "/usr/bin/node", args: ["/opt/synapse.cjs", "mcp", "serve"] }
const { "claude-code": claude, codex, cursor, opencode, vscode, zed } = ClientFile.clients

const install = async (text: string, client: ClientFile.Client) =>
  Either.getOrThrow(await ClientFile.change(text, client, launch)) ?? text
const uninstall = async (text: string, client: ClientFile.Client) =>
  Either.getOrThrow(await ClientFile.change(text, client, undefined)) ?? text

const json = `{
\t// the servers that I use
\t"theme": "dark",
\t"mcpServers": {
\t\t"other": { "command": "x" } // and its end
\t}
}
`
const toml = `# mine
model = "x" # and why

[mcp_servers.other]
command = "y"

[tui]
theme = "dark"
`

describe("the file of an MCP client", () => {
  it("gets the server, keeps its comments and its order, and is as before without it", async () => {
    const added = await install(json, cursor)
    for (const line of json.split("\n").filter((line) => line.includes("//")))
      assert.include(added, line.trim().split("//")[1] ?? "//")
    assert.include(added, `\t\t"synapse": {\n\t\t\t"command": "/usr/bin/node"`)
    assert.isUndefined(Either.getOrThrow(await ClientFile.change(added, cursor, launch)))
    assert.notInclude(await uninstall(added, cursor), "synapse")

    const table = await install(toml, codex)
    assert.strictEqual(
      table,
      `${toml}\n[mcp_servers.synapse]\ncommand = "/usr/bin/node"\nargs = ["/opt/synapse.cjs","mcp","serve"]\n`
    )
    assert.isUndefined(Either.getOrThrow(await ClientFile.change(table, codex, launch)))
    assert.strictEqual((await uninstall(table, codex)).trimEnd(), toml.trimEnd())
  })

  it("is made where there is none", async () => {
    const entry = { command: "/usr/bin/node", args: [...launch.args] }
    assert.deepStrictEqual(JSON.parse(await install("", claude)), {
      mcpServers: { synapse: { type: "stdio", ...entry } }
    })
    assert.deepStrictEqual(JSON.parse(await install("", vscode)), { servers: { synapse: { type: "stdio", ...entry } } })
    assert.deepStrictEqual(JSON.parse(await install("{}", zed)), {
      context_servers: { synapse: { source: "custom", ...entry } }
    })
    assert.deepStrictEqual(JSON.parse(await install("", opencode)), {
      mcp: { synapse: { type: "local", command: ["/usr/bin/node", ...launch.args], enabled: true } }
    })
    assert.include(await install("", codex), "[mcp_servers.synapse]")
    assert.deepStrictEqual(JSON.parse(ClientFile.entryOf(cursor, launch)), { mcpServers: { synapse: entry } })
  })

  it("has an older entry replaced, with its tables below", async () => {
    const old = `${toml}\n[mcp_servers.synapse]\ncommand = "old"\n[mcp_servers.synapse.env]\nA = "b"\n\n# of the last\n[last]\na = 1\n`
    const added = await install(old, codex)
    assert.notInclude(added, "old")
    assert.notInclude(added, `A = "b"`)
    assert.include(added, "# of the last\n[last]\na = 1\n")
    assert.notInclude(await install(`{"mcpServers":{"synapse":{"command":"old"}}}`, cursor), "old")
  })

  it("is refused where it is broken, or can't be changed without other changes", async () => {
    const broken: ReadonlyArray<readonly [string, ClientFile.Client, RegExp]> = [
      ["{ no", cursor, /no JSON/],
      ["[1]", cursor, /no object/],
      [`{"mcpServers": []}`, cursor, /its mcpServers is no object/],
      ["= 1", codex, /no TOML/],
      [`mcp_servers = { other = { command = "y" } }`, codex, /can't be changed safely/],
      [`[mcp_servers]\nsynapse = { command = "y" }`, codex, /can't be changed safely/],
      [`text = """\n[mcp_servers.synapse]\n"""\n`, codex, /can't be changed safely/]
    ]
    for (const [text, client, reason] of broken) {
      const outcome = await ClientFile.change(text, client, launch)
      assert.match(Either.isLeft(outcome) ? outcome.left : `changed: ${outcome.right}`, reason, text)
    }
  })
})
