/** `--ask` on a real pseudo-terminal, with a sandbox (`npm run build` makes the program). */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { type Place, using } from "../support/cli/AgentPlace.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Pty from "../support/terminal/Pty.js"

/** A project with a file that no command may read. */
const inProject = (script: ModelServer.Script, use: (place: Place) => Promise<void>) => () =>
  using(script, (place) => {
    fs.writeFileSync(path.join(place.cwd, ".env"), "TOKEN=1\n")
    return use(place)
  })

const question = /Allow it\? \[[^\]]+\] ?$/

describe.skipIf(!isSandboxed)("--ask", () => {
  it(
    "asks about the command of exec, offers what takes effect, and asks again about a word that is no answer",
    inProject([], async ({ cwd, env }) => {
      const run = Pty.start(["exec", "cat .env"], { cwd, env, columns: 200 })
      await run.shows(question)
      assert.deepStrictEqual(run.lines().slice(-4), [
        "  [o]nce         this command may read it",
        "  permanently    every command may read it from now on: sandbox.json will allow it",
        "  [N]o           it stays denied",
        "Allow it? [o/permanently/N]"
      ])
      run.type("yes\n")
      await run.shows(/Type one of \[o\/permanently\/N\] ?$/)
      run.type("o\n")
      assert.strictEqual(await run.ended, 0, run.written())
      assert.strictEqual(run.lines().at(-1), "TOKEN=1")
      assert.lengthOf(run.written().match(/Allow it\?/g) ?? [], 1)
    })
  )

  it.skipIf(process.getuid?.() !== 0)(
    "offers for exec nothing that only another run of the command could have",
    inProject([], async ({ cwd, env }) => {
      const run = Pty.start(["exec", "touch /etc/synapse-nosuch"], { cwd, env, columns: 200 })
      await run.shows(question)
      assert.deepStrictEqual(run.lines().slice(-5), [
        "  rule:    not whitelisted: read-only, since no rule allows writing; where it is allowed, it is made, empty, before the command runs again",
        "  command: touch /etc/synapse-nosuch",
        "  permanently    every command may write it from now on: sandbox.json will allow it",
        "  [N]o           it stays denied",
        "Allow it? [permanently/N]"
      ])
      run.type("\n")
      assert.strictEqual(await run.ended, 1, run.written())
      assert.isFalse(fs.existsSync("/etc/synapse-nosuch"))
    })
  )

  it(
    "asks nobody where it says never",
    inProject([], async ({ cwd, env }) => {
      const run = Pty.start(["exec", "--ask", "never", "cat .env"], { cwd, env })
      assert.strictEqual(await run.ended, 126, run.written())
      assert.notInclude(run.written(), "Allow it?")
    })
  )

  it(
    "asks for call only where it says terminal",
    inProject([], async ({ cwd, env }) => {
      const line = JSON.stringify({ id: "1", name: "Bash", arguments: '{"command":"cat .env"}' })
      fs.writeFileSync(path.join(cwd, "calls"), `${line}\n`)
      const redirected = "<calls >results"
      const silent = Pty.start(["call"], { cwd, env, redirected })
      assert.strictEqual(await silent.ended, 0, silent.written())
      assert.notInclude(silent.written(), "Allow it?")
      const asking = Pty.start(["call", "--ask", "terminal"], { cwd, env, redirected, columns: 200 })
      await asking.shows(question)
      assert.include(asking.lines(), "  [s]ession      every command may read it until this session ends")
      asking.type("s\n")
      assert.strictEqual(await asking.ended, 0, asking.written())
      assert.include(JSON.parse(fs.readFileSync(path.join(cwd, "results"), "utf8")).output, "TOKEN=1")
    })
  )

  it(
    "asks for the tasks of a command, one after another, by their names; what is allowed is theirs alone",
    inProject(
      ({ body }) =>
        body.messages.length === 1
          ? ModelServer.calls({ name: "Bash", arguments: { command: "cat .env" } })
          : ModelServer.text(JSON.stringify(body.messages.at(-1)).includes("TOKEN=1") ? "Read." : "Not read."),
      async ({ cwd, env }) => {
        const line = "for each in one two; do task:explore -d $each -p look & done; wait"
        const run = Pty.start(["exec", line], { cwd, env, columns: 200 })
        const questions = () => run.lines().flatMap((line) => /^ {2}task: +(.*)/.exec(line)?.[1] ?? [])
        await run.shows(question)
        // Time for the other one to break in, and for several frames.
        await new Promise((resolve) => setTimeout(resolve, 600))
        const [first = ""] = questions()
        assert.match(first, /^Task\(explore: (?:one|two)\)$/)
        assert.lengthOf(questions(), 1)
        assert.deepStrictEqual(run.lines().slice(-4), [
          "  [o]nce         this command may read it",
          "  [s]ession      every command of this task may read it until the task ends",
          "  [N]o           it stays denied",
          "Allow it? [o/s/N]"
        ])
        run.type("s\n")
        await run.shows(/Allow it\?[\s\S]*Allow it\? \[[^\]]+\] ?$/)
        assert.sameMembers([...questions()], ["Task(explore: one)", "Task(explore: two)"])
        run.type("\n")
        assert.strictEqual(await run.ended, 0, run.written())
        assert.lengthOf(run.written().match(/Allow it\?/g) ?? [], 2)
        assert.sameMembers(
          run.lines().filter((line) => /^(?:Not r|R)ead/.test(line)),
          ["Read.", "Not read."]
        )
      }
    )
  )

  it(
    "asks for an agent between its steps, once, with nothing drawn meanwhile",
    inProject(
      [ModelServer.calls({ name: "Bash", arguments: { command: "cat .env" } }), ModelServer.text("It is read.")],
      async ({ cwd, env }) => {
        const run = Pty.start(["agent", "go"], { cwd, env, columns: 200 })
        await run.shows(question)
        // Several spinners' time.
        await new Promise((resolve) => setTimeout(resolve, 600))
        assert.match(run.lines().at(-1) ?? "", question)
        assert.notMatch(run.lines().join("\n"), /◐|◓|◑|◒/)
        run.type("o\n")
        assert.strictEqual(await run.ended, 0, run.written())
        assert.lengthOf(run.written().match(/Allow it\?/g) ?? [], 1)
        const lines = run.lines().map((line) => line.replace(/ \[\d+\.\ds\]/, ""))
        const at = lines.indexOf("• Bash(cat .env)")
        assert.deepStrictEqual(lines.slice(at, at + 3), ["• Bash(cat .env)", "  └─ TOKEN=1", "It is read."])
      }
    )
  )
})
