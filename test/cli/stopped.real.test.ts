/** Ctrl-Z and `fg` while the program shows what runs, in a shell with job control. */
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { using } from "../support/cli/AgentPlace.js"
import * as Tmux from "../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

describe.skipIf(!Tmux.isThere)("a run that is stopped by Ctrl-Z", () => {
  it("leaves the terminal with its cursor and without live lines, and shows them again when it goes on", () =>
    using(
      [
        ModelServer.calls({ name: "Bash", arguments: { command: "until [ -e go ]; do sleep 0.1; done; echo done" } }),
        ModelServer.text("It is over.")
      ],
      ({ cwd, env }) =>
        Tmux.using(
          {
            directory: path.dirname(cwd),
            cwd,
            env: { ...env, synapse: program, node: process.execPath },
            command: ["env", "PS1=P> ", "bash", "--norc", "--noprofile", "-i"]
          },
          async ({ hasCursor, line, lines, press, type, until }) => {
            const isShown = (all: ReadonlyArray<string>) => all.some((each) => /^[◐◓◑◒] Bash\(/.test(each))
            await line("P>")
            type('"$node" "$synapse" agent --no-sandbox go')
            press("Enter")
            await until(isShown)
            assert.isFalse(hasCursor())
            press("C-z")
            await until((all) => all.some((each) => each.includes("Stopped")))
            assert.isTrue(hasCursor())
            assert.isFalse(isShown(lines()))
            type("echo from the shell")
            press("Enter")
            await line("from the shell")
            type("fg")
            press("Enter")
            await until(isShown)
            assert.isFalse(hasCursor())
            press("C-z")
            await until((all) => all.filter((each) => each.includes("Stopped")).length === 2)
            type("touch go; fg")
            press("Enter")
            await line("It is over.")
            await until((all) => all.findLast((each) => each !== "") === "P>")
            assert.isTrue(hasCursor())
            assert.isFalse(isShown(lines()))
          }
        )
    ))
})
