import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as McpEnvironment from "../../../src/extension/mcp/McpEnvironment.js"
import * as Temporary from "../../support/Temporary.js"

const program = (file: string) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 })
  return file
}

describe("McpEnvironment", () => {
  it("gives a few variables of this process, and over them the configured ones", () => {
    const own = { HOME: "/h", PATH: "/bin", USER: "() { :; }", AWS_SECRET: "s", TERM: "xterm" }
    assert.deepStrictEqual(McpEnvironment.make({ TERM: "dumb", KEY: "1" }, "/work", own), {
      HOME: "/h",
      PATH: "/bin",
      TERM: "dumb",
      KEY: "1"
    })
  })

  it("leaves out directories that a command could have put a program into", () =>
    Temporary.using(async (directory) => {
      const root = path.join(directory, "work")
      fs.mkdirSync(path.join(root, "bin"), { recursive: true })
      fs.symlinkSync(path.join(root, "bin"), path.join(directory, "link"))
      const PATH = [
        "/usr/bin",
        `${root}/bin`,
        ".",
        "",
        "node_modules/.bin",
        root,
        `${directory}/link`,
        `${root}er`
      ].join(":")
      assert.deepStrictEqual(McpEnvironment.make({}, root, { PATH }), { PATH: `/usr/bin:${root}er` })
      assert.deepStrictEqual(McpEnvironment.make({}, "/", { PATH: "/bin:/usr/bin" }), { PATH: "/bin:/usr/bin" })
      const isWritable = (path: string) => path === "/data/bin"
      const allowed = McpEnvironment.make({}, root, { PATH: "/data/bin:/usr/bin" }, isWritable)
      assert.deepStrictEqual(allowed, { PATH: "/usr/bin" })
      const configured = { PATH: `${root}/bin:/data/bin:/bin` }
      assert.deepStrictEqual(McpEnvironment.make(configured, root, { PATH }, isWritable), { PATH: "/bin" })
      assert.deepStrictEqual(McpEnvironment.make({ PATH: "bin" }, root, { PATH }), {})
    }))

  it("finds a program as a shell does", () =>
    Temporary.using(async (directory) => {
      const root = path.join(directory, "work")
      const here = program(path.join(root, "bin", "tool"))
      const there = program(path.join(directory, "bin", "tool"))
      fs.mkdirSync(path.join(directory, "dirs", "tool"), { recursive: true })
      const find = (command: string, ...directories: ReadonlyArray<string>) =>
        McpEnvironment.find(command, root, directories.join(":"))
      const all = [path.join(directory, "dirs"), path.dirname(there), path.dirname(here)]
      assert.strictEqual(find("tool", ...all), there)
      assert.strictEqual(find("tool", "", "bin"), here)
      assert.strictEqual(find("./bin/tool"), here)
      assert.strictEqual(find(there), there)
      for (const command of ["nothing", "./nothing", "../dirs/tool"]) assert.isUndefined(find(command, ...all), command)
    }))
})
