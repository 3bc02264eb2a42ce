"use strict"
// Loads the bundle's chunks with V8's code cache: the build's, which lies beside them; where there is none, as in an installed
// package, the user's own in `~/.synapse/cache`, which the first run makes when it exits.
const fs = require("node:fs")
const vm = require("node:vm")

// V8 itself checks its version and flags; the size tells builds of the same version apart.
const node = `${process.version}-${process.arch}-${fs.statSync(process.execPath).size}`

const read = (/** @type {string} */ file) => {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}

/**
 * Finds the directory for the user's own cache: in the account's own home, since commands may have written what a variable
 * names. Undefined in a shell of Synapse, whose commands a model writes, and where node's own cache is switched off.
 */
const findHome = () => {
  const { env } = process
  if (env["SYNAPSE_SESSION"] !== undefined || env["NODE_DISABLE_COMPILE_CACHE"] !== undefined) return undefined
  try {
    return `${require("node:os").userInfo().homedir}/.synapse`
  } catch {
    return undefined
  }
}

/**
 * Runs an entry of the bundle, and answers what it exports.
 *
 * @param {string} entry
 * @param {string} kind what is being started: runs of one kind use the same functions, and share a cache of their own
 */
exports.load = (entry, kind) => {
  /** @type {Map<string, { exports: unknown }>} */
  const loaded = new Map()
  /** @type {(file: string) => Buffer | undefined} */
  let cached = (file) => read(`${__dirname}/${kind}-${file}.${node}.cache`)
  /** @type {Array<{ readonly file: string, readonly script: vm.Script }>} */
  const uncached = []

  if (cached(entry) === undefined) {
    const home = findHome()
    const cache = home === undefined ? undefined : require("./cache.cjs").open(home, `${entry}-${node}`)
    cached = (file) => cache?.read(`${kind}-${file}`)
    if (cache !== undefined) {
      process.once("exit", () => {
        if (uncached.length > 0) cache.write(uncached.map(({ file, script }) => ({ name: `${kind}-${file}`, script })))
      })
    }
  }

  const load = (/** @type {string} */ file) => {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    // Without a prototype, V8 makes no new shape for each of hundreds of names.
    const module = { exports: Object.create(null) }
    loaded.set(file, module)
    const filename = `${__dirname}/${file}`
    // The build makes chunks of ASCII only: latin1 is the fastest way to read them.
    const source = `(function (exports, require, module, __filename) {${fs.readFileSync(filename, "latin1")}\n})`
    const cachedData = cached(file)
    // node does not know `cacheFile`: it tells the build's recorder where to write.
    const options = { filename, cachedData, cacheFile: `${__dirname}/${kind}-${file}.${node}.cache` }
    const script = new vm.Script(source, options)
    if (cachedData === undefined || script.cachedDataRejected === true) uncached.push({ file, script })
    script.runInThisContext()(module.exports, requireFrom, module, filename)
    return module.exports
  }

  const requireFrom = (/** @type {string} */ name) => (name.startsWith("./") ? load(name.slice(2)) : require(name))

  return load(entry)
}
