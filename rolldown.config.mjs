// Bundles the program and the Promise face into dist/bin: CommonJS with lazy chunks, and nothing left to install.
import * as fs from "node:fs"
import * as path from "node:path"
import { defineConfig, rolldown } from "rolldown"

const root = import.meta.dirname
const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

/**
 * Writes what stands before the bundle: the starters beside it, which know its entries by name, and the Promise face's
 * entries for `import` and for `require`, each with types of its own.
 *
 * @returns {import("rolldown").Plugin}
 */
const starters = () => ({
  name: "starters",
  writeBundle: (_, bundle) => {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk")
    const entry = (/** @type {string} */ name) => chunks.find((chunk) => chunk.isEntry && chunk.name === name)?.fileName
    const values = { VERSION: version, MAIN: entry("main"), PROMISE: entry("promise") }
    const write = (/** @type {string} */ from, /** @type {string} */ to, mode = 0o644) => {
      const source = fs.readFileSync(path.join(root, "src/bin", from), "utf8")
      const filled = source.replaceAll(/%([A-Z]+)%/g, (all, name) => values[/** @type {"MAIN"} */ (name)] ?? all)
      fs.mkdirSync(path.dirname(path.join(root, "dist", to)), { recursive: true })
      fs.writeFileSync(path.join(root, "dist", to), filled, { mode })
    }
    write("synapse.cjs", "bin/synapse.cjs", 0o755)
    write("loader.cjs", "bin/loader.cjs")
    write("cache.cjs", "bin/cache.cjs")
    write("client.cjs", "bin/client.cjs")
    write("promise.cjs", "bin/promise.cjs")
    // In the place of what tsc made, which needs effect.
    write("promise.mjs", "promise.js")

    const commonJs = path.join(root, "dist/require")
    fs.rmSync(commonJs, { recursive: true, force: true })
    fs.mkdirSync(path.join(commonJs, "promise"), { recursive: true })
    fs.writeFileSync(path.join(commonJs, "package.json"), '{ "type": "commonjs" }\n')
    fs.writeFileSync(path.join(commonJs, "promise.js"), 'module.exports = require("../bin/promise.cjs")\n')
    const declare = (/** @type {string} */ file) => {
      const text = fs.readFileSync(path.join(root, "dist", file), "utf8")
      fs.writeFileSync(path.join(commonJs, file), text)
      for (const [, from = ""] of text.matchAll(/ from "(\.[^"]+)\.js"/g)) {
        const next = path.join(path.dirname(file), `${from}.d.ts`)
        if (!fs.existsSync(path.join(commonJs, next))) declare(next)
      }
    }
    declare("promise.d.ts")
  }
})

/**
 * Takes out what the bundler does for modules that nobody uses so: a copy of each of node's modules with a getter for every name,
 * which loads what node keeps for later (`fs.promises`) and is one call more for each use; and a getter for each export of a chunk,
 * where a value that is never assigned again does. The chunk `later` is loaded by its first use, as those of node's modules
 * are that a plain start does without.
 *
 * @returns {import("rolldown").Plugin}
 */
const plainLinks = () => ({
  name: "plain-links",
  renderChunk: (code) => {
    const fixed = new Set(
      Array.from(code.matchAll(/^(?:const|function\*?|async function\*?) ([\w$]+)/gm), ([, name]) => name)
    )
    return code
      .replaceAll(/(?<=\brequire_later = )(?=require\()/g, "() => ")
      .replaceAll(/\brequire_later\./g, "(require_later()).")
      .replaceAll(/^(?:let|const) (node_(?:crypto|dns|http|timers_promises)) = (?=require\()/gm, "const $1 = () => ")
      .replaceAll(/\b(node_(?:crypto|dns|http|timers_promises))\./g, "$1().")
      .replaceAll(/^(node_\w+) = require_rolldown_runtime\.\w+\(\1, 1\);\n/gm, (all, name) =>
        code.includes(`${name}.default`) ? all : ""
      )
      .replaceAll(
        /^Object\.defineProperty\(exports, ('\w+'|"\w+"), \{\s+enumerable: true,\s+get: function \(\) \{\s+return ([\w$]+);\s+\}\s+\}\);\n/gm,
        (all, name, value) => (fixed.has(value) ? `exports[${name}] = ${value};\n` : all)
      )
  }
})

/**
 * What effect asks while it loads, and this bundle knows: whether its functions keep their names, which reads a stack and with it
 * every line of the chunk, and whether stdout is a terminal, which makes the stream, for the colours of a logger that nobody uses.
 */
const known = [
  [
    "Utils.js",
    'standard.effect_internal_function(() => new Error().stack)?.includes("effect_internal_function") === true',
    "true"
  ],
  ["internal/logger.js", "hasProcessStdout && process.stdout.isTTY === true", "false"],
  ["internal/logger.js", 'typeof process.stdout === "object" && process.stdout !== null', "false"],
  // It takes 30 ms to be parsed, and most texts have no emoji.
  [
    "string-width/index.js",
    "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;",
    "let emoji; const rgiEmojiRegex = { test: (text) => (emoji ??= /^\\p{RGI_Emoji}$/v).test(text) };"
  ]
]

/**
 * Answers these questions.
 *
 * @returns {import("rolldown").Plugin}
 */
const answers = () => ({
  name: "answers",
  transform: {
    filter: { id: /\/(?:effect\/dist\/esm\/(?:Utils|internal\/logger)|string-width\/index)\.js$/ },
    handler(code, id) {
      return known
        .filter(([file]) => id.endsWith(`/${file}`))
        .reduce((text, [, from = "", to = ""]) => {
          if (!text.includes(from)) this.error(`${id} no longer has: ${from}`)
          return text.replace(from, to)
        }, code)
    }
  }
})

/**
 * Puts the JSON Schema of `sandbox.json`, which the library's build has made, where the file is read.
 *
 * @returns {import("rolldown").Plugin}
 */
const shape = () => ({
  name: "shape",
  transform: {
    filter: { id: /\/sandbox\/config\/PlainFile\.ts$/ },
    handler(code) {
      const file = fs.readFileSync(path.join(root, "dist/schemas/sandbox.json"), "utf8")
      const filled = code.replace(/(?<=const built = .*=> )undefined/, () => `(${file})`)
      if (filled === code) this.error("PlainFile.ts has no place for the schema")
      return filled
    }
  }
})

const options = /** @satisfies {import("rolldown").InputOptions} */ ({
  platform: "node",
  external: /^node:/,
  plugins: [answers(), shape()],
  // Its CommonJS can't be bundled: it hands `require` to a function.
  resolve: { alias: { "jsonc-parser": path.join(root, "node_modules/jsonc-parser/lib/esm/main.js") } }
})

/** What a start seldom uses, with what only these need: what reads and writes the texts of others by their schemas. */
const seldom =
  /\/(?:effect\/dist\/esm\/(?:Schema|Stream|Sink|Channel|Take|Mailbox|GroupBy|internal\/(?:stream|groupBy|mailbox|channel|sink|take)|internal\/(?:channel|stream)\/\w+)|jsonc-parser\/lib\/esm\/main|@effect\/platform\/dist\/esm\/Error)\.js$|\/src\/(?:domain\/(?:CommandError|DuplicateName|ErrorFields)|sandbox\/config\/(?:SandboxFile|AtomicFile|SandboxConfigError)|sandbox\/denial\/(?:Attribution|Explanation|NpmCi|internal\/\w+)|bridge\/internal\/(?:BridgeCall|StubDialog)|sandbox\/policy\/(?:GitConfig|SubPolicy)|sandbox\/platform\/(?:LoginShell|linux\/check\/Doctor))\.ts$/

/**
 * Finds the modules that every start of the program loads, but for the entry, in two parts: one chunk takes half the time of many,
 * and the second is loaded by its first use.
 */
const modulesOfStart = async () => {
  /** @type {Map<string, ReadonlyArray<string>>} */
  const imported = new Map()
  const bundle = await rolldown({
    ...options,
    input: "src/bin.ts",
    plugins: [answers(), { name: "imports", moduleParsed: ({ id, importedIds }) => void imported.set(id, importedIds) }]
  })
  const { output } = await bundle.generate({ format: "cjs" })
  const used = new Set(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  /** Finds what a module imports, and what that imports, as far as it is used. */
  const from = (
    /** @type {string} */ id,
    /** @type {Set<string>} */ found,
    /** @type {(id: string) => boolean} */ isIn
  ) => {
    if (found.has(id) || !used.has(id) || !isIn(id)) return found
    found.add(id)
    for (const next of imported.get(id) ?? []) from(next, found, isIn)
    return found
  }
  const entry = path.join(root, "src/bin.ts")
  const first = from(entry, new Set(), (id) => !seldom.test(id))
  const all = from(entry, new Set(), () => true)
  const later = new Set([...all].filter((id) => !first.has(id)))
  first.delete(entry)
  return { first, later }
}

const ofStart = await modulesOfStart()

export default defineConfig([
  {
    ...options,
    input: { main: "src/bin.ts", promise: "src/promise.ts" },
    preserveEntrySignatures: "allow-extension",
    plugins: [answers(), shape(), starters(), plainLinks()],
    onLog: (level, log, defaultHandler) => defaultHandler(level === "warn" ? "error" : level, log),
    output: {
      dir: "dist/bin",
      cleanDir: true,
      format: "cjs",
      charset: "ascii",
      dynamicImportInCjs: false,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          { name: "later", test: (id) => ofStart.later.has(id) },
          { name: "start", test: (id) => ofStart.first.has(id) }
        ]
      },
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      // Names stay whole: a stack trace in a bug report must be readable, and with a code cache the size costs little.
      minify: { compress: { keepNames: { function: true, class: true } }, mangle: false, codegen: true },
      // The function that the loader calls. If the loader added it, V8 would copy the whole text.
      postBanner: "(function (exports, require, module, __filename) {",
      postFooter: "})"
    }
  },
  // What commands run as a program of their own.
  {
    platform: "node",
    input: "src/bin/pdf.mjs",
    output: { dir: "dist/bin", entryFileNames: "[name].mjs", minify: true }
  }
])
