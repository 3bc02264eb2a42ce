/** `synapse agent` is killed with SIGKILL at any moment, and goes on afterwards. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { assertNothingDangles, until, using } from "../support/cli/AgentPlace.js"

const turns = 2

/** Each turn writes its number into a file; the turn is that after those in the conversation. */
const script: ModelServer.Script = ({ body }) => {
  const turn = body.messages.filter(({ role }: { readonly role: string }) => role === "assistant").length + 1
  if (turn > turns) return ModelServer.text("done")
  const call = (part: string) => ({ name: "Bash", arguments: { command: `echo ${turn}${part} >> log; sleep 0.05` } })
  return ModelServer.calls(call("a"), call("b"))
}

const transcriptOf = (home: string, ids: ReadonlyArray<string>): string => {
  const [id] = ids
  return id === undefined ? "" : fs.readFileSync(path.join(home, "sessions", `${id}.jsonl`), "latin1")
}

describe("synapse agent, killed", () => {
  it("goes on after each line of its transcript, and no call dangles", { timeout: 400_000 }, async () => {
    // Two lines at the beginning, and for each turn: its end, the message, two results; then the answer. The points of the
    // first turn are those of the second one, before which one more is whole.
    const all = 2 + 1 + turns * 4 + 3
    let killed = 0
    for (const point of Array.from({ length: all }, (_, at) => at).filter((at) => at > 0 && (at < 3 || at > 6))) {
      await using(script, async ({ about, agent, cwd, home, ids, lines, server, start }) => {
        const { child, ended } = start(["--no-sandbox", "go"])
        const kill = () => (transcriptOf(home, ids()).split("\n").length > point ? child.kill("SIGKILL") : false)
        await Promise.race([until(kill), ended])
        const { exitCode } = await ended
        if (exitCode !== null) return
        killed++
        const isDone = lines().some(({ type }) => type === "end")
        if (point === 1 || point === 7) assert.match((await about("list")).stdout, / {2}(?:killed|not begun|done) /)
        const resumed = await agent("--quiet", "--continue", ...(isDone ? ["more"] : []))
        assert.deepStrictEqual(resumed, { exitCode: 0, stdout: "done\n", stderr: "" })
        assertNothingDangles(server)
        const log = fs.readFileSync(path.join(cwd, "log"), "utf8").split("\n")
        // A turn that was cut is answered as one that may have run: its commands are not simply called again.
        for (const line of log.slice(0, -1)) assert.strictEqual(log.filter((one) => one === line).length, 1, line)
        assert.deepStrictEqual(
          fs.readdirSync(path.join(home, "sessions")).filter((name) => !name.endsWith(".jsonl")),
          []
        )
      })
    }
    assert.isAbove(killed, 3)
  })
})
