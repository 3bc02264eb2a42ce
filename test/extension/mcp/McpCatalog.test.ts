import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LiveMcpClient from "../../../src/extension/mcp/LiveMcpClient.js"
import { McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as Temporary from "../../support/Temporary.js"

const entry = (name: string, fingerprint = "f") =>
  McpEntry.Http({ server: { name, source: "home", target: "" }, fingerprint, url: "", headers: {} })

const tool = (server: string, name: string) => ({ server, name, inputSchema: { type: "object" } })

const put = (catalog: LiveMcpClient.McpCatalog, name: string, ...tools: ReadonlyArray<string>) =>
  Effect.runPromise(
    catalog.put(
      entry(name),
      "v 1",
      tools.map((each) => tool(name, each))
    )
  )

const using = (use: (directory: string) => Promise<void>) =>
  Temporary.using((directory) => use(path.join(directory, "cache", "mcp")))

describe("McpCatalog", () => {
  it("keeps lists across catalogs, for each server and fingerprint, readable by their owner", () =>
    using(async (directory) => {
      await put(LiveMcpClient.make(directory), "a", "one", "two")
      const catalog = LiveMcpClient.make(directory)
      assert.deepStrictEqual(catalog.get(entry("a")), {
        version: "v 1",
        tools: [tool("a", "one"), tool("a", "two")]
      })
      assert.strictEqual(catalog.get(entry("a")), catalog.get(entry("a")))
      assert.isUndefined(catalog.get(entry("b")))
      assert.isUndefined(catalog.get(entry("a", "other")))
      const [file = "", ...others] = fs.readdirSync(directory)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(fs.statSync(path.join(directory, file)).mode & 0o777, 0o600)
      catalog.drop(entry("a"))
      assert.isUndefined(catalog.get(entry("a")))
    }))

  it("ignores a file that is broken, foreign, too large, or a link", () =>
    using(async (directory) => {
      await put(LiveMcpClient.make(directory), "a", "one")
      const file = path.join(directory, fs.readdirSync(directory)[0] ?? "")
      const good = fs.readFileSync(file, "utf8")
      const readNow = () => LiveMcpClient.make(directory).get(entry("a"))
      for (const text of ["", "{", "null", "[]", '{"format":2}', good.slice(0, -1), good.replace('"v 1"', "1")]) {
        fs.writeFileSync(file, text)
        assert.isUndefined(readNow(), text)
      }
      fs.writeFileSync(file, good)
      assert.isDefined(readNow())
      fs.truncateSync(file, 33 * 1024 ** 2)
      assert.isUndefined(readNow())
      fs.rmSync(file)
      fs.writeFileSync(path.join(directory, "elsewhere"), good)
      fs.symlinkSync(path.join(directory, "elsewhere"), file)
      assert.isUndefined(readNow())
      fs.rmSync(file)
      fs.mkdirSync(file)
      assert.isUndefined(readNow())
    }))

  it("reads of a file what can be a tool", () =>
    using(async (directory) => {
      await put(LiveMcpClient.make(directory), "a", "one")
      const file = path.join(directory, fs.readdirSync(directory)[0] ?? "")
      fs.writeFileSync(file, '{"format":1,"version":"1","tools":[{"name":"x","server":"other"},{"name":1},null]}')
      assert.deepStrictEqual(LiveMcpClient.make(directory).get(entry("a"))?.tools, [tool("a", "x")])
    }))

  it("keeps in memory what it can't write", () =>
    using(async (directory) => {
      fs.mkdirSync(path.dirname(directory))
      fs.writeFileSync(directory, "a file is in the way")
      const catalog = LiveMcpClient.make(directory)
      await put(catalog, "a", "one")
      assert.deepStrictEqual(catalog.get(entry("a"))?.tools, [tool("a", "one")])
    }))

  it("does not grow for ever", () =>
    using(async (directory) => {
      fs.mkdirSync(directory, { recursive: true })
      for (let at = 0; at < 300; at++) {
        fs.writeFileSync(path.join(directory, `${at}.json`), "")
        fs.utimesSync(path.join(directory, `${at}.json`), at, at)
      }
      const catalog = LiveMcpClient.make(directory)
      await put(catalog, "a", "one")
      const left = fs.readdirSync(directory)
      assert.lengthOf(left, 200)
      assert.include(left, "299.json")
      assert.notInclude(left, "0.json")
      assert.isDefined(LiveMcpClient.make(directory).get(entry("a")))
    }))
})
