/** Which names a command can have, against a real bash: an accepted one answers, a refused one changes nothing. */
import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type { CommandHandler } from "../../src/command/CommandHandler.js"
import * as CommandName from "../../src/command/CommandName.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import { InvalidName } from "../../src/domain/InvalidName.js"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Handlers from "../support/Handlers.js"
import { withSession } from "../support/Session.js"
import * as Directory from "../support/sandbox/Directory.js"

const says = (name: string): CommandHandler => ({
  name,
  summary: "s",
  usage: "u",
  run: (call) => Effect.succeed(CommandResult.make({ stdout: `${JSON.stringify([call.name, ...call.args])}\n` }))
})

const answer = (name: string) => `${JSON.stringify([name, "a"])}\n`

const run = (command: string) =>
  Effect.flatMap(Toolset, (toolset) =>
    toolset.handle({ id: crypto.randomUUID(), name: "Bash", arguments: JSON.stringify({ command, timeout: 20_000 }) })
  )

const inApp = <A, E>(use: Effect.Effect<A, E, Synapse.Services>) =>
  Effect.scoped(
    Effect.flatMap(Directory.make, (cwd) =>
      Effect.provide(
        use,
        Synapse.layer(
          { cwd },
          { sandbox: { enabled: false, home: `${cwd}/home` }, commands: { "mcp:*": false, "skill:*": false } }
        )
      )
    )
  )

/** Adds what can be added, for the test's duration; returns the names that were added. */
const added = (names: Iterable<string>) =>
  Effect.gen(function* () {
    const registry = yield* CommandRegistry.CommandRegistry
    const accepted: Array<string> = []
    for (const name of new Set(names)) {
      const before = registry.list()
      const result = yield* Effect.either(registry.add(says(name)))
      if (result._tag === "Right") accepted.push(name)
      else if (result.left._tag === "InvalidName") {
        assert.strictEqual(registry.list(), before)
        assert.notStrictEqual(registry.find(name)?.name, name)
      }
    }
    return accepted
  })

/** All names, called on their own and within a line. */
const answerAll = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const called = names.map((name) => (name.endsWith("*") ? `${name.slice(0, -1)}x` : name))
    for (const name of called) {
      const { output } = yield* run(`${name} a`)
      assert.strictEqual(output, answer(name))
    }
    const { output } = yield* run(["true", ...called.map((name) => `${name} a | cat`)].join("\n"))
    assert.strictEqual(output, called.map(answer).join("") || "(no output)")
    assert.strictEqual((yield* run("echo still; cd . && /bin/ls -d /")).output, "still\n/\n")
  })

const refused: ReadonlyArray<string> = [
  "",
  " ",
  "a b",
  "a\tb",
  "a\nb",
  "a\0b",
  "a\u00a0b",
  "a\u200bb",
  "'a'",
  'a"b',
  "a/b",
  "../a",
  ".",
  "..",
  "-a",
  "--help",
  "A=1",
  "a=b",
  "a;b",
  "a&",
  "a|b",
  "$a",
  "`a`",
  "a>b",
  "(a)",
  "{",
  "}",
  "!",
  "[[",
  "]]",
  "~a",
  "#a",
  "%1",
  "^a",
  "a*b",
  "a?",
  "[a]",
  "a\\b",
  "a,b",
  "12",
  "*",
  ":*",
  "e*",
  "git-*",
  "a:**",
  "e\u0301a",
  "\ud800a",
  "a\u202eb",
  "a".repeat(256),
  "é".repeat(128),
  "command_not_found_handle",
  "__synapse_call",
  "__synapse",
  "Bash",
  "if",
  "builtin",
  "exec",
  "."
]

const interesting = [..."abzAZ019_.:+@-*=/~!#$%^&(){}[]<>|;'\"`\\?, \t\n\0é\u0301ß中\u00a0"]
const names = FastCheck.oneof(
  FastCheck.string({ unit: FastCheck.constantFrom(...interesting), maxLength: 6 }),
  FastCheck.string({ unit: FastCheck.constantFrom(..."abzAZ019_.:+@-é中"), minLength: 1, maxLength: 12 }),
  FastCheck.fullUnicodeString({ maxLength: 8 }),
  FastCheck.string({ unit: FastCheck.constantFrom(..."abcz_:"), minLength: 1, maxLength: 5 }).map((name) => `${name}:*`)
)

describe("the name of a command", () => {
  it("is no reserved word of this bash, and no builtin but read", () => {
    const own = ChildProcess.execFileSync("/bin/bash", ["-c", "compgen -bk"], { encoding: "utf8" }).trim().split("\n")
    assert.isAbove(own.length, 70)
    assert.deepStrictEqual(
      own.filter((name) => CommandName.problemOf(name) === undefined),
      ["read"]
    )
  })

  it("says why it is refused, and what is allowed", () => {
    assert.deepStrictEqual(
      refused.filter((name) => CommandName.problemOf(name) === undefined),
      []
    )
    const message = (name: string) => new InvalidName({ name, reason: CommandName.problemOf(name) ?? "" }).message
    assert.deepStrictEqual(["builtin", "if", "a b"].map(message), [
      'no command can have the name "builtin": it is a builtin of bash, which every line may need',
      'no command can have the name "if": it is a reserved word of bash',
      'no command can have the name "a b": it has white space; a name is one word of letters, digits and _ . : + @ -, and begins with a letter, a digit or _; mcp:* stands for all names that begin with mcp:'
    ])
  })

  it.live(
    "is refused without a trace in the shell",
    () =>
      inApp(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* added(refused), [])
          yield* answerAll([])
        }).pipe(Effect.scoped)
      ),
    60_000
  )

  it.live(
    "is called on its own and within a line, whatever it is",
    () =>
      inApp(
        Effect.gen(function* () {
          const odd =
            "_ __proto__ constructor toString 7z g++ a.b a:b: 10. Now top a- a@ x+ mcp:* mcp:a:* ünï 中文 a::* sudo env nohup timeout xargs nice then_ IF ifs export_ begin reply next open discard leave words over PATH IFS REPLY BASH_ENV slot"
          const accepted = yield* added([...odd.split(" "), "a".repeat(255), "é".repeat(127)])
          assert.strictEqual(accepted.length, odd.split(" ").length + 2)
          yield* answerAll(accepted)
        }).pipe(Effect.scoped)
      ),
    60_000
  )

  it.live(
    "is accepted only where it can be called",
    () =>
      inApp(
        Effect.gen(function* () {
          const sample = FastCheck.sample(names, { numRuns: 300 })
          const accepted = yield* added(sample)
          assert.isAbove(accepted.length, 20)
          yield* answerAll(accepted)
        }).pipe(Effect.scoped)
      ),
    120_000
  )

  it.live(
    "may be that of a program, also of one that the bridge itself uses",
    () => {
      const programs =
        "ls git cat tail head mkdir mv cp rm stat mktemp readlink kill_ env bash sh sed grep dirname xargs".split(" ")
      return withSession(
        (subject) =>
          Effect.gen(function* () {
            const { stdout } = yield* subject.run(
              'write d/f one; write d/f two; read d/f; echo; ls a; git "b c"; printf "ls s\\n" >s; /bin/bash s; \\/bin/ls d; command ls x; cat <s'
            )
            assert.strictEqual(
              stdout,
              'written\nwritten\ntwo\n["ls","a"]\n["git","b c"]\n["ls","s"]\nf\n["ls","x"]\n["cat"]\n'
            )
          }),
        {},
        [...programs.map(says), Handlers.read, Handlers.write]
      )
    },
    60_000
  )
})
