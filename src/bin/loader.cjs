"use strict"
// Loads the bundle's chunks with V8's code cache. The build's cache lies beside them. An installed package has none and uses the
// user's own in `~/.synapse/cache`, which the first run writes when it exits.
const fs = require("node:fs")
const vm = require("node:vm")

// V8 checks its version and flags itself. The size distinguishes builds of the same version.
const node = `${process.version}-${process.arch}-${fs.statSync(process.execPath).size}`

/** Every file is read into this memory. The kernel takes longer to provide new memory than to read a file. */
let memory = Buffer.allocUnsafeSlow(2 ** 21)

/**
 * Reads a file. The bytes are valid until the next call.
 *
 * @param {string} path
 */
const read = (path) => {
  const fd = fs.openSync(path, "r")
  try {
    const { size } = fs.fstatSync(fd)
    if (size > memory.length) memory = Buffer.allocUnsafeSlow(size)
    return memory.subarray(0, fs.readSync(fd, memory, 0, size, 0))
  } finally {
    fs.closeSync(fd)
  }
}

/** Reads a file of the cache, if there is one. */
const readCache = (/** @type {string | undefined} */ path) => {
  try {
    return path === undefined ? undefined : read(path)
  } catch {
    return undefined
  }
}

/**
 * Finds the directory for the user's own cache, in the account's home because commands may control the variable HOME.
 * Undefined in a Synapse shell, whose commands a model writes, and if node's own cache is switched off.
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
 * Runs an entry of the bundle, and returns its exports.
 *
 * @param {string} entry
 * @param {string} kind the kind of run. Runs of one kind use the same functions, and share a cache
 */
exports.load = (entry, kind) => {
  /** @type {Map<string, { exports: unknown }>} */
  const loaded = new Map()
  /** @type {(file: string) => Buffer | undefined} */
  let cached = (file) => readCache(`${__dirname}/${kind}-${file}.${node}.cache`)
  /** @type {Array<{ readonly file: string, readonly script: vm.Script }>} */
  const uncached = []

  if (cached(entry) === undefined) {
    const home = findHome()
    const cache = home === undefined ? undefined : require("./cache.cjs").open(home, `${entry}-${node}`)
    cached = (file) => readCache(cache?.find(`${kind}-${file}`))
    if (cache !== undefined) {
      process.once("exit", () => {
        if (uncached.length > 0) cache.write(uncached.map(({ file, script }) => ({ name: `${kind}-${file}`, script })))
      })
    }
  }

  const load = (/** @type {string} */ file) => {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    // Without a prototype, V8 does not make a new hidden class for each of hundreds of names.
    const module = { exports: Object.create(null) }
    loaded.set(file, module)
    const filename = `${__dirname}/${file}`
    // The build's chunks are ASCII, which latin1 decodes fastest.
    const source = read(filename).toString("latin1")
    const cachedData = cached(file)
    // `cacheFile` is not node's: it tells the build's recorder where to write.
    const options = { filename, cachedData, cacheFile: `${__dirname}/${kind}-${file}.${node}.cache` }
    const script = new vm.Script(source, options)
    if (cachedData === undefined || script.cachedDataRejected === true) uncached.push({ file, script })
    script.runInThisContext()(module.exports, requireFrom, module, filename)
    return module.exports
  }

  const requireFrom = (/** @type {string} */ name) => (name.startsWith("./") ? load(name.slice(2)) : require(name))

  return load(entry)
}
