// Builds dist: the library (ESM and types, by tsc) and the program (a CommonJS bundle with lazy chunks, by rolldown), and
// then runs the program to make its code cache. `--report` also lists what the bundle is made of.
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { rolldown } from "rolldown"

const root = path.resolve(import.meta.dirname, "..")
const bin = path.join(root, "dist/bin")
const entry = path.join(bin, "synapse.cjs")
const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

fs.rmSync(path.join(root, "dist"), { recursive: true, force: true })

const library = () => {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc")
  execFileSync(process.execPath, [tsc, "-p", path.join(root, ".ci/library.json")], { stdio: "inherit" })
}

const program = async () => {
  const bundle = await rolldown({
    input: { main: path.join(root, "src/bin.ts") },
    platform: "node",
    external: /^node:/,
    resolve: {
      // Brought in by @effect/ai-anthropic for a count that nobody asks for: a megabyte of wasm.
      alias: {
        "@anthropic-ai/tokenizer": path.join(root, ".ci/tokenizer.mjs"),
        // Its CommonJS can't be bundled: it hands `require` to a function.
        "jsonc-parser": path.join(root, "node_modules/jsonc-parser/lib/esm/main.js")
      }
    },
    onLog: (level, log, defaultHandler) => defaultHandler(level === "warn" ? "error" : level, log)
  })
  const { output } = await bundle.write({
    dir: bin,
    format: "cjs",
    charset: "ascii",
    dynamicImportInCjs: false,
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    // Names stay whole: a stack trace in a bug report must be readable, and with a code cache the size costs little.
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: false, codegen: true }
  })
  await bundle.close()
  const source = fs.readFileSync(path.join(root, "src/bin/synapse.cjs"), "utf8")
  fs.writeFileSync(entry, source.replace("%VERSION%", version), { mode: 0o755 })
  return output.filter((file) => file.type === "chunk")
}

/** Each run adds to the cache what it compiled beyond the runs before it. */
const cache = () => {
  const recorder = path.join(root, ".ci/record.cjs")
  for (const args of [["--help"], ["tools"], ["exec", "true"], ["exec", "echo out; echo err >&2; false"]]) {
    const { error, signal } = spawnSync(process.execPath, ["--require", recorder, entry, ...args], {
      input: "",
      timeout: 30_000
    })
    if (error !== undefined || signal !== null)
      throw error ?? new Error(`synapse ${args.join(" ")}: ended by ${signal}`)
  }
}

/** @param {ReadonlyArray<import("rolldown").OutputChunk>} chunks */
const report = (chunks) => {
  const kB = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(0).padStart(6)} kB`
  for (const chunk of chunks) {
    console.log(`${kB(chunk.code.length)}  ${chunk.fileName}`)
    const parts = Object.entries(chunk.modules)
      .map(([id, module]) => /** @type {const} */ ([path.relative(root, id), module.renderedLength]))
      .sort((a, b) => b[1] - a[1])
    for (const [id, length] of parts.slice(0, 12)) console.log(`${kB(length)}      ${id}`)
  }
}

library()
const chunks = await program()
cache()
if (process.argv.includes("--report")) report(chunks)
