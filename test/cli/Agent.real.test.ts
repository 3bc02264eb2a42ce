/** `synapse agent` as it is installed (`npm run build` makes it), with a server that answers as a model's API. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { assertNothingDangles, type Place, until, using } from "../support/cli/AgentPlace.js"
import { isRunning } from "../support/cli/Real.js"

const bash = (command: string) => ModelServer.calls({ name: "Bash", arguments: { command } })

const idOf = ({ ids }: Place): string => {
  const [id = "", ...others] = ids()
  assert.deepStrictEqual(others, [])
  return id
}

describe("synapse agent", () => {
  it("prints the answer on stdout, static lines of its steps and of its waits on stderr, and keeps the session", () => {
    const busy = ModelServer.status(529, { "retry-after": "0" }, { error: { message: "busy\x1b[2J" } })
    return using([busy, bash("echo one > f; cat f"), ModelServer.text("It is ", "done\x1b[2J.")], async (place) => {
      const { exitCode, stderr, stdout } = await place.agent("write f")
      assert.deepStrictEqual([exitCode, stdout], [0, "It is done\\u001b[2J.\n"])
      // What takes some time is told when it begins, too, and with its time when it ends.
      const [wait, ...steps] = stderr.split("\n")
      assert.strictEqual(wait, "• trying again in 1 s: anthropic can't answer now (529: busy\\u001b[2J)")
      assert.match(steps.join("\n"), /^(?:• Bash\(echo one > f; cat f\)[^\n]*\n){1,2} {2}└─ one\n$/)
      assert.strictEqual(fs.readFileSync(path.join(place.cwd, "f"), "utf8"), "one\n")
      const id = idOf(place)
      assert.deepStrictEqual(
        place.lines().map(({ type }) => type),
        ["session", "run", "message", "turn", "message", "message", "turn", "message", "end"]
      )
      const listed = await place.within(["list"])
      assert.include(listed.stdout, `${id}  `)
      assert.match(listed.stdout, / {2}done +2 turns {2}.* {2}"write f"\n$/)
      const { sessions } = JSON.parse((await place.within(["list", "--json"])).stdout)
      assert.deepInclude(sessions[0], { id, cwd: place.cwd, state: "done", turns: 2, prompt: "write f" })
    })
  })

  it("prints every step as a line of JSON", () =>
    using([bash("printf a"), ModelServer.text("do", "ne\x9b")], async (place) => {
      const { exitCode, stderr, stdout } = await place.within(["--no-sandbox", "--json", "go"])
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      assert.notMatch(stdout.replaceAll("\n", ""), /\p{Cc}/u)
      const events = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        [
          "started",
          "turnStarted",
          "turnEnded",
          "toolStarted",
          "toolEnded",
          "turnStarted",
          "text",
          "text",
          "turnEnded",
          "ended"
        ]
      )
      assert.deepInclude(events[0], { session: idOf(place), provider: "anthropic" })
      assert.deepInclude(events[4].result, { isError: false, output: "a" })
      assert.deepInclude(events[9], { session: idOf(place), ending: "done", exitCode: 0, text: "done\x9b", turns: 2 })
    }))

  it("takes its prompt from stdin, from its words, or from both", () =>
    using(
      () => ModelServer.text("ok"),
      async ({ server, within }) => {
        const asked = async (args: ReadonlyArray<string>, stdin: string) => {
          const { exitCode, stderr } = await within(["--no-sandbox", ...args], { stdin })
          const text = JSON.stringify(server.requests.at(-1)?.body.messages)
          return { exitCode, stderr, text }
        }
        assert.include((await asked([], "from stdin\n")).text, '"from stdin"')
        assert.include((await asked(["explain"], "an error\n")).text, '"explain\\n\\n<stdin>\\nan error\\n</stdin>"')
        assert.include((await asked(["--", "list"], "")).text, '"list"')
        const { exitCode, stderr } = await asked([], " \n")
        assert.strictEqual(exitCode, 2)
        assert.match(stderr, /^synapse: The prompt is missing\.\nUsage:/)
        assert.include((await asked([], "x".repeat(2 ** 20 + 1))).stderr, "stdin holds more than 1048576 bytes")
      }
    ))

  it("makes no session where a budget has no price", () =>
    using([], async (place) => {
      const { exitCode, stderr, stdout } = await place.quiet("--budget", "1", "go")
      assert.deepStrictEqual([exitCode, stdout], [1, ""])
      assert.match(stderr, /^synapse: A budget needs the model's price\. .*\n$/)
      assert.isFalse(fs.existsSync(path.join(place.home, "sessions")))
    }))

  it("says which setting is missing, or refused", () =>
    using(
      () => ModelServer.status(401, {}, { error: { type: "authentication_error", message: "invalid x-api-key" } }),
      async (place) => {
        const names = [
          "ANTHROPIC_API_KEY",
          "ANTHROPIC_BASE_URL",
          "OPENAI_API_KEY",
          "OPENAI_BASE_URL",
          "SYNAPSE_PROVIDER"
        ]
        const env = Object.fromEntries(names.map((name) => [name, ""]))
        const without = await place.within(["hi"], { env })
        assert.deepStrictEqual([without.exitCode, without.stdout, place.ids()], [1, "", []])
        assert.include(without.stderr, "ANTHROPIC_API_KEY")
        const { stdout } = await place.within(["--json", "hi"], { env })
        const { reason, ...told } = JSON.parse(stdout)
        assert.deepStrictEqual(told, { type: "ended", ending: "failed", exitCode: 1, text: "" })
        assert.include(reason, "ANTHROPIC_API_KEY")
        const refused = await place.quiet("hi")
        assert.deepStrictEqual([refused.exitCode, refused.stdout], [1, ""])
        assert.include(refused.stderr, "ANTHROPIC_API_KEY")
        assert.notInclude(refused.stderr, ModelServer.key)
        // Nothing was done that could be gone on with.
        assert.notInclude(refused.stderr, "go on with")
      }
    ))

  it("runs where its session can't be kept, and says so once", () =>
    using([bash("echo one"), ModelServer.text("done")], async (place) => {
      fs.mkdirSync(place.home)
      fs.writeFileSync(path.join(place.home, "sessions"), "")
      const { exitCode, stderr, stdout } = await place.quiet("go")
      assert.deepStrictEqual([exitCode, stdout], [0, "done\n"])
      assert.match(stderr, /^synapse: the session can't be kept, and can't be resumed from here on: [^\n]+\n$/)
    }))

  it("interrupts what runs at a signal, ends with a code of its own at a limit, and goes on from both", () =>
    using(
      [
        ModelServer.answer({
          text: ["I begin."],
          calls: [{ id: "toolu_1", name: "Bash", arguments: '{"command":"sleep 86301"}' }],
          reason: "tool_use"
        }),
        bash("echo one"),
        // Longer than the other waits for it.
        ModelServer.answer({ text: ["all of it"], pause: 300 })
      ],
      async (place) => {
        const { server } = place
        const { child, ended } = place.start(["--no-sandbox", "go"])
        await until(() => isRunning("sleep", "86301"))
        child.kill("SIGINT")
        const { exitCode, stderr, stdout } = await ended
        const id = idOf(place)
        assert.deepStrictEqual([exitCode, stdout], [130, "I begin.\n"])
        assert.match(
          stderr,
          /^I begin\.\n(?:• Bash\(sleep 86301\)[^\n]*\n)?✗ Bash\(sleep 86301\) FAILED \(interrupted\)[^\n]*\nsynapse: go on with: /
        )
        assert.isTrue(stderr.endsWith(` --resume ${id}\n`), stderr)
        assert.isFalse(isRunning("sleep", "86301"))
        assert.include((await place.within(["list"])).stdout, "  interrupted ")

        const limited = await place.quiet("--resume", id.slice(0, 3), "--max-tokens", "1", "go on")
        assert.deepStrictEqual([limited.exitCode, limited.stdout], [3, ""])
        assert.match(limited.stderr, /^synapse: The limit of 1 tokens is reached: /)
        assert.include(limited.stderr, `\nsynapse: go on with: synapse agent --resume ${id}\n`)
        assert.include(server.requests[1]?.text, "it may or may not have run")
        assert.include((await place.within(["list"])).stdout, "  tokens ")

        // One of two processes goes on with it.
        const last = place.start(["--no-sandbox", "--continue"])
        await until(() => server.requests.length === 3)
        assert.deepStrictEqual(await place.quiet("--continue", "on"), {
          exitCode: 1,
          stdout: "",
          stderr: `synapse: The session ${id} is run by process ${last.child.pid}: wait for it, or end it.\n`
        })
        assert.deepStrictEqual(await last.ended, { exitCode: 0, stdout: "all of it\n", stderr: "" })
        assert.include(server.requests[2]?.text, "Go on where you were interrupted.")
        assertNothingDangles(server)

        const done = await place.quiet("--continue")
        assert.deepStrictEqual([done.exitCode, done.stdout], [1, ""])
        assert.match(done.stderr, /has ended with an answer: give a prompt to go on/)
      }
    ))

  it("ends with its reader", () =>
    using([bash("sleep 86302"), ModelServer.text("done")], async (place) => {
      const { child, ended } = place.start(["--no-sandbox", "--json", "go"])
      await until(() => isRunning("sleep", "86302"))
      child.stdout?.destroy()
      child.kill("SIGTERM")
      assert.include([141, 143], (await ended).exitCode)
      assert.isFalse(isRunning("sleep", "86302"))
      assert.strictEqual((await place.quiet("--continue")).exitCode, 0)
    }))
})
