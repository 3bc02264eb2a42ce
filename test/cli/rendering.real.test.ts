/** `synapse agent` and `synapse exec` on a real pseudo-terminal (`npm run build` makes them). */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { using } from "../support/cli/AgentPlace.js"
import * as Pty from "../support/terminal/Pty.js"

const call = (command: string) => ({ name: "Bash", arguments: { command } })

/** Answers a task that says `look` with two commands and an answer; `fail` is refused. */
const tasks = (main: ReadonlyArray<ModelServer.Reply>) => {
  let turn = 0
  return ({ body }: ModelServer.Recorded): ModelServer.Reply => {
    const text = JSON.stringify(body.messages[0])
    if (text.includes("please fail")) return ModelServer.status(400)
    if (!text.includes("please look")) return main[turn++] ?? ModelServer.status(400)
    const done = body.messages.length
    if (done === 1) return ModelServer.calls(call("echo one"))
    return done === 3 ? ModelServer.calls(call("echo two")) : ModelServer.text("It is found.")
  }
}

/** Leaves out times, which differ. */
const timeless = (lines: ReadonlyArray<string>) => lines.map((line) => line.replace(/,? ?\d+\.\ds\]/, "]"))

describe("synapse agent on a terminal", () => {
  it("shows its steps and its tasks, and its answer once", () =>
    using(
      tasks([
        ModelServer.answer({
          text: ["I look ", "first.\x1b]0;owned\x07"],
          calls: [
            {
              id: "1",
              name: "Bash",
              arguments: "{\"command\":\"task:general -d 'find the router' -p 'please look'\"}"
            },
            { id: "2", name: "Bash", arguments: "{\"command\":\"task:general -d 'break' -p 'please fail'\"}" }
          ]
        }),
        ModelServer.calls(call("printf 'a\\nb\\n'; exit 3")),
        ModelServer.text("It is ", "in src.\nThat is all.")
      ]),
      async ({ cwd, env }) => {
        const run = Pty.start(["agent", "--no-sandbox", "go"], { cwd, env })
        assert.strictEqual(await run.ended, 0, run.written())
        const lines = timeless(run.lines())
        for (const line of [
          "I look first.\\u001b]0;owned\\u0007",
          "✓ Task(general: find the router) [2 tools]",
          "  ├─• echo one",
          "  └─• echo two",
          "✗ Bash(printf 'a\\nb\\n'; exit 3) [exit code 3]",
          "  └─ a"
        ])
          assert.include(lines, line)
        assert.match(lines.join("\n"), /✗ Task\(general: break\) FAILED.*\n {2}└─ The sub-agent did not finish/)
        assert.deepStrictEqual(lines.slice(-3, -1), ["It is in src.", "That is all."])
        assert.match(lines.at(-1) ?? "", /^Session \w+: 3 turns/)
        assert.lengthOf(lines.join("\n").match(/It is in src/g) ?? [], 1)
        assert.notMatch(lines.join("\n"), /◐|◓|◑|◒/)
        assert.isAbove(run.written().lastIndexOf("\x1b[?25h"), run.written().lastIndexOf("\x1b[?25l"))
      }
    ))

  it("keeps the answer for stdout where that is no terminal, and writes no control sequence without colours", () =>
    using([ModelServer.calls(call("echo hi")), ModelServer.text("It is done.")], async ({ cwd, env }) => {
      const run = Pty.start(["agent", "--no-sandbox", "go"], {
        cwd,
        env: { ...env, NO_COLOR: "1" },
        redirected: ">answer"
      })
      assert.strictEqual(await run.ended, 0, run.written())
      assert.strictEqual(fs.readFileSync(path.join(cwd, "answer"), "utf8"), "It is done.\n")
      assert.deepStrictEqual(run.lines().slice(0, -1), ["• Bash(echo hi)", "  └─ hi"])
      assert.notInclude(run.written(), "\x1b")
    }))
})

describe("synapse exec on a terminal", () => {
  it("shows the tasks of a command beside its output", () =>
    using(tasks([]), async ({ cwd, env }) => {
      const command = "printf before; task:general -d 'find it' -p 'please look'; printf 'after\\n'"
      const run = Pty.start(["exec", "--no-sandbox", command], { cwd, env })
      assert.strictEqual(await run.ended, 0, run.written())
      assert.deepStrictEqual(timeless(run.lines()), [
        "before",
        "✓ Task(general: find it) [2 tools]",
        "  ├─• echo one",
        "  └─• echo two",
        "It is found.",
        "after"
      ])
    }))

  it("says of tasks only that they are tried again where stderr is no terminal", () => {
    const look = tasks([])
    const busy = ModelServer.status(529, { "retry-after": "0" }, { error: { message: "busy\x1b[2J" } })
    const script: ModelServer.Script = (request, at) => (at === 0 ? busy : look(request))
    return using(script, async ({ cwd, env }) => {
      const command = "task:general -d 'find it' -p 'please look' | cat"
      const run = Pty.start(["exec", "--no-sandbox", command], { cwd, env, redirected: "2>errors" })
      assert.strictEqual(await run.ended, 0, run.written())
      assert.deepStrictEqual(run.lines(), ["It is found."])
      assert.strictEqual(
        fs.readFileSync(path.join(cwd, "errors"), "utf8"),
        "synapse: task:general (find it): trying again in 1 s: anthropic can't answer now (529: busy\\u001b[2J)\n"
      )
    })
  })

  it("shows the cursor again when it is interrupted", () =>
    using(
      () => ModelServer.silence,
      async ({ cwd, env }) => {
        const run = Pty.start(["exec", "--no-sandbox", "task:general -d wait -p 'please wait'"], { cwd, env })
        await run.shows(/Task\(general: wait\)/)
        run.type("\x03")
        assert.strictEqual(await run.ended, 130, run.written())
        assert.match(run.lines().join("\n"), /✗ Task\(general: wait\) FAILED \(interrupted\)/)
        assert.isAbove(run.written().lastIndexOf("\x1b[?25h"), run.written().lastIndexOf("\x1b[?25l"))
      }
    ))
})
