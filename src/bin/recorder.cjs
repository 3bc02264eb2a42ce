"use strict"
// Preloaded by the build into runs of the built program. When a run ends, writes V8's code cache of each script that the
// program's loader made, with the functions that the run compiled.
const fs = require("node:fs")
const vm = require("node:vm")

const Script = vm.Script
/** @type {Map<string, vm.Script>} */
const scripts = new Map()

vm.Script = class extends Script {
  /**
   * @param {string} source
   * @param {vm.ScriptOptions & { readonly cacheFile: string }} options
   */
  constructor(source, options) {
    super(source, options)
    scripts.set(options.cacheFile, this)
  }
}

process.on("exit", () => {
  for (const [file, script] of scripts) fs.writeFileSync(file, script.createCachedData())
})
