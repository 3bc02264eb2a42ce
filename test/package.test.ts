/** What package.json says to those who import the package. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import * as ts from "typescript"

const root = path.resolve(import.meta.dirname, "..")
const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

it("exports what index.ts lists, by its flat name, the Promise face, and nothing else", () => {
  const index = fs.readFileSync(path.join(root, "src/index.ts"), "utf8")
  const listed = Array.from(index.matchAll(/export \* as (\w+) from "\.\/(.+)"/g), ([, name, file]) => [
    `./${name}`,
    `./dist/${file}`
  ])
  // Not in the index, as they alone need @effect/ai, or the framework that they are for.
  const apart = [
    ["./ai-sdk", "./dist/adapter/AiSdk.js"],
    ["./claude-agent-sdk", "./dist/adapter/ClaudeAgentSdk.js"],
    ["./langchain", "./dist/adapter/LangChain.js"],
    ["./mastra", "./dist/adapter/Mastra.js"],
    ["./openai-agents", "./dist/adapter/OpenAiAgents.js"],
    ["./AgentLoop", "./dist/agent/loop/AgentLoop.js"],
    ["./BashToolkit", "./dist/toolset/BashToolkit.js"]
  ]
  const {
    ".": main,
    "./package.json": self,
    "./promise": promise,
    "./schemas/*": schemas,
    ...others
  } = manifest.exports
  assert.deepStrictEqual(others, Object.fromEntries([...listed, ...apart]))
  assert.deepStrictEqual([main, self, schemas], ["./dist/index.js", "./package.json", "./dist/schemas/*"])
  assert.deepStrictEqual(Object.keys(promise), ["module", "import", "require"])
})

it("exports what a sandbox provider of a user's own is made with, and nothing that makes a shell past the manager", () => {
  const names = Object.keys(manifest.exports)
  const needed = ["Permission", "SandboxBackend", "SandboxManager", "SandboxPlatform", "SandboxProvider"]
  assert.includeMembers(
    names,
    needed.map((name) => `./${name}`)
  )
  const internal = ["./BashSession", "./LocalSandboxProvider", "./UnsandboxedProvider"]
  assert.deepStrictEqual(
    names.filter((name) => internal.includes(name)),
    []
  )
})

it("gives scratchpad the source of each of its modules", () => {
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  const modules = Object.keys(manifest.exports).filter((name) => !/\.json$|\*$/.test(name))
  const sourceOf = (name: string) => {
    const target = manifest.exports[name]
    const built: string = typeof target === "string" ? target : target.import.default
    return [name, built.replace("./dist/", "src/").replace(/\.js$/, ".ts")]
  }
  const resolved = (name: string) => {
    const from = path.join(root, "scratchpad", "any.ts")
    const { resolvedModule } = ts.resolveModuleName(`synapse-shell${name.slice(1)}`, from, options, ts.sys)
    return [name, path.relative(root, resolvedModule?.resolvedFileName ?? "")]
  }
  assert.deepStrictEqual(modules.map(resolved), modules.map(sourceOf))
})

it("asks for no other package, and is checked and built before it is packed", () => {
  const { bundleDependencies, dependencies, peerDependencies, peerDependenciesMeta, scripts } = manifest
  assert.deepStrictEqual(Object.keys(dependencies), bundleDependencies)
  assert.deepStrictEqual(
    peerDependenciesMeta,
    Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }]))
  )
  assert.strictEqual(scripts.prepack, "npm run types && npm run build")
})
