/** Questions for permission of sub-agents, over a scripted model, real shells and a real sandbox. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Quote from "../../src/bash/Quote.js"
import * as TaintedPaths from "../../src/sandbox/config/TaintedPaths.js"
import type * as Permission from "../../src/sandbox/permission/Permission.js"
import type * as FakeModel from "../support/agent/FakeModel.js"
import { inTasks } from "../support/agent/Tasks.js"
import * as Ground from "../support/escape/Ground.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Directory from "../support/sandbox/Directory.js"

const ground = Ground.take("root")

const last = (messages: ReadonlyArray<{ readonly content: unknown }>) => JSON.stringify(messages.at(-1)?.content)

/** Takes its command lines from the prompt, one a turn, and answers with all results; `restart ` restarts the shell. */
const obedient: FakeModel.Script = (messages) => {
  const lines = String(JSON.parse(last(messages.slice(1, 2)))[0].text).split("\n---\n")
  const results = messages.flatMap(({ content, role }) =>
    role === "tool" ? [(content as unknown as ReadonlyArray<{ readonly result: string }>)[0]?.result ?? ""] : []
  )
  const [, restart, command] = /^(restart )?([\s\S]*)$/.exec(lines[results.length] ?? "") ?? []
  return results.length < lines.length
    ? { calls: [{ arguments: restart === undefined ? { command } : { command, restart: true } }] }
    : { text: results.map((result) => result.split("\n")[0]).join("\n") }
}

const tell = (type: string, description: string, ...lines: ReadonlyArray<string>) =>
  `task:${type} -d ${Quote.quote(description)} -p ${Quote.quote(lines.join("\n---\n"))}`

/** Keeps the questions, and answers them by their commands. */
const answering = (answers: Readonly<Record<string, Permission.Answer>>) => {
  const asked: Array<readonly [request: Permission.PermissionRequest, offered: ReadonlyArray<Permission.Answer>]> = []
  return {
    asked,
    answer: (request: Permission.PermissionRequest, offered: ReadonlyArray<Permission.Answer>) => {
      asked.push([request, offered])
      return Effect.succeed(answers[request.command] ?? "deny")
    }
  }
}

describe.skipIf(!isSandboxed)("a sub-agent that is denied something", () => {
  {
    const { answer, asked } = answering({ "cat .env": "allow_once", "cat '.env'": "allow_permanent" })
    inTasks(
      "has its user asked, by the name of its task, and gets what was allowed: once, or until the task ends",
      { turns: obedient, answer },
      ({ put, run }) =>
        Effect.gen(function* () {
          put(".env", "TOKEN=1\n")
          const { extras } = yield* run(
            tell(
              "general",
              "look up",
              "cat .env",
              "cat < .env",
              "cat '.env'",
              "cat < .env",
              "restart exit 3",
              "cat < .env"
            )
          )
          const results = (extras.stdout ?? "").split("\n")
          assert.strictEqual(results[0], "TOKEN=1")
          assert.match(results[1] ?? "", /^sandbox: .* is blocked by rule /)
          // What was allowed until its end outlives its shell.
          assert.deepStrictEqual([results[2], results[3], results[5]], ["TOKEN=1", "TOKEN=1", "TOKEN=1"])
          assert.deepStrictEqual<unknown>(
            asked.map(([{ command, task }, offered]) => [command, task, offered]),
            ["cat .env", "cat < .env", "cat '.env'"].map((command) => [
              command,
              { type: "general", description: "look up" },
              ["allow_once", "allow_session", "deny"]
            ])
          )
          // It was the task's alone.
          assert.include((yield* run("cat < .env")).output, "blocked")
          assert.include((yield* run(tell("general", "again", "cat < .env"))).output, "blocked")
          assert.lengthOf(asked, 5)
        })
    )
  }

  {
    const { answer, asked } = answering({})
    inTasks(
      "and only reads has nobody asked about a write, but about a secret that it wants to read",
      { turns: obedient, answer },
      ({ cwd, outside, put, run }) =>
        Effect.gen(function* () {
          put(".env", "TOKEN=1\n")
          put("file", "as it was\n")
          yield* run(
            tell(
              "explore",
              "look",
              "echo x > file",
              `echo x > ${outside}/new`,
              `echo x > ${outside}/tmp/new`,
              "cat .env"
            )
          )
          assert.deepStrictEqual(
            asked.map(([{ access, command, resource, task }]) => [access, command, resource, task?.type]),
            [["read", "cat .env", `${cwd}/.env`, "explore"]]
          )
          assert.strictEqual(Fs.readFileSync(`${cwd}/file`, "utf8"), "as it was\n")
        })
    )
  }

  if (ground !== undefined) {
    let asked: ReadonlyArray<readonly [access: string, resource: string, offered: ReadonlyArray<string>]> = []
    inTasks(
      "writes where it was allowed, in a new sandbox too; the place is remembered as one that commands could write",
      {
        turns: obedient,
        answer: ({ access, resource }, offered) => {
          asked = [...asked, [access, resource, offered]]
          return Effect.succeed("allow_session")
        }
      },
      ({ home, run }) =>
        Effect.gen(function* () {
          asked = []
          const out = Fs.mkdtempSync(`${ground}/out-`)
          const first = `echo x > ${out}/new`
          yield* run(tell("general", "build", first, first, `restart echo y > ${out}/new2`))
          assert.deepStrictEqual(Directory.list(out), ["new", "new2"])
          assert.deepStrictEqual(asked, [["write", out, ["allow_once", "allow_session", "deny"]]])
          // Later sessions follow no link that the task may have left there.
          Fs.symlinkSync("/etc", `${out}/link`)
          assert.isDefined(TaintedPaths.doubt(home, `${out}/link/x`))
          // The session itself is denied it, and asked for.
          assert.include((yield* run(`d=${out}; echo x > $d/new3`)).output, "Read-only file system")
          assert.lengthOf(asked, 2)
        })
    )
  }
})

describe.skipIf(!isSandboxed)("a question of a task", () => {
  const state = { begun: 0, interrupted: 0 }
  inTasks(
    "is taken away where the task is cancelled",
    {
      turns: obedient,
      answer: () => {
        state.begun++
        return Effect.onInterrupt(Effect.never, () => Effect.sync(() => state.interrupted++))
      }
    },
    ({ put, run, toolset }) =>
      Effect.gen(function* () {
        put(".env", "TOKEN=1\n")
        const fiber = yield* Effect.fork(run(tell("general", "look", "cat .env")))
        while (state.begun === 0) yield* Effect.sleep(10)
        assert.isTrue(yield* toolset.cancel("1"))
        assert.strictEqual((yield* Fiber.join(fiber)).extras.exitCode, 130)
        while (state.interrupted === 0) yield* Effect.sleep(10)
        assert.strictEqual(state.begun, 1)
      })
  )
})
