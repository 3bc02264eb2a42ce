#!/usr/bin/env node
"use strict"
// The entry of `synapse`: answers `--version` itself, sends the daemon's commands to the daemon, and loads the bundle for others.
const [, , word = "", ...words] = process.argv
/** The code cache of each subcommand. Runs that use the same functions share one. @type {Readonly<Record<string, string>>} */
const kinds = {
  "--daemon": "exec",
  call: "call",
  exec: words.includes("--no-sandbox") ? "unconfined" : "exec",
  shell: "shell"
}
const load = () => require("./loader.cjs").load("%MAIN%", kinds[word] ?? "main")

/** Tests whether the words name a session and do not ask for help. The daemon reports any other mistake. */
const isForSession = () => {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words
  const name = own.find((one, at) => own[at - 1] === "--session" || one.startsWith("--session="))
  return name !== undefined && /^(?:--session=)?\w[\w.-]*$/.test(name) && !own.includes("--help") && !own.includes("-h")
}

const [action = ""] = words
if (word === "--version" && words.length === 0) {
  try {
    require("node:fs").writeSync(1, "%VERSION%\n")
  } catch (error) {
    process.exitCode = 1
    if (error instanceof Error) process.stderr.on("error", () => {}).write(`synapse: ${error.message}\n`)
  }
} else if (word === "exec" && isForSession()) {
  void require("./client.cjs")
    .run([word, ...words], true)
    .then((/** @type {boolean} */ isRunning) => isRunning || load())
} else if (
  word === "exec" &&
  process.env["SYNAPSE_DAEMON"] !== "0" &&
  words.length === (action === "--" ? 2 : 1) &&
  !words.at(-1)?.startsWith("-")
) {
  // Without options, a shell that the daemon keeps ready behaves the same.
  void require("./client.cjs")
    .runFresh([word, ...words])
    .then((/** @type {boolean} */ isRunning) => isRunning || load())
} else if (word === "daemon" && (action === "list" || action === "stop")) {
  void require("./client.cjs")
    .run([word, ...words], false)
    .then((/** @type {boolean} */ isRunning) => isRunning || load())
} else {
  // What its shells inherit is read before anything else.
  if (word === "--daemon") process.argv.push(require("./client.cjs").factsOf())
  load()
}
