import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ts from "typescript"
import * as Synapse from "../src/index.js"

describe("the package", () => {
  it("exports what a sandbox provider of a user's own is made with", () => {
    const needed = ["Permission", "SandboxBackend", "SandboxManager", "SandboxPlatform", "SandboxProvider"]
    assert.includeMembers(Object.keys(Synapse), needed)
  })

  it("exports nothing that makes a shell past the sandbox manager", () => {
    const internal = ["BashSession", "LocalSandboxProvider", "UnsandboxedProvider"]
    assert.deepStrictEqual(
      Object.keys(Synapse).filter((name) => internal.includes(name)),
      []
    )
  })

  it("gives scratchpad the source of each of its modules", () => {
    const root = Path.resolve(import.meta.dirname, "..")
    const { config } = ts.readConfigFile(Path.join(root, "tsconfig.json"), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
    const { exports } = JSON.parse(Fs.readFileSync(Path.join(root, "package.json"), "utf8"))
    const modules = Object.keys(exports).filter((name) => !/\.json$|\*$/.test(name))
    const sourceOf = (name: string) => {
      const target = exports[name]
      const built: string = typeof target === "string" ? target : target.import.default
      return [name, built.replace("./dist/", "src/").replace(/\.js$/, ".ts")]
    }
    const resolved = (name: string) => {
      const from = Path.join(root, "scratchpad", "any.ts")
      const { resolvedModule } = ts.resolveModuleName(`synapse-shell${name.slice(1)}`, from, options, ts.sys)
      return [name, Path.relative(root, resolvedModule?.resolvedFileName ?? "")]
    }
    assert.deepStrictEqual(modules.map(resolved), modules.map(sourceOf))
  })
})
