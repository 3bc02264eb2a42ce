import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import * as PermissionPrompt from "../../../src/sandbox/permission/PermissionPrompt.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { RuleSource } from "../../../src/sandbox/policy/SandboxPolicy.js"

const rule = (source: RuleSource) => ({ pattern: "~/.ssh", path: "/home/ada/.ssh", kind: "path" as const, source })

const request = (fields: Partial<Permission.PermissionRequest> = {}): Permission.PermissionRequest => ({
  resource: "/data/out",
  access: "write",
  rule: PolicyDecision.notWhitelisted,
  command: "cp a /data/out",
  reason: "read only",
  ...fields
})

const all: ReadonlyArray<Permission.Answer> = ["allow_once", "allow_session", "allow_permanent", "deny"]
const secret = request({ resource: "/home/ada/.ssh/id_rsa", access: "read", rule: rule("default") })

describe("what may be answered", () => {
  it("is everything about a place that is only not whitelisted", () =>
    assert.deepStrictEqual(Permission.choices(request()), all))

  it("is nothing for good about what the user's own rule denies, and reading for good what a built-in one does", () => {
    const builtIn = rule("default")
    assert.deepStrictEqual(Permission.choices({ ...secret, resource: builtIn.path, rule: builtIn }), [
      "allow_once",
      "allow_session",
      "allow_permanent",
      "deny"
    ])
    assert.deepStrictEqual(Permission.choices({ ...secret, access: "write", rule: builtIn }), ["deny"])
    for (const source of ["file", "user", "runtime"] as const) {
      const hidden = rule(source)
      // A file of a hidden directory needs a new sandbox, which a command alone does not get.
      assert.deepStrictEqual(Permission.choices({ ...secret, rule: hidden }), ["allow_session", "deny"])
      assert.deepStrictEqual(Permission.choices({ ...secret, access: "write", rule: hidden }), ["deny"])
      assert.deepStrictEqual(Permission.choices({ ...secret, resource: hidden.path, rule: hidden }), [
        "allow_once",
        "allow_session",
        "deny"
      ])
    }
  })

  it("is nothing permanent for a task, whose policy ends with it", () => {
    const task = { type: "general", description: "build" }
    assert.deepStrictEqual(Permission.choices(request({ task })), ["allow_once", "allow_session", "deny"])
    assert.deepStrictEqual(Permission.choices({ ...secret, task }), ["allow_session", "deny"])
  })

  it("is a denial about the network, our own files, and what no sandbox may write", () => {
    for (const fields of [
      { access: "network" },
      { rule: rule("own") },
      { resource: "/" },
      { resource: "/proc/sys" }
    ] as const) {
      assert.deepStrictEqual(Permission.choices(request(fields)), ["deny"])
    }
  })
})

describe("a port", () => {
  const reach = { resource: "localhost:5432", access: "network", rule: rule("default"), hasRun: true } as const
  const machine = request({ ...reach, rule: { ...reach.rule, pattern: "allowedHosts" } })
  const server = request({ resource: "127.0.0.1:3000", access: "open", rule: { ...reach.rule, pattern: "--publish" } })
  const task = { type: "general", description: "build" }

  it("of the machine is not allowed for a command that has run, but from now on", () => {
    assert.deepStrictEqual(Permission.choices(machine), ["allow_session", "allow_permanent", "deny"])
    assert.deepStrictEqual(Permission.choices({ ...machine, task }), ["allow_session", "deny"])
  })

  it("of a server is opened until the session ends, and for no task", () => {
    assert.strictEqual(
      PermissionPrompt.question(server, Permission.choices(server)),
      `
A server in the sandbox could be opened at 127.0.0.1:3000
  rule:    --publish: read only
  after:   cp a /data/out
  [s]ession      you reach it at http://127.0.0.1:3000 until this session ends
  [N]o           it stays closed
Allow it? [s/N] `
    )
    assert.deepStrictEqual(Permission.choices({ ...server, task }), ["deny"])
    const meanwhile = (command: string) => PermissionPrompt.describe({ ...machine, command }).slice(2)
    assert.deepStrictEqual(["ls", ""].map(meanwhile), [["  during:  ls"], []])
  })
})

const ask = (given: Permission.PermissionRequest) =>
  Effect.flatMap(Permission.Permission, (permission) => permission.ask(given))

describe("asking", () => {
  it.effect("nobody is a denial", () =>
    Effect.map(Effect.provide(ask(request()), Permission.layerNone), (answer) => assert.strictEqual(answer, "deny"))
  )

  it.effect("a program gives its answer, by an effect or a promise, and tells it what may be answered", () =>
    Effect.gen(function* () {
      for (const answer of all) {
        const heard: Array<unknown> = []
        const layer = Permission.layerCallback((given, offered) => {
          heard.push(given, offered)
          return heard.length > 2 ? Promise.resolve(answer) : Effect.succeed(answer)
        })
        assert.deepStrictEqual(yield* Effect.provide(Effect.all([ask(request()), ask(request())]), layer), [
          answer,
          answer
        ])
        assert.deepStrictEqual(heard, [request(), all, request(), all])
      }
    })
  )

  it.effect("a program is one question at a time", () =>
    Effect.gen(function* () {
      let open = 0
      const counts: Array<number> = []
      const layer = Permission.layerCallback(() =>
        Effect.gen(function* () {
          counts.push(++open)
          yield* Effect.yieldNow()
          open--
          return "deny" as const
        })
      )
      const both = Effect.flatMap(Permission.Permission, (permission) =>
        Effect.all([permission.ask(request()), permission.ask(request())], { concurrency: 2 })
      )
      yield* Effect.provide(both, layer)
      assert.deepStrictEqual(counts, [1, 1])
    })
  )

  it.effect("never gives for good what the user's own rule denies: the session is the most", () =>
    Effect.gen(function* () {
      const layer = Permission.layerCallback(() => Effect.succeed("allow_permanent"))
      const own = { ...secret, rule: { ...secret.rule, source: "file" } } as const
      assert.strictEqual(yield* Effect.provide(ask(own), layer), "allow_session")
    })
  )

  it.effect("does not ask where there is no choice", () =>
    Effect.gen(function* () {
      const layer = Permission.layerCallback(() => Effect.die("asked"))
      assert.strictEqual(yield* Effect.provide(ask(request({ access: "network" })), layer), "deny")
    })
  )

  it.effect("takes what goes wrong for a denial", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<() => Effect.Effect<Permission.Answer, unknown> | Promise<Permission.Answer>> = [
        () => Effect.fail("no"),
        () => Effect.die("no"),
        () => Promise.reject(new Error("no")),
        () => {
          throw new Error("no")
        },
        () => Promise.resolve(JSON.parse('"yes"')),
        () => Promise.resolve(JSON.parse("null"))
      ]
      for (const answer of wrong) {
        assert.strictEqual(yield* Effect.provide(ask(request()), Permission.layerCallback(answer)), "deny")
      }
    })
  )
})

describe("a task", () => {
  const task = { type: "explore", description: "find it" }

  it.effect("asks whom its parent asks, by its name; one that only reads asks about no write", () =>
    Effect.gen(function* () {
      const asked: Array<Permission.PermissionRequest> = []
      const parent = Permission.make((given) => {
        asked.push(given)
        return Effect.succeed("allow_session")
      })
      for (const isReadOnly of [false, true]) {
        const { ask } = Permission.forTask(parent, task, isReadOnly)
        assert.strictEqual(yield* ask(request()), isReadOnly ? "deny" : "allow_session")
        assert.strictEqual(yield* ask(secret), "allow_session")
      }
      assert.deepStrictEqual(asked, [request({ task }), { ...secret, task }, { ...secret, task }])
    })
  )
})

describe("the question at a terminal", () => {
  it("names the task that it is asked for, and what ends with it", () => {
    const given = request({ task: { type: "general", description: "build\x1b[2J it" } })
    assert.strictEqual(
      PermissionPrompt.question(given, Permission.choices(given)),
      `
The sandbox denied to write /data/out
  rule:    not whitelisted: read only
  command: cp a /data/out
  task:    Task(general: build\\u001b[2J it)
  [o]nce         this command may write it
  [s]ession      every command of this task may write it until the task ends
  [N]o           it stays denied
Allow it? [o/s/N] `
    )
  })

  it("says what, which rule, why and for which command, and the choices", () =>
    assert.strictEqual(
      PermissionPrompt.question(secret, Permission.choices(secret)),
      `
The sandbox denied to read /home/ada/.ssh/id_rsa
  rule:    ~/.ssh: read only
  command: cp a /data/out
  [s]ession      every command may read it until this session ends
  permanently    every command may read it from now on: sandbox.json will allow it
  [N]o           it stays denied
Allow it? [s/permanently/N] `
    ))

  it("lets no text of the model play with the terminal", () => {
    const command = "\x1b[2J\r\nrule: \u202egnp\u202c \u200b\x07\u2028é🙂"
    assert.strictEqual(
      PermissionPrompt.printable(command),
      "\\u001b[2J\\r\\nrule: \\u202egnp\\u202c \\u200b\\u0007\\u2028é🙂"
    )
    for (const blank of [" ", "\u00a0", "\u2003", "\u3000", "\u2800", "\u3164", "\t"]) {
      const shown = PermissionPrompt.printable(`cat x${blank.repeat(80)}  [o]nce`)
      assert.notMatch(shown, /[\s\u2800\u3164]{4}/, JSON.stringify(blank))
      assert.match(shown, /^cat x.*\[o\]nce$/)
    }
    const long = PermissionPrompt.printable(`${"a".repeat(1000)}; rm -rf /`)
    assert.isBelow(long.length, 700)
    assert.include(long, " more … ")
    assert.isTrue(long.endsWith("; rm -rf /"))
  })
})
