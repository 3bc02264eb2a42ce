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

// `synapse shell` needs a terminal, which `script` makes. Without `script`, the shell gets no cache.
const home = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-record-"))
try {
  const words = [process.execPath, "--require", recorder, program, "shell"].map((word) => `'${word}'`).join(" ")
  spawnSync("sh", ["-c", '(sleep 2; printf "\\004") | script -qefc "$WORDS" /dev/null'], {
    stdio: "ignore",
    timeout: 60_000,
    env: { ...env, WORDS: words, CI: "", NO_COLOR: "", TERM: "xterm", SHELL: "/bin/sh", SYNAPSE_HOME: home }
  })
} finally {
  fs.rmSync(home, { recursive: true, force: true })
}
