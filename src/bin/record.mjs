// Runs the built program and the Promise API as users do, so that the recorder makes their code cache. Each run adds the
// functions that it compiled.
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const root = path.resolve(import.meta.dirname, "../..")
const program = path.join(root, "dist/bin/synapse.cjs")
const face = path.join(root, "dist/bin/promise.cjs")
const recorder = path.join(import.meta.dirname, "recorder.cjs")
// Ignores the user's own cache.
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" }
const call = '{"id":"1","name":"Bash","arguments":{"command":"echo out"}}\n'
const promise = `require(${JSON.stringify(face)}).make().then(async (synapse) => {
  await synapse.handle({ id: "1", name: "Bash", arguments: { command: "echo out; echo err >&2; false" } })
  await synapse.dispose()
})`

for (const [expected, input, ...args] of /** @type {const} */ ([
  [0, "", program, "--help"],
  [0, "", program, "tools"],
  [1, "", program, "exec", "--no-sandbox", "echo out; echo err >&2; false"],
  [undefined, "", program, "exec", "echo out; echo err >&2; false"],
  [0, call, program, "call"],
  [undefined, "", "-e", promise]
])) {
  const { error, signal, status, stderr } = spawnSync(process.execPath, ["--require", recorder, ...args], {
    input,
    timeout: 60_000,
    env
  })
  if (error !== undefined || signal !== null) throw error ?? new Error(`${args.join(" ")}: ended by ${signal}`)
  // Without a working sandbox, the other runs fail.
  if (expected !== undefined && status !== expected)
    throw new Error(`${args.join(" ")}: exit code ${status}: ${stderr}`)
}

const home = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-record-"))
/**
 * Runs a command, and ends its input as soon as the output matches.
 *
 * @type {(command: string, args: ReadonlyArray<string>, input: string, expected: RegExp, end: string, more?: NodeJS.ProcessEnv) => Promise<void>}
 */
const converse = (command, args, input, expected, end, more = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 60_000,
      env: { ...env, SYNAPSE_HOME: home, ...more }
    })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text
      if (expected.test(output)) child.stdin.end(end)
    })
    child.stdin.on("error", () => {}).write(input)
    child.on("error", () => resolve()).on("close", () => resolve())
  })

/** @type {(id: number, method: string, params: object) => string} */
const request = (id, method, params) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "record", version: "1" } }
const bash = { name: "Bash", arguments: { command: "echo out" } }
const requests = request(1, "initialize", client) + request(2, "tools/list", {}) + request(3, "tools/call", bash)
const words = ["--require", recorder, program]
const quoted = [process.execPath, ...words, "shell"].map((word) => `'${word}'`).join(" ")

try {
  await Promise.all([
    converse(process.execPath, [...words, "mcp", "serve"], requests, /"id":3/, ""),
    // `synapse shell` needs a terminal, which `script` makes. Without `script`, the shell gets no cache.
    converse("script", ["-qefc", quoted, "/dev/null"], "", /[$#] /, "\u0004", {
      CI: "",
      NO_COLOR: "",
      TERM: "xterm",
      SHELL: "/bin/sh"
    })
  ])
} finally {
  fs.rmSync(home, { recursive: true, force: true })
}
