/** Questions to the agent in `synapse shell`, against a real HTTP server that answers as a model. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../../support/agent/ModelServer.js"
import { type Place, using } from "../../support/cli/AgentPlace.js"
import { isSandboxed } from "../../support/sandbox/Bubblewrap.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")
const mark = process.getuid?.() === 0 ? "#" : "$"
const prompt = `~/project NO SANDBOX ${mark}`
const confined = `~/project ${mark}`

const call = (command: string) => ({ name: "Bash", arguments: { command } })

const shell = (script: ModelServer.Script, use: (tmux: Tmux.Tmux, place: Place) => Promise<void>, isConfined = false) =>
  using(script, (place) =>
    Tmux.using(
      {
        directory: path.dirname(place.cwd),
        cwd: place.cwd,
        command: [process.execPath, program, "shell", ...(isConfined ? [] : ["--no-sandbox"])],
        env: place.env
      },
      async (tmux) => {
        await tmux.line(isConfined ? confined : prompt)
        await use(tmux, place)
      }
    )
  )

describe.skipIf(!Tmux.isThere)("the agent in synapse shell", () => {
  it("works in the person's session, shows its steps and tasks, and is gone on with", () => {
    let turn = 0
    const script: ModelServer.Script = ({ body }) => {
      if (JSON.stringify(body.messages[0]).includes("look into it")) return ModelServer.text("It is small.")
      const replies = [
        ModelServer.calls(call("echo mine is $MINE; THEIRS=8")),
        ModelServer.calls(call("task:general -d 'look around' -p 'look into it'")),
        ModelServer.text("All ", "is said."),
        ModelServer.text("Once more."),
        ModelServer.text("And again.")
      ]
      return replies[turn++] ?? ModelServer.status(400)
    }
    return shell(script, async ({ line, press, type, until }, { ids, server }) => {
      const enter = (text: string) => {
        type(text)
        press("Enter")
      }
      enter("MINE=7")
      await until((all) => all.filter((each) => each.startsWith(prompt)).length === 2)
      enter("? what is it")
      const text = (await line("All is said.")).join("\n")
      assert.include(text, "└─ mine is 7")
      assert.include(text, "✓ Task(general: look around)")
      enter("echo $THEIRS")
      await line("8")
      enter("/ask and now")
      await line("Once more.")
      assert.strictEqual(ids().length, 1)
      assert.include(JSON.stringify(server.requests.at(-1)?.body), "All is said.")
      enter("/resume")
      await until((all) => all.join("\n").includes(`The next question goes on with ${ids()[0]}`))
      enter("? the last")
      await line("And again.")
      assert.strictEqual(ids().length, 1)
      assert.include(JSON.stringify(server.requests.at(-1)?.body), "Once more.")
    })
  })

  it("shows what its last turn changed, and takes it back", () =>
    shell(
      [
        ModelServer.calls(call("echo theirs > made; echo more >> kept")),
        ModelServer.text("Both are written."),
        ModelServer.text("I see.")
      ],
      async ({ line, press, type, until }, { cwd, server }) => {
        const enter = (text: string) => {
          type(text)
          press("Enter")
        }
        enter("git init -q . && echo mine > kept")
        await until(() => fs.existsSync(path.join(cwd, "kept")))
        enter("/undo")
        await until((all) => all.join("\n").includes("No turn here has changed anything"))
        enter("? write both")
        await line("Both are written.")
        enter("/diff")
        const shown = (await line("+theirs")).join("\n")
        assert.match(shown, /^ mine\n\+more$/m)
        enter("/undo")
        await line("removed: made")
        await line("restored: kept")
        assert.deepStrictEqual(
          [fs.existsSync(path.join(cwd, "made")), fs.readFileSync(path.join(cwd, "kept"), "utf8")],
          [false, "mine\n"]
        )
        enter("? and now")
        await line("I see.")
        assert.include(JSON.stringify(server.requests.at(-1)?.body), "The user took back what your last turn changed.")
      }
    ))

  it("is ended by Ctrl-C, and the shell goes on", () =>
    shell([ModelServer.silence, ModelServer.text("Here again.")], async ({ line, press, type, until }, { server }) => {
      type("? wait")
      press("Enter")
      await until(() => server.requests.length === 1)
      press("C-c")
      await until((all) => all.filter((each) => each.startsWith(prompt)).length === 2)
      type("? back")
      press("Enter")
      await line("Here again.")
    }))

  it("leaves nothing live behind a run that Ctrl-C has ended", () =>
    shell([ModelServer.calls(call("sleep 60"))], async ({ line, press, type, until }) => {
      type("? wait")
      press("Enter")
      await until((all) => all.some((each) => /^. Bash\(sleep 60\) \[1s\]$/.test(each)))
      press("C-c")
      const all = await until((all) => all.filter((each) => each.startsWith(prompt)).length === 2)
      assert.isTrue(
        all.some((each) => /^✗ Bash\(sleep 60\) FAILED \(interrupted\) \[\ds\]$/.test(each)),
        all.join("\n")
      )
      type("echo o''n")
      press("Enter")
      await line("on")
    }))

  it("shows what its command asks at the terminal, and passes the answer on", () =>
    shell(
      [
        ModelServer.calls(
          call("printf 'the key? ' >/dev/tty; read -r K </dev/tty; echo \"got $K\"; tty; echo $TERM $-")
        ),
        ModelServer.text("Thanks.")
      ],
      async ({ endsWith, line, press, type, until }, { server }) => {
        type("? ask me")
        press("Enter")
        await until((all) => all.some((each) => each === "the key?"))
        type("sesame")
        press("Enter")
        await line("Thanks.")
        await endsWith(prompt)
        const said = JSON.stringify(server.requests.at(-1)?.body)
        assert.include(said, "got sesame")
        assert.include(said, "not a tty")
        // The agent's commands have no job control, and no terminal to draw on.
        const [, flags = "m"] = /dumb ([a-zA-Z]+)/.exec(said) ?? []
        assert.notInclude(flags, "m")
      }
    ))

  const waiting = (file: string) => `until [ -e ${file} ]; do sleep 0.1; done`
  const put = ({ cwd }: Place, file: string) => fs.writeFileSync(path.join(cwd, file), "")

  it("leaves the prompt alone while a task goes on in the background, and shows how it went with the next line", () => {
    const replies = [ModelServer.calls(call(waiting("go"))), ModelServer.text("It went.")]
    return shell(replies, async ({ endsWith, press, type, until }, place) => {
      type(`task:general -d back -p x & ${waiting("on")}`)
      press("Enter")
      await until((all) => all.some((each) => /^. Task\(general: back\) \[1 tool/.test(each)))
      put(place, "on")
      await until((all) => all.filter((each) => each.startsWith(prompt)).length === 2)
      type("echo ty''ped")
      await endsWith(`${prompt} echo ty''ped`)
      // Several spinners' time.
      await new Promise((resolve) => setTimeout(resolve, 600))
      const all = await endsWith(`${prompt} echo ty''ped`)
      assert.notMatch(all.join("\n"), /[◐◓◑◒]/)
      put(place, "go")
      // Its answer comes where the cursor is: behind what is typed.
      await until((all) => all.some((each) => each.includes("It went.")))
      press("Enter")
      const shown = (
        await until(
          (all) => all.includes("typed") && all.slice(all.indexOf("typed")).some((each) => each.startsWith(prompt))
        )
      ).join("\n")
      assert.match(shown, /^✓ Task\(general: back\) \[1 tool, .*\]$/m)
      assert.match(shown, /^typed$/m)
      assert.notMatch(shown, /[◐◓◑◒]/)
    })
  })
})

const isPossible = Tmux.isThere && isSandboxed

describe.skipIf(!isPossible)("a sub-agent's question for permission in synapse shell", () => {
  const secret = [ModelServer.calls(call("cat .env")), ModelServer.text("It is read.")]

  it("names its task, and is taken away by Ctrl-C", () =>
    shell(
      [ModelServer.calls(call("task:general -d front -p x")), ...secret],
      async ({ endsWith, line, press, type }, { cwd }) => {
        fs.writeFileSync(path.join(cwd, ".env"), "TOKEN=1\n")
        type("? look")
        press("Enter")
        const all = await endsWith("Allow it? [o/s/N]")
        assert.include(all, "  task:    Task(general: front)")
        press("C-c")
        await endsWith(confined)
        type("echo o''n")
        press("Enter")
        await line("on")
        await endsWith(confined)
      },
      true
    ))

  it("is denied without a word where only the prompt is there: nobody has asked for anything then", () => {
    const replies = [ModelServer.calls(call("until [ -e go ]; do sleep 0.1; done")), ...secret]
    return shell(
      replies,
      async ({ press, type, until }, { cwd, server }) => {
        fs.writeFileSync(path.join(cwd, ".env"), "TOKEN=1\n")
        type("task:general -d back -p x &")
        press("Enter")
        await until((all) => all.filter((each) => each.startsWith(confined)).length === 2)
        type("echo ty''ped")
        await until(() => server.requests.length === 1)
        fs.writeFileSync(path.join(cwd, "go"), "")
        await until(() => server.requests.length === 3)
        assert.include(JSON.stringify(server.requests[2]?.body), "is blocked by rule")
        // What the task answers is output of a background command, which comes where the cursor is.
        const all = await until((all) => all.some((each) => each.startsWith(`${confined} echo ty''ped`)))
        assert.notMatch(all.join("\n"), /Allow it/)
      },
      true
    )
  })
})
