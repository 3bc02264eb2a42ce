#!/usr/bin/env node
"use strict"
// What `synapse` starts: answers `--version` itself, and hands all else to the bundle, whose chunks it loads with V8's code
// cache. The build writes the caches; nothing here writes one, and one that does not fit this node is ignored.
const fs = require("node:fs")

if (process.argv.length === 3 && process.argv[2] === "--version") {
  fs.writeSync(1, "%VERSION%\n")
} else {
  const vm = require("node:vm")
  /** @type {Map<string, { exports: unknown }>} */
  const loaded = new Map()
  // V8 itself checks its version and flags; the size tells builds of the same version apart.
  const suffix = `.${process.version}-${process.arch}-${fs.statSync(process.execPath).size}.cache`

  const cacheOf = (/** @type {string} */ file) => {
    try {
      return fs.readFileSync(file)
    } catch {
      return undefined
    }
  }

  const load = (/** @type {string} */ name) => {
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    const filename = `${__dirname}/${name}`
    // The build makes chunks of ASCII only: latin1 is the fastest way to read them.
    const source = `(function (exports, require, module, __filename) {${fs.readFileSync(filename, "latin1")}\n})`
    // node does not know `cacheFile`: it tells the build's recorder where to write.
    const cacheFile = filename + suffix
    const options = { filename, cachedData: cacheOf(cacheFile), cacheFile }
    const script = new vm.Script(source, options)
    script.runInThisContext()(module.exports, requireFrom, module, filename)
    return module.exports
  }

  const requireFrom = (/** @type {string} */ name) => (name.startsWith("./") ? load(name.slice(2)) : require(name))

  load("main.cjs")
}
