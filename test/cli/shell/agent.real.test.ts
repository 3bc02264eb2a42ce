/** Questions to the agent in `synapse shell`, against a real HTTP server that answers as a model. */
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../../support/agent/ModelServer.js"
import { type Place, using } from "../../support/cli/AgentPlace.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")
const mark = process.getuid?.() === 0 ? "#" : "$"
const prompt = `~/project NO SANDBOX ${mark}`

const call = (command: string) => ({ name: "Bash", arguments: { command } })

const shell = (script: ModelServer.Script, use: (tmux: Tmux.Tmux, place: Place) => Promise<void>) =>
  using(script, (place) =>
    Tmux.using(
      {
        directory: path.dirname(place.cwd),
        cwd: place.cwd,
        command: [process.execPath, program, "shell", "--no-sandbox"],
        env: place.env
      },
      async (tmux) => {
        await tmux.line(prompt)
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
})
