import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as Diagnostic from "../../src/domain/Diagnostic.js"
import * as Permission from "../../src/sandbox/permission/Permission.js"
import * as PolicyDecision from "../../src/sandbox/policy/PolicyDecision.js"
import { NotThere } from "../../src/sandbox/SandboxBackend.js"
import * as Directory from "../support/sandbox/Directory.js"
import { denied, FakeProvider, type Options, withManager } from "../support/sandbox/Managed.js"
import { notices } from "../support/Told.js"

const inDirectory = <A, E>(use: (options: Options) => Effect.Effect<A, E>) =>
  Effect.scoped(
    Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([home, cwd]) =>
      use({ home, cwd, settings: { blacklist: ["*.pem"] } })
    )
  )

/** Answers with the next of these, then with `deny`; what it was asked is noted. */
const answering = (...answers: ReadonlyArray<Permission.Answer>) => {
  const asked: Array<Permission.PermissionRequest> = []
  const permission = Permission.layerCallback((request) => {
    asked.push(request)
    return Effect.succeed(answers[asked.length - 1] ?? "deny")
  })
  return { asked, permission }
}

const unwritable = { access: "write", rule: PolicyDecision.notWhitelisted.pattern, source: "default" } as const

/** A sandbox that denies every command that reads a.pem, as long as it has no right to. */
const guarded = () => {
  const provider: FakeProvider = new FakeProvider((command) => {
    const open = provider.events
      .filter((event) => /^(grant|revoke)/.test(event))
      .at(-1)
      ?.startsWith("grant")
    return command === "cat a.pem" && open !== true ? denied("/p/a.pem") : { stdout: command }
  })
  return provider
}

const cannot = new ExecutionFailed({ kind: "sandbox", reason: "this sandbox can't be changed while it runs" })

describe("a command that the policy denies", () => {
  it.live("is blocked where nobody is to be asked, and the error says by which rule", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const error = yield* withManager(guarded(), options, ({ execute }) => Effect.flip(execute("cat a.pem")))
        assert.deepInclude({ ...error }, { _tag: "Blocked", resource: "*.pem", rule: "*.pem", reason: "a secret" })
        assert.match(error.message, /The command was not run\. /)
      })
    )
  )

  it.live("says in the error of a command that was not run what its result would have told", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const diagnostics = [
          Diagnostic.notice("A new shell was started."),
          { _tag: "Awaiting" as const, name: "/p/b.pem" }
        ]
        const provider = new FakeProvider(() => ({ ...denied("/p/a.pem"), diagnostics }))
        const error = yield* withManager(provider, options, ({ execute }) => Effect.flip(execute("cat a.pem")))
        assert.deepStrictEqual(error._tag === "Blocked" && error.diagnostics, diagnostics)
        assert.include(error.message, "/p/b.pem is allowed by now, for a new shell: call with restart: true.")
      })
    )
  )

  it.live("is asked about with the rule, and stays blocked after deny and after a question that fails", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const { asked, permission } = answering("deny")
        const failing = Permission.layerCallback(() => Effect.fail("no terminal"))
        for (const layer of [permission, failing]) {
          const provider = guarded()
          const error = yield* withManager(provider, { ...options, permission: layer }, ({ execute }) =>
            Effect.flip(execute("cat a.pem"))
          )
          assert.strictEqual(error._tag, "Blocked")
          assert.deepStrictEqual(provider.events, ["create 1", "run cat a.pem in 1", "dispose 1"])
        }
        const [request] = asked
        assert.deepInclude(request, { resource: "/p/a.pem", access: "read", command: "cat a.pem", reason: "a secret" })
        assert.deepInclude(request?.rule, { pattern: "*.pem", source: "user" })
      })
    )
  )

  it.live("allow_once: runs with the right, and no other command has it, at the same time or later", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const { asked, permission } = answering("allow_once")
        const provider = guarded()
        yield* withManager(provider, { ...options, permission }, ({ execute }) =>
          Effect.gen(function* () {
            const both = Effect.all([execute("cat a.pem"), execute("other")], { concurrency: "unbounded" })
            assert.strictEqual((yield* both)[0].stdout, "cat a.pem")
            assert.strictEqual((yield* Effect.flip(execute("cat a.pem")))._tag, "Blocked")
          })
        )
        assert.strictEqual(asked.length, 2)
        const at = provider.events.indexOf("grant read /p/a.pem in 1")
        assert.deepStrictEqual(provider.events.slice(at + 1, at + 3), [
          "run cat a.pem in 1",
          "revoke read /p/a.pem in 1"
        ])
        assert.strictEqual(provider.policies.length, 1)
      })
    )
  )

  it.live("allow_once: a right that can't be taken back ends the sandbox, and the result says so", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = guarded()
        provider.revoking = cannot
        yield* withManager(provider, { ...options, ...answering("allow_once") }, ({ execute }) =>
          Effect.gen(function* () {
            const { diagnostics, stdout } = yield* execute("cat a.pem")
            assert.strictEqual(stdout, "cat a.pem")
            assert.match(
              notices({ diagnostics })?.join() ?? "",
              /^A new shell was started, and variables, functions and background jobs are gone: \/p\/a\.pem was allowed once/
            )
            yield* execute("a")
            assert.isUndefined(notices(yield* execute("b")))
          })
        )
        assert.deepStrictEqual(provider.events.slice(-6), [
          "revoke read /p/a.pem in 1",
          "dispose 1",
          "create 2",
          "run a in 2",
          "run b in 2",
          "dispose 2"
        ])
      })
    )
  )

  it.live("allow_once: is blocked, with the reason, where the sandbox can't give the right", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = guarded()
        provider.granting = cannot
        const error = yield* withManager(provider, { ...options, ...answering("allow_once") }, ({ execute }) =>
          Effect.flip(execute("cat a.pem"))
        )
        assert.strictEqual(error._tag, "Blocked")
        assert.match(error.message, /It was allowed once, but this sandbox can't be changed while it runs\.$/)
        assert.deepStrictEqual(provider.events, [
          "create 1",
          "run cat a.pem in 1",
          "grant read /p/a.pem in 1",
          "dispose 1"
        ])
      })
    )
  )

  it.live("allow_session: keeps the shell, and every sandbox after it has the right", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = guarded()
        yield* withManager(provider, { ...options, ...answering("allow_session") }, (manager) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* manager.execute("cat a.pem")).stdout, "cat a.pem")
            assert.strictEqual((yield* manager.execute("cat a.pem")).stdout, "cat a.pem")
            assert.strictEqual(provider.policies.length, 1)
            yield* manager.shutdown
            yield* manager.execute("other")
          })
        )
        assert.deepStrictEqual(
          provider.policies.map(({ granted = [] }) => granted.map(({ path }) => path)),
          [[], ["/p/a.pem"]]
        )
        assert.notMatch(provider.events.join(), /revoke/)
      })
    )
  )

  it.live("allow_session: takes a new sandbox where the old one can't be changed, and says so", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider((_, made) => (made === 1 ? denied("/p/a.pem") : { stdout: "secret" }))
        provider.granting = cannot
        const result = yield* withManager(provider, { ...options, ...answering("allow_session") }, ({ execute }) =>
          execute("cat a.pem")
        )
        assert.strictEqual(result.stdout, "secret")
        assert.deepStrictEqual(notices(result), [
          "A new shell was started, and variables, functions and background jobs are gone: only a new sandbox can have /p/a.pem allowed."
        ])
        assert.deepStrictEqual(provider.policies[1]?.granted?.[0]?.path, "/p/a.pem")
      })
    )
  )

  it.live("allow_permanent: writes exactly what was asked to sandbox.json: for a new file, its directory", () =>
    inDirectory((options) =>
      Effect.scoped(
        Effect.gen(function* () {
          const outside = yield* Directory.make
          const [directory, file] = [`${outside}/[a] b`, `${outside}/[a] b/new`]
          Fs.mkdirSync(directory)
          const provider = new FakeProvider(() => denied(file, "verified-text", unwritable))
          const { asked, permission } = answering("allow_permanent")
          const result = yield* withManager(provider, { ...options, permission }, ({ execute }) => execute("touch it"))
          assert.strictEqual(result.exitCode, 1)
          assert.deepStrictEqual(
            asked.map(({ reason, resource }) => [resource, reason]),
            [[directory, `a secret; to make ${file} takes its whole directory`]]
          )
          assert.deepStrictEqual(notices(result), [`Allowed: '${directory}' now: run the command again.`])
          const { whitelist } = JSON.parse(Fs.readFileSync(`${options.home}/sandbox.json`, "utf8")).policy.filesystem
          assert.deepStrictEqual(whitelist, [directory.replaceAll(/[[\]]/g, "\\$&")])
          assert.deepStrictEqual(provider.events.slice(1, 3), ["run touch it in 1", `grant write ${directory} in 1`])
        })
      )
    )
  )

  it.live("is not asked about where a yes would change nothing", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const mounted = { ...unwritable, next: "Ask the user to do it." }
        const provider = new FakeProvider(() => denied(options.cwd, "verified-text", mounted))
        const { asked, permission } = answering("allow_session")
        yield* withManager(provider, { ...options, permission }, ({ execute }) => execute("rmdir it"))
        assert.deepStrictEqual(asked, [])
      })
    )
  )

  it.live("allow_permanent: a right that can't be given leaves nothing behind", () =>
    inDirectory((options) =>
      Effect.scoped(
        Effect.gen(function* () {
          const outside = yield* Directory.make
          const provider = new FakeProvider(() => denied(outside, "verified-text", unwritable))
          provider.granting = new NotThere({ resource: outside })
          const result = yield* withManager(provider, { ...options, ...answering("allow_permanent") }, ({ execute }) =>
            execute("touch it")
          )
          assert.match(notices(result)?.[0] ?? "", /^Allowed: .*, but .* does not exist/)
          assert.isFalse(Fs.existsSync(`${options.home}/sandbox.json`))
        })
      )
    )
  )

  it.live("is not asked about where no answer could take effect", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        for (const [resource, more] of [
          ["/usr/new/file", unwritable],
          ["/p/a.pem", { access: "write" }]
        ] as const) {
          const { asked, permission } = answering("allow_session")
          const provider = new FakeProvider(() => denied(resource, "verified-text", more))
          const result = yield* withManager(provider, { ...options, permission }, ({ execute }) => execute("touch it"))
          assert.deepStrictEqual([result.blocked, asked.length], [true, 0], resource)
        }
      })
    )
  )

  it.live("allow_permanent: a file that can't be written costs neither the result nor the right for the session", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider(() => denied("/usr/share", "verified-text", unwritable))
        const result = yield* withManager(
          provider,
          { ...options, ...answering("allow_permanent") },
          ({ execute, getSandbox }) =>
            Effect.gen(function* () {
              yield* getSandbox(options.cwd)
              Fs.writeFileSync(`${options.home}/sandbox.json`, "{")
              return yield* execute("touch /usr/share/new")
            })
        )
        assert.match(notices(result)?.[0] ?? "", /run the command again\. Not for good: .*sandbox\.json/)
        assert.strictEqual(Fs.readFileSync(`${options.home}/sandbox.json`, "utf8"), "{")
      })
    )
  )

  it.live("is never allowed for good what the user's own rule denies, nor at all what is Synapse's own", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const secret = new FakeProvider(() =>
          denied("/home/ada/.ssh/id", "preflight", { rule: "~/.ssh", source: "file" })
        )
        yield* withManager(secret, { ...options, ...answering("allow_permanent") }, ({ execute }) =>
          Effect.flip(execute("cat ~/.ssh/id"))
        )
        assert.isFalse(Fs.existsSync(`${options.home}/sandbox.json`))
        const file = `${options.home}/sandbox.json`
        const own = new FakeProvider(() =>
          denied(file, "verified-text", { access: "write", rule: options.home, source: "own" })
        )
        const { asked, permission } = answering("allow_permanent")
        const result = yield* withManager(own, { ...options, permission }, ({ execute }) =>
          execute("echo >sandbox.json")
        )
        assert.deepStrictEqual([asked.length, result.blocked, notices(result)], [0, true, undefined])
        assert.isFalse(Fs.existsSync(file))
      })
    )
  )

  it.live("keeps its result where it ran; allowed once, the right is there when the same command comes again", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        let runs = 0
        const provider = new FakeProvider((command) =>
          command === "build" && ++runs === 1 ? denied("/p/a.pem", "verified-text") : { stdout: command }
        )
        yield* withManager(provider, { ...options, ...answering("allow_once") }, ({ execute }) =>
          Effect.gen(function* () {
            const result = yield* execute("build")
            assert.deepStrictEqual([result.exitCode, result.blocked], [1, true])
            assert.deepStrictEqual(notices(result), ["Allowed: /p/a.pem once, for this command: run it again."])
            yield* execute("other")
            yield* execute("build")
            yield* execute("build")
          })
        )
        assert.deepStrictEqual(provider.events, [
          "create 1",
          "run build in 1",
          "grant read /p/a.pem in 1",
          "revoke read /p/a.pem in 1",
          "run other in 1",
          "grant read /p/a.pem in 1",
          "run build in 1",
          "revoke read /p/a.pem in 1",
          "run build in 1",
          "dispose 1"
        ])
      })
    )
  )

  it.live("what was allowed once holds until the command has run without a further denial", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const paths = ["/p/a.pem", "/p/b.pem"]
        let runs = 0
        const provider = new FakeProvider((command) => {
          const path = paths[runs++]
          return path === undefined ? { stdout: command } : denied(path, "verified-text")
        })
        const answers = answering("allow_once", "allow_once")
        yield* withManager(provider, { ...options, ...answers }, ({ execute }) => Effect.repeatN(execute("build"), 3))
        const last = provider.events.slice(provider.events.lastIndexOf("grant read /p/a.pem in 1"))
        assert.deepStrictEqual(last, [
          "grant read /p/a.pem in 1",
          "grant read /p/b.pem in 1",
          "run build in 1",
          "revoke read /p/b.pem in 1",
          "revoke read /p/a.pem in 1",
          "run build in 1",
          "dispose 1"
        ])
      })
    )
  )

  it.live("is asked about each resource once, and the network never", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const stubborn = new FakeProvider(() => denied("/p/a.pem"))
        const always = answering("allow_once", "allow_once", "allow_once")
        const error = yield* withManager(stubborn, { ...options, ...always }, ({ execute }) =>
          Effect.flip(execute("a"))
        )
        assert.deepStrictEqual([error._tag, always.asked.length], ["Blocked", 1])
        const remote = new FakeProvider(() =>
          denied("example.com", "verified-text", { access: "network", rule: "allowNetwork: false", source: "default" })
        )
        const never = answering("allow_permanent")
        const result = yield* withManager(remote, { ...options, ...never }, ({ execute }) => execute("curl"))
        assert.deepStrictEqual([result.blocked, never.asked.length], [true, 0])
      })
    )
  )
})
