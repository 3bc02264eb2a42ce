"use strict"
// The user's own code cache. Whoever can write it can run code as this user: it is used only where nobody else can. Commands in a
// sandbox, which run as the user, can't write it because it is hidden from them.
const fs = require("node:fs")

/** Builds of which a cache is kept; those that were made last. */
const kept = 4

/**
 * Tests whether a directory is this user's, no link, and free of these bits of its mode.
 *
 * @param {string} path
 * @param {number} bits
 */
const isOwn = (path, bits) => {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & bits) === 0
}

/**
 * Makes a directory where there is none, and none around it: a user's home directory that is not there stays so.
 *
 * @param {string} path
 */
const make = (path) => {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) fs.mkdirSync(path, { mode: 0o700 })
}

/**
 * Opens the cache of one build and one node. What can't be read is not there, and what can't be written is not written.
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
    // Something on the way can't be looked at.
  }

  return {
    /** @param {string} name */
    read: (name) => {
      if (!trusted) return undefined
      try {
        return fs.readFileSync(`${directory}/${name}.cache`)
      } catch {
        return undefined
      }
    },

    /** @param {ReadonlyArray<{ readonly name: string, readonly script: import("node:vm").Script }>} scripts */
    write: (scripts) => {
      try {
        // One after the other: nothing is made below what is somebody else's.
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
        // The next run starts without one, as this one did.
      }
    }
  }
}
