/** `synapse shell` on a terminal that is not drawn on: `NO_COLOR`, `TERM=dumb`. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../../support/agent/ModelServer.js"
import { using } from "../../support/cli/AgentPlace.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")
const mark = process.getuid?.() === 0 ? "#" : "$"
const prompt = `~/project NO SANDBOX ${mark}`

const script: ModelServer.Script = ({ body }) => {
  const { messages } = body
  if (JSON.stringify(messages[0]).includes("look into it")) return ModelServer.text("It is small.")
  return messages.length === 1
    ? ModelServer.calls({ name: "Bash", arguments: { command: "task:general -d 'look around' -p 'look into it'" } })
    : ModelServer.text("All is said.")
}

describe.skipIf(!Tmux.isThere)("synapse shell on a plain terminal", () => {
  for (const [name, value] of [
    ["NO_COLOR", "1"],
    ["TERM", "dumb"]
  ] as const) {
    it(`runs commands and the agent, and writes no control sequence (${name}=${value})`, () =>
      using(script, (place) => {
        const directory = path.dirname(place.cwd)
        const record = path.join(directory, "record")
        const command = ["env", `${name}=${value}`, process.execPath, program, "shell", "--no-sandbox"]
        return Tmux.using({ directory, cwd: place.cwd, command, env: place.env }, async (tmux) => {
          await tmux.line(prompt)
          tmux.record(record)
          const enter = (text: string) => {
            tmux.type(text)
            tmux.press("Enter")
          }
          enter("echo o''n; printf '\\033[31mred\\n'")
          await tmux.line("on")
          await tmux.endsWith(prompt)
          enter("echo go; sleep 60")
          await tmux.line("go")
          tmux.press("C-c")
          await tmux.endsWith("^C", prompt.replace("SANDBOX", "SANDBOX [130]"))
          enter("? what is it")
          const all = await tmux.line("All is said.")
          assert.include(all.join("\n"), "✓ Task(general: look around)")
          enter("/exit 4")
          await tmux.line("left with 4")
          assert.notMatch(fs.readFileSync(record, "utf8").replace(/\r?\n|\r/g, ""), /\p{Cc}/u)
        })
      }))
  }
})
