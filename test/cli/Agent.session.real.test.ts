/** `synapse agent`: what its session keeps where the window is used up, its tasks, plans, instructions and changes. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { assertNothingDangles, using } from "../support/cli/AgentPlace.js"

const bash = (command: string) => ModelServer.calls({ name: "Bash", arguments: { command } })

/** An answer whose tokens nobody tells, so that its window is reckoned by its length. */
const uncounted = (answer: ModelServer.Answer): ModelServer.Answer => ({ ...answer, usage: undefined })

/** The number of the model's messages in a request. */
const assistants = ({ messages }: { readonly messages: ReadonlyArray<{ readonly role: string }> }): number =>
  messages.filter(({ role }) => role === "assistant").length

describe("the session of synapse agent", () => {
  it("makes the conversation of a resumed run shorter, too", () =>
    using(
      ({ body }) => {
        const turn = assistants(body)
        return turn >= 6 ? uncounted(ModelServer.text("done")) : uncounted(bash(`seq ${turn}000 ${turn}900`))
      },
      async (place) => {
        const { server } = place
        fs.mkdirSync(place.home)
        const provider = {
          kind: "anthropic",
          model: "m",
          contextWindow: 8000,
          apiKey: ModelServer.key,
          baseUrl: server.url
        }
        fs.writeFileSync(
          path.join(place.home, "settings.json"),
          JSON.stringify({ provider: "small", providers: { small: provider } }),
          { mode: 0o600 }
        )
        const env = { SYNAPSE_PROVIDER: "small" }
        const run = (...args: ReadonlyArray<string>) => place.within(["--no-sandbox", "--quiet", ...args], { env })
        assert.strictEqual((await run("go")).stdout, "done\n")
        const last = server.requests.at(-1)?.body.messages
        assert.include(JSON.stringify(last), "[output left out to save room")
        assert.strictEqual((await run("--continue", "more")).stdout, "done\n")
        const resumed: ReadonlyArray<unknown> = server.requests.at(-1)?.body.messages
        assert.include(JSON.stringify(resumed.at(-1)), "more")
        assert.include(JSON.stringify(resumed), "[output left out to save room")
        assert.include(JSON.stringify(place.lines()), "\\n450\\n")
        assertNothingDangles(server)
      }
    ))

  it("keeps the list of tasks, and goes on with it", () => {
    const list = (content: string) => ({ todos: [{ content, activeForm: "Shipping", status: "pending" }] })
    const write = (content: string) => bash(`TodoWrite '${JSON.stringify(list(content))}'`)
    return using(
      [
        write("Ship it"),
        write("Ship it"),
        ModelServer.text("planned"),
        bash("TodoWrite --show"),
        write("Ship it today"),
        ModelServer.text("done")
      ],
      async (place) => {
        assert.strictEqual((await place.quiet("go")).stdout, "planned\n")
        assert.strictEqual((await place.quiet("--continue", "on")).stdout, "done\n")
        assert.include(JSON.stringify(place.server.requests[4]?.body.messages.at(-1)), "[ ] Ship it")
        // A list that is the same as before is not kept once more.
        const kept = place.lines().flatMap(({ todos, type }) => (type === "todos" ? [todos] : []))
        assert.deepStrictEqual(kept, [list("Ship it").todos, list("Ship it today").todos])
      }
    )
  })

  it.skipIf(process.platform !== "linux")("makes a plan without writing, and carries it out afterwards", () =>
    using(
      [
        bash("touch planned; cd /; task:general -d x -p x"),
        ModelServer.status(400),
        bash("echo $HOME > $TMPDIR/mine && cat $TMPDIR/mine"),
        ModelServer.text("the plan"),
        bash("touch written"),
        ModelServer.text("done")
      ],
      async (place) => {
        let said = ""
        const run = async (...args: ReadonlyArray<string>) => {
          const { exitCode, stderr, stdout } = await (args.includes("--quiet")
            ? place.within(args)
            : place.start(args).ended)
          said = stderr
          return [exitCode, stdout]
        }
        const last = (at: number) => JSON.stringify(place.server.requests[at]?.body.messages.at(-1))
        assert.deepStrictEqual(await run("--quiet", "--plan", "go"), [1, ""])
        assert.match(said, /^synapse: go on with: synapse agent --plan --resume \w+$/m)
        assert.include(last(1), "touch: cannot touch 'planned': Read-only file system")
        assert.include(last(1), "a sub-agent starts no further ones")
        assert.include(JSON.stringify(place.server.requests[0]?.body.system), "Your answer is a plan of the task")
        // Nobody has read a plan yet.
        assert.deepStrictEqual(await run("--quiet", "--continue"), [1, ""])
        assert.deepStrictEqual(await run("--plan", "--continue"), [0, "the plan\n"])
        assert.match(said, /^synapse: carry out the plan: synapse agent --resume \w+$/m)
        assert.include(last(3), String(place.env["HOME"]))
        assert.deepStrictEqual(fs.readdirSync(place.cwd), [])
        assert.deepStrictEqual(await run("--quiet", "--continue"), [0, "done\n"])
        assert.include(last(4), "Carry out the plan.")
        assert.deepStrictEqual(fs.readdirSync(place.cwd), ["written"])
        assert.deepStrictEqual(await run("--quiet", "--plan", "--no-sandbox", "go"), [2, ""])
      }
    )
  )

  it("takes back what the last turn changed, and tells the model", () =>
    using(
      [
        bash("echo new > new; echo 2 > old; echo 2 > mine"),
        ModelServer.text("done"),
        ModelServer.text("nothing changed"),
        ModelServer.text("I see")
      ],
      async (place) => {
        const file = (name: string) => path.join(place.cwd, name)
        for (const name of ["old", "mine"]) fs.writeFileSync(file(name), "1\n")
        await place.quiet("go")
        await place.quiet("and now?")
        fs.writeFileSync(file("mine"), "3\n")
        assert.match((await place.within(["--diff"])).stdout, /^\+\+\+ b\/new$/m)
        assert.deepStrictEqual(await place.within(["--undo"]), {
          exitCode: 1,
          stdout: "removed: new\nleft, for it was changed since: mine\nrestored: old\n",
          stderr: "Not covered: ignored and hidden files, repositories within, commits.\n"
        })
        assert.deepStrictEqual(fs.readdirSync(place.cwd), ["mine", "old"])
        assert.deepStrictEqual(
          [fs.readFileSync(file("mine"), "utf8"), fs.readFileSync(file("old"), "utf8")],
          ["3\n", "1\n"]
        )
        const [first = ""] = place
          .ids()
          .filter((id) =>
            fs.readFileSync(path.join(place.home, "sessions", `${id}.jsonl`), "utf8").includes("took back")
          )
        await place.quiet("--resume", first, "why?")
        assert.include(
          JSON.stringify(place.server.requests.at(-1)?.body.messages),
          "The user took back what your last turn changed."
        )
        assert.strictEqual((await place.within(["--undo", "--diff"])).exitCode, 2)
      }
    ))

  it("tells the model what AGENTS.md says, and the user that it does, unless told not to", () =>
    using([ModelServer.text("a"), ModelServer.text("b"), ModelServer.text("c")], async (place) => {
      fs.writeFileSync(path.join(place.cwd, "AGENTS.md"), "Answer in French.")
      const systems = () => place.server.requests.map(({ body }) => JSON.stringify(body.system).includes("French"))
      assert.include((await place.within(["--no-sandbox", "go"])).stderr, "synapse: instructions: AGENTS.md\n")
      assert.strictEqual((await place.quiet("--continue", "on")).stderr, "")
      assert.notInclude((await place.within(["--no-sandbox", "--no-instructions", "go"])).stderr, "AGENTS.md")
      assert.deepStrictEqual(systems(), [true, true, false])
    }))
})
