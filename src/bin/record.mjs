// Runs the built program and the Promise face as they are used, so that the recorder makes their code cache. Each run adds what it
// compiled beyond the runs before it.
import { spawnSync } from "node:child_process"
import * as path from "node:path"

const root = path.resolve(import.meta.dirname, "../..")
const program = path.join(root, "dist/bin/synapse.cjs")
const face = path.join(root, "dist/bin/promise.cjs")
const promise = `require(${JSON.stringify(face)}).make().then(async (synapse) => {
  await synapse.handle({ id: "1", name: "Bash", arguments: { command: "echo out; echo err >&2; false" } })
  await synapse.dispose()
})`

for (const args of [
  [program, "--help"],
  [program, "tools"],
  [program, "exec", "true"],
  [program, "exec", "echo out; echo err >&2; false"],
  ["-e", promise]
]) {
  const { error, signal } = spawnSync(
    process.execPath,
    ["--require", path.join(import.meta.dirname, "recorder.cjs"), ...args],
    // The user's own cache is none of the build's business.
    { input: "", timeout: 60_000, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" } }
  )
  if (error !== undefined || signal !== null) throw error ?? new Error(`${args.join(" ")}: ended by ${signal}`)
}
