// Builds the modules for other programs' bundlers (esbuild, webpack, Vite), which package.json names by the condition `module`:
// the Promise API with all its dependencies, and the optional packages. Runs after the library is built.
import * as fs from "node:fs"
import * as path from "node:path"
import { rolldown } from "rolldown"

const root = path.resolve(import.meta.dirname, "../..")
const dist = path.join(root, "dist")

/**
 * Bundles modules so that they work at any path. CommonJS modules among them find node's modules from anywhere.
 *
 * @param {string} to
 * @param {Readonly<Record<string, string>>} input
 * @param {RegExp} external
 */
const bundle = async (to, input, external) => {
  const built = await rolldown({
    input,
    external,
    platform: "node",
    resolve: { alias: { "jsonc-parser": path.join(root, "node_modules/jsonc-parser/lib/esm/main.js") } },
    onLog: (level, log, handle) => (log.code === "INEFFECTIVE_DYNAMIC_IMPORT" ? undefined : handle(level, log)),
    plugins: [
      { name: "anywhere", renderChunk: (code) => code.replace("createRequire(import.meta.url)", 'createRequire("/")') }
    ]
  })
  await built.write({ dir: path.join(dist, to), format: "esm", minify: { mangle: false, codegen: true } })
}

/** The library's modules, except the one for users of `@effect/ai`. */
const modules = fs
  .readdirSync(dist, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".js") && !/^(?:bin|bundle|require)\//.test(file) && !file.endsWith("BashToolkit.js"))

/** @type {Set<string>} */
const ai = new Set()
for (const file of modules) {
  const at = path.join(dist, file)
  const text = fs.readFileSync(at, "utf8")
  const linked = text
    .replaceAll(/(from )"@effect\/ai\/(\w+)"/g, (_, from, name) => {
      ai.add(name)
      return `${from}"#ai/${name}"`
    })
    .replaceAll('"@modelcontextprotocol/client"', '"#mcp-client"')
    .replaceAll('"@xterm/headless"', '"#headless-xterm"')
    .replaceAll('from "jsonc-parser"', 'from "#jsonc-parser"')
  if (linked !== text) fs.writeFileSync(at, linked)
}

const face = {
  promise: path.join(root, "src/promise.ts"),
  "mcp-client": "@modelcontextprotocol/client",
  "headless-xterm": "@xterm/headless"
}
await bundle("bundle", face, /^node:/)
const ofAi = Object.fromEntries(Array.from(ai, (name) => [name, `@effect/ai/${name}`]))
await bundle("bundle/ai", ofAi, /^node:|^effect\/?|^@effect\/platform/)
