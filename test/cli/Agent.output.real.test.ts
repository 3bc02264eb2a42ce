/** `synapse agent` where what it writes can't be written: its transcript, and its answer. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { assertNothingDangles, type Place, using } from "../support/cli/AgentPlace.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

/** Six calls with large outputs, then an answer; the next runs are answered at once. */
const script: ModelServer.Script = (_, at) =>
  at < 6
    ? ModelServer.calls({ name: "Bash", arguments: { command: `printf '%03000d' ${at}` } })
    : ModelServer.text("All done.")

/** Runs a line of bash in which `agent` is `synapse agent`; returns its output, and that on stderr. */
const shell = ({ cwd, env }: Place, line: string): Promise<readonly [stdout: string, stderr: string]> =>
  new Promise((resolve, reject) => {
    const agent = `agent() { "$NODE" "$SYNAPSE" agent --no-sandbox "$@"; }`
    const child = spawn("/bin/bash", ["-c", `${agent}; ${line}`], {
      cwd,
      env: { ...env, NODE: process.execPath, SYNAPSE: synapse },
      stdio: ["ignore", "pipe", "pipe"]
    })
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) child[name].on("data", (text) => (said[name] += String(text)))
    child.on("error", reject)
    child.on("close", () => resolve([said.stdout, said.stderr]))
  })

describe("synapse agent, where nothing can be written", () => {
  it("ends with its reader, goes on without room for its transcript or its answer, and resumes from what was kept", () =>
    using(script, async (place) => {
      const [read] = await shell(place, "agent --json go | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}")
      assert.strictEqual(read, "141\n")
      const [stdout, stderr] = await shell(place, "ulimit -f 12; agent --quiet --continue; echo $?")
      assert.strictEqual(stdout, "All done.\n0\n")
      assert.match(
        stderr,
        /^synapse: the session can't be kept, and can't be resumed from here on: .*\.jsonl: file too large\n$/
      )
      const [id] = place.ids()
      assert.match(fs.readFileSync(path.join(place.home, "sessions", `${id}.jsonl`), "utf8"), /\n$/)
      const kept = place.lines().filter(({ type }) => type === "message").length
      assert.isAbove(kept, 2)
      assert.isBelow(kept, 14)
      const [nothing, complaint] = await shell(place, "agent --continue >/dev/full; echo $?")
      assert.strictEqual(nothing, "1\n")
      assert.match(complaint, /^synapse: the output can't be written: ENOSPC/)
      assert.include(JSON.stringify(place.lines()), "All done.")
      assertNothingDangles(place.server)
    }))
})
