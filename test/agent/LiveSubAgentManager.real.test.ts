/** Sub-agents over a scripted model and real shells. */
import * as Fs from "node:fs"
import { setTimeout } from "node:timers/promises"
import { assert, describe } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Quote from "../../src/bash/Quote.js"
import * as CallContext from "../../src/domain/CallContext.js"
import type * as FakeModel from "../support/agent/FakeModel.js"
import { inTasks } from "../support/agent/Tasks.js"
import * as World from "../support/escape/World.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"

/** By which the processes of this file's tests are known. */
const number = 400_000 + process.pid

const last = (messages: ReadonlyArray<{ readonly content: unknown }>) => JSON.stringify(messages.at(-1)?.content)

describe("a task", () => {
  inTasks(
    "runs a sub-agent once, and prints its text; without a description, nothing runs (S22, S23)",
    { turns: [{ text: "It is done." }, { text: "Two." }, { calls: ["head -n 1"] }, { text: "Three." }] },
    ({ cwd, fake, models, run }) =>
      Effect.gen(function* () {
        const missing = yield* run('task:general --prompt "hi"')
        assert.isTrue(missing.isError)
        assert.strictEqual(missing.extras.exitCode, 1)
        assert.include(missing.output, "Invalid parameters: --description is missing.")
        assert.deepStrictEqual(models, [])

        const { extras, isError, output } = yield* run('task:general --prompt "hi" --description "Test"')
        assert.isFalse(isError, output)
        assert.deepStrictEqual([extras.stdout, extras.exitCode], ["It is done.\n", 0])
        assert.include(JSON.stringify(fake.requests[0]), `The shell starts in ${cwd}.`)

        const piped = yield* run("mkdir s; cd s; echo the diff | task:general -d Test -p review | tr a-z A-Z")
        assert.strictEqual(piped.extras.stdout, "TWO.\n")
        assert.include(last(fake.requests[1] ?? []), "review\\n\\n<stdin>\\nthe diff\\n</stdin>")
        assert.include(JSON.stringify(fake.requests[1]?.[0]), `The shell starts in ${cwd}/s.`)
        assert.strictEqual(fake.requests.length, 2)

        const stdin = () => setTimeout(5, Buffer.from("the caller's\n"))
        yield* CallContext.locally(run("task:general -d Test -p go <<< x"), { stdin })
        assert.strictEqual(fake.requests.length, 4)
        assert.notInclude(last(fake.requests[3] ?? []), "the caller's")
      })
  )

  inTasks(
    "has what its parent was given while it ran, and nothing that only a new sandbox has",
    {
      turns: [{ calls: ["for d in $(cat where); do echo x > $d/f; done"] }, { text: "done" }]
    },
    ({ home, put, run }) =>
      Effect.gen(function* () {
        if (!isSandboxed) return
        // A directory in the machine's /tmp takes a new sandbox.
        const outside = yield* Effect.acquireRelease(
          Effect.sync(() => Fs.mkdtempSync(`${process.cwd()}/node_modules/.given-`)),
          (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
        )
        const [given, repository] = [`${outside}/given`, `${outside}/repository`]
        for (const path of [given, `${repository}/.git`]) Fs.mkdirSync(path, { recursive: true })
        put("where", `${given} ${repository}`)
        yield* run("true")
        put(`${home}/sandbox.json`, JSON.stringify({ policy: { filesystem: { whitelist: [given, repository] } } }))
        yield* run("task:general -d Test -p go")
        assert.deepStrictEqual([Fs.readdirSync(given), Fs.readdirSync(repository)], [["f"], [".git"]])
      }).pipe(Effect.scoped)
  )

  inTasks(
    "that tries another task is told so, wherever it stands in a line, and goes on: two calls of the model",
    {
      turns: [
        {
          calls: [
            "task:explore -d x -p y; echo a | xargs -n1 task:general -d x -p; (task:general -d x -p y &) ; for t in general; do task:$t -d x -p y || echo no $?; done; echo on; command:search task; task:list"
          ]
        },
        { text: "alone" }
      ]
    },
    ({ fake, run }) =>
      Effect.gen(function* () {
        const { extras } = yield* run("task:general -d Test -p go")
        assert.strictEqual(extras.stdout, "alone\n")
        assert.strictEqual(fake.requests.length, 2)
        const said = last(fake.requests[1] ?? [])
        assert.strictEqual(said.match(/blocked by sandbox policy: task:/g)?.length, 4, said)
        assert.include(said, "no 126\\non\\n")
        assert.include(said, "There are no sub-agents here.")
        assert.notInclude(said, "task:explore -")
      })
  )

  inTasks(
    "and four others are truly parallel: none ends before all have begun",
    {
      turns: (messages, at) =>
        messages.length > 2
          ? { text: `done ${at}` }
          : {
              calls: [
                'touch "in-$$-$RANDOM"; for i in $(seq 600); do [ "$(ls in-* | wc -l)" = 5 ] && break; sleep 0.1; done; ls in-* | wc -l'
              ]
            }
    },
    ({ fake, run }) =>
      Effect.gen(function* () {
        const { extras } = yield* run("for i in 1 2 3 4 5; do task:general -d $i -p go & done; wait")
        assert.strictEqual(extras.stdout?.match(/^done \d+$/gm)?.length, 5, extras.stdout)
        for (const request of fake.requests.filter(({ length }) => length > 2))
          assert.match(last(request), /"result":"5\\n/)
      })
  )

  inTasks(
    "that is cancelled ends its model's request, and its shell (S24)",
    { turns: [{ calls: [`sleep ${number} & sleep ${number}`] }] },
    ({ run, toolset }) =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const listening = {
          onSubAgent: ({ step }: { readonly step: { readonly _tag: string } }) => {
            if (step._tag === "ToolStarted") Deferred.unsafeDone(begun, Effect.void)
          }
        }
        const fiber = yield* Effect.fork(
          CallContext.locally(run("echo x | task:general -d Test -p go"), { listener: listening })
        )
        yield* Deferred.await(begun)
        assert.isTrue(yield* toolset.cancel("1"))
        const { extras, output } = yield* Fiber.join(fiber)
        assert.strictEqual(extras.exitCode, 130)
        assert.match(output, /interrupted/)
        // The shell's own caller is told first.
        while (World.processesWith(`sleep ${number}`).length > 0) yield* Effect.sleep(50)
      })
  )

  inTasks(
    "that is cancelled while its model thinks interrupts the request (S24)",
    { turns: [{ text: "I think", hangs: true }] },
    ({ fake, run, toolset }) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(run("task:general -d Test -p go"))
        while (fake.requests.length === 0) yield* Effect.sleep(10)
        assert.isTrue(yield* toolset.cancel("1"))
        const { extras, output } = yield* Fiber.join(fiber)
        assert.strictEqual(extras.exitCode, 130)
        assert.match(output, /interrupted/)
        assert.strictEqual(fake.interrupted(), 1)
      })
  )

  inTasks(
    "that reaches its limit says what it has done, with exit code 1",
    { turns: [{ text: "So far: a.", calls: ["echo one"] }] },
    ({ fake, run }) =>
      Effect.gen(function* () {
        const { extras } = yield* run('x=$(task:general -d Test -p go --max-turns 1); echo "$? <$x>"')
        assert.strictEqual(extras.stdout, "1 <So far: a.>\n")
        assert.match(extras.stderr ?? "", /did not finish \(turns\).*\nIt has run:\n {2}echo one\n/)
        assert.strictEqual(fake.requests.length, 1)
      })
  )

  inTasks(
    "begins with a skill's instructions",
    {
      turns: [{ text: "ok" }],
      prepare: ({ put }) =>
        put(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: PDFs\n---\nUse the scissors.\n")
    },
    ({ fake, run }) =>
      Effect.gen(function* () {
        assert.include((yield* run("task:skill -d Test -p go")).output, "Invalid parameters: --skill is missing")
        assert.include((yield* run("task:skill:pdf -d Test -p go")).output, "task:skill --skill pdf")
        assert.include((yield* run("task:skill --skill pfd -d Test -p go")).output, "pdf")
        assert.strictEqual(fake.requests.length, 0)
        assert.strictEqual((yield* run("task:skill --skill pdf -d Test -p go")).extras.stdout, "ok\n")
        assert.include(JSON.stringify(fake.requests[0]?.[0]), "Use the scissors.")
      })
  )

  inTasks(
    "of a type that a file defines has its instructions, its model and its turns; an unknown one names the nearest",
    {
      turns: [{ text: "reviewed" }],
      prepare: ({ home, put }) => {
        put(
          ".claude/agents/reviewer.md",
          "---\nname: reviewer\ndescription: Reviews code.\ntools: Read, Grep\nmodel: big-one\n---\nBe strict.\n"
        )
        put(`${home}/agents/mine.md`, "---\ndescription: Mine.\nfoo: bar\n---\nHi.\n")
        put(".claude/agents/general.md", "---\ndescription: Another general.\n---\nHi.\n")
      }
    },
    ({ fake, models, run }) =>
      Effect.gen(function* () {
        const { extras } = yield* run("task:list")
        assert.strictEqual(
          extras.stdout,
          "task:explore (read-only): A sub-agent that searches and reads; it can't write.\n" +
            "task:general: A sub-agent for a task of several steps, with the same rights as you.\n" +
            "task:general (the project's): Another general. [it can't be used: general is a name of Synapse's own]\n" +
            "task:mine (the user's): Mine. [ignored: foo]\n" +
            "task:reviewer (read-only, the project's): Reviews code.\n" +
            "task:skill: Does a task by a skill's instructions: --skill NAME.\n"
        )
        assert.match((yield* run("task:reviewr -d x -p y")).output, /Did you mean task:reviewer\?/)
        assert.match((yield* run("task:reviewr -p y")).output, /^Unknown type of sub-agents: reviewr/)
        assert.match((yield* run("task:general-purpose -d x -p y")).output, /task:general -d/)
        assert.match((yield* run("command:search reviews")).output, /^task:reviewer - "Reviews code."/)
        if (!isSandboxed) return
        assert.strictEqual((yield* run("task:reviewer -d x -p y")).extras.stdout, "reviewed\n")
        assert.deepStrictEqual(models, ["big-one"])
        assert.include(JSON.stringify(fake.requests[0]?.[0]), "Be strict.")
      })
  )

  inTasks(
    "that may not write is refused where there is no sandbox",
    { turns: [{ text: "never" }], enabled: false },
    ({ fake, run }) =>
      Effect.gen(function* () {
        const { extras, output } = yield* run("task:explore -d Test -p go")
        assert.strictEqual(extras.exitCode, 1)
        assert.include(output, "there is no sandbox")
        assert.strictEqual(fake.requests.length, 0)
      })
  )
})

describe.skipIf(!isSandboxed)("the rights of a sub-agent", () => {
  /** Takes its command lines from the prompt, one a turn, and answers with the last result. */
  const obedient: FakeModel.Script = (messages) => {
    const lines = String(JSON.parse(last(messages.slice(1, 2)))[0].text).split("\n---\n")
    const done = messages.filter(({ role }) => role === "tool").length
    return done < lines.length ? { calls: [lines[done] ?? ""] } : { text: JSON.parse(last(messages))[0].result }
  }
  const tell = (type: string, ...lines: ReadonlyArray<string>) =>
    `task:${type} -d Test -p ${Quote.quote(lines.join("\n---\n"))}`

  inTasks(
    "are its parent's: what one may write, the other may, and the blacklist holds",
    { turns: obedient, blacklist: ["secret"] },
    ({ cwd, outside, put, run }) =>
      Effect.gen(function* () {
        put(".env", "TOKEN=1\n")
        put("secret", "hidden\n")
        yield* run("export FOO=bar; true")
        const attack = `echo z > made; for f in .en? sec*t; do cat $f; done; echo x > ${outside}/no; echo "<$FOO>"`
        const { output } = yield* run(tell("general", attack))
        assert.strictEqual(Fs.readFileSync(`${cwd}/made`, "utf8"), "z\n")
        assert.match(output, /<>/)
        assert.notMatch(output, /TOKEN|hidden/)
        assert.isFalse(Fs.existsSync(`${outside}/no`))
        // The other way round, where it works from is not made readable by that.
        const within = yield* run(
          `mkdir real; ln -s real .envrc; echo x > real/key; cd real; ${tell("general", "cat key .envrc/key")}`
        )
        assert.match(within.output, /x|denied|No such/)
      })
  )

  inTasks(
    "do not grow by a sandbox.json that was changed since, nor by one in the project; what it denies by now is denied",
    { turns: obedient },
    ({ cwd, home, outside, put, run }) =>
      Effect.gen(function* () {
        yield* run("true")
        put("late", "hidden\n")
        const filesystem = { whitelist: [outside], blacklist: [`${cwd}/late`] }
        put(`${home}/sandbox.json`, JSON.stringify({ policy: { filesystem } }))
        put("sandbox.json", JSON.stringify({ enabled: false }))
        const attack = `o=${outside}; echo x > $o/new; for f in lat?; do cat $f; done; echo x > f`
        for (const line of [tell("general", attack), `cd /; cd - >/dev/null; ${tell("general", attack)}`]) {
          const { output } = yield* run(line)
          assert.notInclude(output, "hidden")
          assert.isFalse(Fs.existsSync(`${outside}/new`), output)
          assert.isTrue(Fs.existsSync(`${cwd}/f`))
        }
      })
  )

  inTasks(
    "that only reads are what its parent reads, and a directory of its own that its parent does not see",
    { turns: obedient },
    ({ cwd, put, run }) =>
      Effect.gen(function* () {
        put(".env", "TOKEN=1\n")
        put("sub/file", "content\n")
        const mark = `synapse-test-${process.pid}-mark`
        const attack =
          `cat sub/file; cat .en?; echo "$TMPDIR"; echo x > $TMPDIR/${mark} && cat $TMPDIR/${mark}; mktemp >/dev/null && cat <<<here;` +
          "echo x > new; echo x > sub/file; rm sub/file; mkdir d; write new2 text; edit sub/file content c"
        const { output } = yield* run(tell("explore", attack))
        assert.match(output, /^content\n/)
        for (const line of ["/tmp", "x", "here"]) assert.include(output.split("\n"), line)
        assert.notMatch(output, /TOKEN/)
        assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), [".env", "sub"])
        assert.strictEqual(Fs.readFileSync(`${cwd}/sub/file`, "utf8"), "content\n")
        assert.isFalse(Fs.existsSync(`/tmp/${mark}`))
        assert.include((yield* run(tell("explore", `ls /tmp/${mark}; mcp:a:b; mcp:`))).output, "No such file")
      })
  )
})
