"use strict"
// The user's own code cache. Whoever can write it can run code as this user, so it is used only if nobody else can write it.
// Sandboxed commands run as the user, but the sandbox hides the cache from them.
const fs = require("node:fs")

/** The number of builds whose cache is kept, the newest ones. */
const kept = 4

/**
 * Tests whether a path is a directory of this user, not a link, and has none of these mode bits.
 *
 * @param {string} path
 * @param {number} bits
 */
const isOwn = (path, bits) => {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & bits) === 0
}

/**
 * Makes a missing directory but not its parents, so that a missing home directory is not created.
 *
 * @param {string} path
 */
const make = (path) => {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) fs.mkdirSync(path, { mode: 0o700 })
}

/**
 * Opens the cache of one build and one version of node. Errors count as a missing cache.
 *
 * @param {string} home the directory of Synapse's own files
 * @param {string} key
 */
exports.open = (home, key) => {
  const all = `${home}/cache`
  const directory = `${all}/${key}`
  const isTrusted = () => isOwn(home, 0o022) && isOwn(all, 0o077) && isOwn(directory, 0o077)

  const remove = () => {
    const others = fs.readdirSync(all).map((name) => {
      const path = `${all}/${name}`
      return { path, time: path === directory ? Number.POSITIVE_INFINITY : fs.lstatSync(path).mtimeMs }
    })
    others.sort((a, b) => b.time - a.time)
    for (const { path } of others.slice(kept)) fs.rmSync(path, { recursive: true, force: true })
  }

  let trusted = false
  try {
    trusted = isTrusted()
  } catch {
    // A parent directory is not accessible.
  }

  return {
    /** @param {string} name */
    find: (name) => (trusted ? `${directory}/${name}.cache` : undefined),

    /** @param {ReadonlyArray<{ readonly name: string, readonly script: import("node:vm").Script }>} scripts */
    write: (scripts) => {
      try {
        // Check each directory before making the next, so that nothing is made in another user's directory.
        make(home)
        if (!isOwn(home, 0o022)) return
        make(all)
        if (!isOwn(all, 0o077)) return
        make(directory)
        if (!isTrusted()) return
        for (const { name, script } of scripts) {
          const file = `${directory}/${name}.cache`
          const fresh = `${file}.${process.pid}`
          fs.writeFileSync(fresh, script.createCachedData(), { flag: "wx", mode: 0o600 })
          fs.renameSync(fresh, file)
        }
        remove()
      } catch {
        // The next run starts without a cache, as this one did.
      }
    }
  }
}
