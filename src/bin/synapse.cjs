#!/usr/bin/env node
"use strict"
// What `synapse` starts: answers `--version` itself, and hands all else to the bundle.
if (process.argv.length === 3 && process.argv[2] === "--version") {
  try {
    require("node:fs").writeSync(1, "%VERSION%\n")
  } catch (error) {
    process.exitCode = 1
    if (error instanceof Error) process.stderr.on("error", () => {}).write(`synapse: ${error.message}\n`)
  }
} else {
  const [, , word] = process.argv
  require("./loader.cjs").load("%MAIN%", word === "exec" || word === "call" || word === "shell" ? word : "main")
}
