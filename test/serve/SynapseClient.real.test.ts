/** The daemon's sessions, as programs use them: each test's program is one of its own, with a home of its own. */
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Place, seconds, shared, sleeping, until, using } from "./daemon.suite.js"

const dist = Path.resolve(import.meta.dirname, "../../dist")

const effect = (module: string) => Path.resolve(import.meta.dirname, `../../node_modules/effect/dist/esm/${module}.js`)

/** Runs the body of an Effect.gen with a client, and returns what it returns. */
const layers = async (place: Place, body: string) => {
  const { stderr, stdout } = await place.module(
    `import * as Effect from "${effect("Effect")}"
    import * as Cause from "${effect("Cause")}"
    import * as Fiber from "${effect("Fiber")}"
    import * as CallContext from "${dist}/domain/CallContext.js"
    import * as SynapseClient from "${dist}/serve/SynapseClient.js"
    const program = Effect.gen(function* () { const client = yield* SynapseClient.SynapseClient; ${body} })
    console.log(JSON.stringify(await Effect.runPromise(Effect.provide(program, SynapseClient.layer()))))`
  )
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

/** Runs the body of a function with a client of the Promise face, and returns what it returns. */
const promises = async (place: Place, body: string) => {
  const { stderr, stdout } = await place.module(
    `import { connect } from "${dist}/promise.js"
    const run = async (client) => { ${body} }
    console.log(JSON.stringify(await run(await connect())))`
  )
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

describe("SynapseClient", { timeout: 120_000 }, () => {
  const sharing = shared()

  it("uses the sessions of synapse exec, and starts a daemon for the first command alone", () =>
    using(async (place) => {
      const answer = await layers(
        place,
        `const before = [yield* client.list, yield* client.session("s").close]
        const session = client.session("s")
        yield* session.run("x=5; mkdir sub; cd sub")
        const { extras, isError, output } = yield* session.run("echo $x >&2; exit 3")
        const [{ directory, name, running }] = yield* client.list
        return { before, output, isError, code: extras.exitCode, stderr: extras.stderr, name, running, directory }`
      )
      assert.deepStrictEqual(answer, {
        before: [[], false],
        output: "5\n[exit 3]",
        isError: true,
        code: 3,
        stderr: "5\n",
        name: "s",
        running: 0,
        directory: place.project
      })
      assert.match((await place.exec("echo $x; pwd")).stdout, /^5\n.*\/sub\n$/)
      assert.strictEqual(await layers(place, `return yield* client.session("s").close`), true)
      await until(() => place.daemons().length === 0)
    }))

  it("hears the output as it comes, byte for byte, and waits where the listener does", () =>
    sharing(async (place) => {
      const answer = await layers(
        place,
        `const session = client.session("${place.session}")
        const heard = { stdout: [], stderr: [] }
        const listener = { onOutput: async (stream, chunk) => { heard[stream].push(Buffer.from(chunk)); await new Promise(setImmediate) } }
        yield* CallContext.locally(session.run("head -c 3000001 /dev/zero; printf '\\\\xff' >&2; exit 0"), { listener })
        const stdout = Buffer.concat(heard.stdout)
        return [stdout.length, stdout.every((byte) => byte === 0), Buffer.concat(heard.stderr).toString("hex"), heard.stdout.length > 1]`
      )
      assert.deepStrictEqual(answer, [3_000_001, true, "ff", true])
    }))

  it("ends a command by interruption and by its timeout, and keeps the session", () =>
    sharing(async (place) => {
      const time = seconds()
      const answer = await layers(
        place,
        `const session = client.session("${place.session}")
        yield* session.run("x=kept")
        let partial
        const heard = yield* Effect.async((resume) => {
          const listener = { onOutput: () => resume(Effect.void), onInterrupted: (result) => { partial = result } }
          fiber = Effect.runFork(CallContext.locally(session.run("echo begun; sleep ${time} & sleep ${time}"), { listener }))
        })
        const exit = yield* Fiber.interrupt(fiber)
        const late = yield* CallContext.locally(session.run("sleep ${time}"), { timeout: 100 })
        const { output } = yield* session.run("echo $x")
        return [Cause.isInterrupted(exit.cause), partial.stdout, late.extras.exitCode, output]`.replace(
          "let partial",
          "let partial, fiber"
        )
      )
      assert.deepStrictEqual(answer, [true, "begun\n", 124, "kept\n"])
      assert.lengthOf(sleeping(time), 0)
    }))

  it("fails with what is wrong: a session that can't be used, a daemon that is killed, and no daemon", () =>
    using(async (place) => {
      const tagged = `const caught = (run) => Effect.map(Effect.flip(run), ({ _tag, message, reason }) => [_tag, reason, message])`
      const answer = await layers(
        place,
        `${tagged}
        const session = client.session("s", { deny: ["/etc/hosts"], cwd: "/" })
        const denied = yield* session.run("cat /etc/hosts")
        return [
          denied.extras.failureCategory,
          (yield* session.run("-x")).extras.exitCode,
          ...yield* Effect.forEach(
            [{ allow: ["/"] }, { allowRead: ["/"] }, { env: ["X"] }, { allowedHosts: ["a.example"] }, { sandbox: false }],
            (options) => caught(client.session("s", options).run("echo ran > ran"))
          ),
          yield* caught(client.session("no name").run("echo ran > ran")),
          yield* caught(client.session("t", { cwd: "/no/such" }).run("echo ran > ran")),
          yield* caught(SynapseClient.make({ program: "/bin/sh" }).session("s").run("true"))
        ]`
      )
      const refused = (message: string) => ["DaemonError", "Refused", message]
      const others = refused(
        "The session s was opened with other options: leave them out, or end it first with synapse daemon stop s."
      )
      assert.deepStrictEqual(answer, [
        "blocked",
        127,
        ...Array.from({ length: 5 }, () => others),
        refused('--session must be a name of letters, digits, dots, dashes and underscores; it was "no name".'),
        refused('--cwd must be a directory that exists; it was "/no/such".'),
        ["DaemonError", "Unavailable", "The program synapse is not beside this module: set program to its path."]
      ])
      const time = seconds()
      const lost = layers(place, `${tagged}; return yield* caught(client.session("s").run("sleep ${time}"))`)
      await until(() => sleeping(time).length === 1)
      for (const pid of place.daemons()) process.kill(pid, "SIGKILL")
      assert.deepStrictEqual(await lost, [
        "DaemonError",
        "Lost",
        "The daemon ended while the command ran, and ended it: its session is gone."
      ])
    }))

  it("is the same in the Promise face", () =>
    using(async (place) => {
      const time = seconds()
      const answer = await promises(
        place,
        `const session = client.session("s")
        await session.run("x=5")
        let heard = ""
        for await (const { text } of session.run("echo $x; echo é")) heard += text
        const pending = session.run("echo begun; sleep ${time}", { onOutput: () => pending.cancel() })
        const { extras, isError } = await pending
        const [{ name }] = await client.list()
        const refused = await client.session("s", { deny: ["/x"] }).run("true").catch(({ name, reason }) => [name, reason])
        const wrong = await connect({ programm: "" }).catch(({ message, name }) => [name, message])
        return { heard, isError, code: extras.exitCode, stdout: extras.stdout, name, refused, wrong, closed: [await session.close(), await session.close()] }`
      )
      assert.deepStrictEqual(answer, {
        heard: "5\né\n",
        isError: true,
        code: 130,
        stdout: "begun\n",
        name: "s",
        refused: ["DaemonError", "Refused"],
        wrong: ["InvalidUsage", 'there is no setting "programm"'],
        closed: [true, false]
      })
      assert.lengthOf(sleeping(time), 0)
    }))

  it("runs 80 commands of four sessions at a time, each once", () =>
    sharing(async (place) => {
      const answer = await promises(
        place,
        `const calls = Array.from({ length: 80 }, (_, at) => client.session("of" + (at % 4)).run("echo " + at + " >> all" + (at % 4)))
        const results = await Promise.all(calls)
        const files = await client.session("of0").run("for n in 0 1 2 3; do sort -n all$n; done")
        return [results.filter(({ isError }) => isError).length, files.extras.stdout]`
      )
      const order = [0, 1, 2, 3].flatMap((first) => Array.from({ length: 20 }, (_, at) => first + 4 * at))
      assert.deepStrictEqual(answer, [0, `${order.join("\n")}\n`])
    }))
})
