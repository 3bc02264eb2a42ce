// Runs the built program and the Promise API as users do, so that the recorder makes their code cache. Each run adds the
// functions that it compiled.
import { spawnSync } from "node:child_process"
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
/** @type {(script: string, words: ReadonlyArray<string>, more: NodeJS.ProcessEnv) => void} */
const type = (script, words, more) => {
  const command = [process.execPath, "--require", recorder, program, ...words]
  spawnSync("sh", ["-c", script, ...command], {
    stdio: "ignore",
    timeout: 60_000,
    env: { ...env, SYNAPSE_HOME: home, WORDS: command.map((word) => `'${word}'`).join(" "), ...more }
  })
}

/** @type {(id: number, method: string, params: object) => string} */
const request = (id, method, params) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "record", version: "1" } }
const bash = { name: "Bash", arguments: { command: "echo out" } }

try {
  // The end of its input ends the server at once.
  type('(printf %s "$REQUESTS"; sleep 3) | "$0" "$@"', ["mcp", "serve"], {
    REQUESTS: request(1, "initialize", client) + request(2, "tools/list", {}) + request(3, "tools/call", bash)
  })
  // `synapse shell` needs a terminal, which `script` makes. Without `script`, the shell gets no cache.
  type('(sleep 2; printf "\\004") | script -qefc "$WORDS" /dev/null', ["shell"], {
    CI: "",
    NO_COLOR: "",
    TERM: "xterm",
    SHELL: "/bin/sh"
  })
} finally {
  fs.rmSync(home, { recursive: true, force: true })
}
