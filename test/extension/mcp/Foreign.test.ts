import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { Definition } from "../../../src/extension/mcp/Definition.js"
import * as Import from "../../../src/extension/mcp/Import.js"

const parse = async (text: string, path = "/f.json") => {
  const parsed = await Import.parse(text, path, "/work")
  return Either.isLeft(parsed)
    ? parsed.left
    : Object.fromEntries([...parsed.right].map(([name, server]) => [name, Either.merge(server)]))
}

const stdio = (
  command: string,
  more: Partial<{ args: Array<string>; env: Record<string, string>; cwd: string }> = {}
) => Definition.Stdio({ command, args: [], env: {}, cwd: undefined, ...more })

describe("the servers of other programs", () => {
  it("are taken from mcpServers, as Claude Desktop, Cursor and .mcp.json have them", async () => {
    const servers = {
      fs: { command: "npx", args: ["-y", "server"], env: { A: "${env:A}", B: "${userHome}" }, disabled: false },
      http: { type: "http", url: "https://e/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
      here: { command: "${workspaceFolder}/run", envFile: undefined },
      sse: { type: "sse", url: "https://e/sse" },
      file: { command: "x", envFile: ".env" },
      off: { command: "x", disabled: true },
      "a name": { command: "x" },
      wrong: 5
    }
    assert.deepStrictEqual(await parse(JSON.stringify({ mcpServers: servers })), {
      fs: stdio("npx", { args: ["-y", "server"], env: { A: "${A}", B: "${HOME}" } }),
      http: Definition.Http({ url: "https://e/mcp", headers: { Authorization: "Bearer ${TOKEN}" } }),
      here: stdio("/work/run"),
      sse: "its type is sse, which is not supported: give the server's streamable HTTP address",
      file: "its variables are in a file (envFile), which is not read here",
      off: "it is disabled there",
      "a name":
        "its name can't be part of a command: it is made of letters, digits and _ . -, and begins with no . or -",
      wrong: "it is no object"
    })
  })

  it("are told by their names, whatever these mean to programs", async () => {
    const servers = await Import.parse('{"mcpServers": {"__proto__": {"command": "x"}}}', "/f.json", "/work")
    assert.deepStrictEqual(
      [...Either.getOrThrow(servers)],
      [["__proto__", Either.left("its name means something else to programs")]]
    )
  })

  it("are taken from Claude Code's own file, those of this project over the others", async () => {
    const content = {
      mcpServers: { a: { command: "a" }, b: { command: "b" } },
      projects: {
        "/work": { mcpServers: { b: { command: "mine" } } },
        "/other": { mcpServers: { c: { command: "c" } } }
      }
    }
    assert.deepStrictEqual(await parse(JSON.stringify(content)), { a: stdio("a"), b: stdio("mine") })
  })

  it("are taken from VS Code's servers, with comments, but for what it asks for", async () => {
    const text = `{ // comment
      "inputs": [{ "id": "token", "type": "promptString", "password": true }],
      "servers": {
        "gh": { "type": "http", "url": "https://e", "headers": { "A": "Bearer \${input:token}" } },
        "ok": { "type": "stdio", "command": "x", "args": ["\${workspaceFolder}"], },
      },
    }`
    assert.deepStrictEqual(await parse(text), {
      gh: "${input:token} is filled in by its editor only",
      ok: stdio("x", { args: ["/work"] })
    })
  })

  it("are taken from Codex's TOML", async () => {
    const text = `
      model = "x"
      [mcp_servers.docs]
      command = "npx"
      args = ["-y", "docs"]
      startup_timeout_sec = 20
      [mcp_servers.docs.env]
      KEY = "v"
      [mcp_servers.web]
      url = "https://e"
      bearer_token_env_var = "TOKEN"
      http_headers = { "X-A" = "1" }
      env_http_headers = { "X-B" = "B" }
      [mcp_servers.off]
      command = "x"
      enabled = false
    `
    assert.deepStrictEqual(await parse(text, "/u/config.toml"), {
      docs: stdio("npx", { args: ["-y", "docs"], env: { KEY: "v" } }),
      web: Definition.Http({
        url: "https://e",
        headers: { "X-A": "1", "X-B": "${B}", Authorization: "Bearer ${TOKEN}" }
      }),
      off: "it is disabled there"
    })
  })

  it("are none in a file of another shape, and nothing throws", async () => {
    for (const text of ["[]", "5", '"x"', "{}", '{"mcpServers":null}', '{"projects":{"/work":5}}']) {
      assert.deepStrictEqual(await parse(text), {})
    }
    assert.strictEqual(await parse('{"mcpServers":[1]}'), "its mcpServers is no object")
    assert.strictEqual(await parse('{"servers":"x"}'), "its servers is no object")
    assert.strictEqual(await parse("mcp_servers = 3", "/u/config.toml"), "its mcp_servers is no object")
    assert.strictEqual(await parse("{"), "it is no JSON")
    assert.strictEqual(await parse(""), "it is no JSON")
    assert.strictEqual(await parse("[", "/u/config.toml"), "it is no TOML")
    const paths = FastCheck.constantFrom("/f.json", "/f.toml")
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.oneof(FastCheck.json(), FastCheck.string()), paths, async (text, path) => {
        await parse(text, path)
        await parse(`{"mcpServers":${text},"servers":${text}}`, path)
      })
    )
  })
})

describe("what is taken over", () => {
  const file = { path: "/other/.cursor/mcp.json", isProjects: false }
  const found = (servers: Record<string, unknown>, from = file) => ({
    file: from,
    servers: new Map(Object.entries(servers).map(([name, value]) => [name, Either.right(value as Definition)]))
  })
  const plan = (before: Record<string, unknown>, ...all: ReadonlyArray<ReturnType<typeof found>>) =>
    Import.plan(all, [{ path: "/home", servers: new Map(Object.entries(before)) }], "/work").map(
      ({ file: _, ...step }) => step
    )

  it("is what has a name that is free; the same server is there already, however it is written", () => {
    assert.deepStrictEqual(
      plan(
        { a: { args: [], command: "a", type: "stdio" }, b: { command: "other" } },
        found({ a: stdio("a"), b: stdio("b"), c: stdio("c", { cwd: "sub" }) }),
        found({ c: stdio("x") })
      ),
      [
        { name: "a", what: "there already", why: "" },
        { name: "b", what: "skipped", why: "the name is taken, by another server in /home" },
        { name: "c", what: "taken over", why: "", written: { command: "c", cwd: "/work/sub" } },
        { name: "c", what: "skipped", why: "the name is taken, by another server in /other/.cursor/mcp.json" }
      ]
    )
  })
})
