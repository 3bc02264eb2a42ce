/** `synapse agent` is killed with SIGKILL at any moment, and goes on afterwards. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { assertNothingDangles, until, using } from "../support/cli/AgentPlace.js"

describe("synapse agent, killed", () => {
  it("goes on after each line of its transcript, and no call dangles", { timeout: 400_000 }, async () => {
    let isLast = false
    /** Each turn writes its number into a file; the turn is that after those in the conversation. */
    const script: ModelServer.Script = ({ body }) => {
      if (isLast) return ModelServer.text("done")
      const turn = body.messages.filter(({ role }: { readonly role: string }) => role === "assistant").length + 1
      const call = (part: string) => ({
        name: "Bash",
        arguments: { command: `echo ${turn}${part} >> log; sleep 0.05` }
      })
      return ModelServer.calls(call("a"), call("b"))
    }
    await using(script, async ({ cwd, home, lines, quiet, server, start, within }) => {
      const killAfter = async (written: number, ...args: ReadonlyArray<string>) => {
        const before = lines().length
        const { child, ended } = start(["--no-sandbox", "--quiet", ...args])
        const kill = () => lines().length >= before + written && child.kill("SIGKILL")
        await Promise.race([until(kill, 3), ended])
        return ended
      }
      const killed = { exitCode: null, stdout: "", stderr: "" }
      // The session's line; then in each run its own, the prompt, a turn's end, its message and two results.
      assert.deepStrictEqual(await killAfter(1, "go"), killed)
      assert.match((await within(["list"])).stdout, / {2}(?:killed|not begun) /)
      for (const point of [1, 2, 3, 4, 5, 6]) assert.deepStrictEqual(await killAfter(point, "--continue"), killed)
      assert.match((await within(["list"])).stdout, / {2}killed /)
      isLast = true
      await killAfter(4, "--continue")
      const isDone = lines().some(({ type }) => type === "end")
      assert.deepStrictEqual(await quiet("--continue", ...(isDone ? ["more"] : [])), {
        exitCode: 0,
        stdout: "done\n",
        stderr: ""
      })
      assertNothingDangles(server)
      const log = fs.readFileSync(path.join(cwd, "log"), "utf8").trimEnd().split("\n")
      assert.isAbove(log.length, 2)
      // A turn that was cut is answered as one that may have run: its commands are not simply called again.
      assert.deepStrictEqual(log, [...new Set(log)])
      assert.deepStrictEqual(
        fs.readdirSync(path.join(home, "sessions")).filter((name) => !name.endsWith(".jsonl")),
        []
      )
    })
  })
})
