import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as Directory from "../support/sandbox/Directory.js"
import { FakeProvider, type Options, withManager } from "../support/sandbox/Managed.js"

const inDirectory = <A, E>(use: (options: Options) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([home, cwd]) => use({ home, cwd })))

const fails = (reason: string, kind: ExecutionFailed["kind"] = "sandbox") => new ExecutionFailed({ kind, reason })

const patterns = (provider: FakeProvider) =>
  provider.policies.map(({ whitelist }) =>
    whitelist.filter(({ source }) => source === "runtime").map(({ path }) => path)
  )

describe("SandboxManager", () => {
  it.live("S53: makes a sandbox with the first call, and the same for every other", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, (manager) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(provider.events, [])
            const [one, two] = [yield* manager.getSandbox("/workspace"), yield* manager.getSandbox("/workspace")]
            assert.strictEqual(one, two)
            assert.deepStrictEqual(provider.events, ["create 1"])
            assert.notStrictEqual(yield* manager.getSandbox("/elsewhere"), one)
          })
        )
        assert.deepStrictEqual(provider.events, ["create 1", "dispose 1", "create 2", "dispose 2"])
      })
    )
  )

  it.live("S53: makes one for twenty that ask at the same time", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        provider.creating = Effect.yieldNow()
        const made = yield* withManager(provider, options, ({ getSandbox }) =>
          Effect.forEach(Array.from({ length: 20 }), () => getSandbox("/workspace"), { concurrency: "unbounded" })
        )
        assert.strictEqual(new Set(made).size, 1)
        assert.deepStrictEqual(provider.events, ["create 1", "dispose 1"])
      })
    )
  )

  it.live("S54: makes none where it is switched off: by the settings, or by sandbox.json", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        const run = (options: Options) =>
          withManager(provider, options, (manager) =>
            Effect.gen(function* () {
              const { policy } = yield* manager.getSandbox(options.cwd)
              assert.isUndefined(policy)
              yield* manager.execute("kept=1")
              yield* manager.addRuntimeWhitelist("/path1")
              return (yield* manager.execute("echo $kept; echo x > out; cat out")).stdout
            })
          )
        assert.strictEqual(yield* run({ ...options, settings: { enabled: false } }), "1\nx\n")
        Fs.writeFileSync(`${options.home}/sandbox.json`, '{"enabled":false}')
        assert.strictEqual(yield* run(options), "1\nx\n")
        assert.deepStrictEqual(provider.events, [])
      })
    )
  )

  it.live("S55: passes on that none could be made, runs nothing, and tries anew with the next call", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, (manager) =>
          Effect.gen(function* () {
            provider.creating = fails("create failed")
            assert.strictEqual((yield* Effect.flip(manager.getSandbox("/workspace"))).message, "create failed")
            const error = yield* Effect.flip(manager.execute("touch ran"))
            assert.strictEqual(error.message, "create failed")
            assert.deepStrictEqual(Directory.list(options.cwd), [])
            assert.deepStrictEqual(provider.events, [])
            provider.creating = Effect.void
            yield* manager.execute("a")
          })
        )
        assert.deepStrictEqual(provider.events, ["create 3", "run a in 3", "dispose 3"])
      })
    )
  )

  it.live("S55: names a provider that there is not", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        Fs.writeFileSync(`${options.home}/sandbox.json`, '{"provider":"cloud"}')
        const error = yield* withManager(new FakeProvider(), options, ({ execute }) =>
          Effect.flip(execute("touch ran"))
        )
        assert.strictEqual(error.message, 'no sandbox: sandbox.json names the provider "cloud", and there is: local')
        assert.deepStrictEqual(Directory.list(options.cwd), [])
      })
    )
  )

  it.live("S56 S62: builds anew with every path of this session, which no other manager sees", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, (manager) =>
          Effect.gen(function* () {
            yield* manager.getSandbox("/workspace")
            yield* manager.addRuntimeWhitelist("/path1")
            yield* manager.addRuntimeWhitelist("/path2")
            const policy = yield* manager.buildPolicy("/workspace")
            assert.deepStrictEqual(policy, provider.policies[2])
          })
        )
        assert.deepStrictEqual(patterns(provider), [[], ["/path1"], ["/path1", "/path2"]])
        assert.deepStrictEqual(
          provider.events,
          [1, 2, 3].flatMap((n) => [`create ${n}`, `dispose ${n}`])
        )
        yield* withManager(provider, options, ({ getSandbox }) => getSandbox("/workspace"))
        assert.deepStrictEqual(patterns(provider)[3], [])
      })
    )
  )

  it.live("S56: refuses a path that no policy takes, and goes on as it was", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, (manager) =>
          Effect.gen(function* () {
            yield* manager.execute("a")
            assert.match((yield* Effect.flip(manager.addRuntimeWhitelist("/"))).message, /\/ can't be on the whitelist/)
            yield* manager.execute("b")
            yield* manager.addRuntimeWhitelist("/path1")
          })
        )
        assert.deepStrictEqual(patterns(provider), [[], ["/path1"]])
        assert.deepStrictEqual(provider.events.slice(0, 3), ["create 1", "run a in 1", "run b in 1"])
      })
    )
  )

  it.live("S57: replaces a sandbox that crashed, and runs the command once more", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider((_, made) => (made === 1 ? fails("it is gone", "crash") : { stdout: "ok" }))
        const result = yield* withManager(provider, options, ({ execute }) => execute("a"))
        assert.strictEqual(result.stdout, "ok")
        const expected = ["create 1", "run a in 1", "dispose 1", "create 2", "run a in 2", "dispose 2"]
        assert.deepStrictEqual(provider.events, expected)
      })
    )
  )

  it.live("S57: two that meet the same crash do not end each other's new sandbox", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider((_, made) => (made === 1 ? fails("it is gone", "crash") : Effect.succeed({})))
        yield* withManager(provider, options, ({ execute }) =>
          Effect.all([execute("a"), execute("b")], { concurrency: "unbounded" })
        )
        assert.strictEqual(provider.policies.length, 2)
      })
    )
  )

  it.live("S57: gives up at the second crash, and retries no other failure", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        for (const [kind, runs] of [
          ["crash", 2],
          ["timeout", 1],
          ["shell", 1],
          ["io", 1],
          ["sandbox", 1]
        ] as const) {
          const provider = new FakeProvider(() => fails("no", kind))
          const error = yield* withManager(provider, options, ({ execute }) => Effect.flip(execute("a")))
          assert.strictEqual(error.message, "no")
          assert.strictEqual(provider.events.filter((event) => event.startsWith("run")).length, runs, kind)
        }
      })
    )
  )

  it.live(
    "S58: allows to write the directory, what is configured, what this session adds, and the temporary directory",
    () =>
      inDirectory((options) =>
        Effect.gen(function* () {
          Fs.writeFileSync(`${options.home}/sandbox.json`, '{"policy":{"filesystem":{"whitelist":["/data"]}}}')
          const policy = yield* withManager(new FakeProvider(), options, (manager) =>
            Effect.zipRight(manager.addRuntimeWhitelist("/extra"), manager.buildPolicy("/workspace"))
          )
          assert.deepStrictEqual(
            policy?.whitelist.map(({ path, source }) => [path, source]),
            [
              ["/workspace", "cwd"],
              ["/data", "file"],
              ["/extra", "runtime"],
              ["/tmp", "tmp"]
            ]
          )
          assert.isFalse(policy?.allowNetwork)
        })
      )
  )

  it.live("S59: makes another sandbox after shutdown", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        yield* withManager(provider, options, (manager) =>
          Effect.gen(function* () {
            const one = yield* manager.getSandbox("/workspace")
            yield* Effect.all([manager.shutdown, manager.shutdown], { concurrency: "unbounded" })
            assert.deepStrictEqual(provider.events, ["create 1", "dispose 1"])
            assert.notStrictEqual(yield* manager.getSandbox("/workspace"), one)
          })
        )
        assert.deepStrictEqual(provider.events.slice(2), ["create 2", "dispose 2"])
      })
    )
  )

  it.live("S63: writes what is allowed for good to sandbox.json, where a new manager finds it", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        yield* withManager(new FakeProvider(), options, ({ addPermanentWhitelist }) => addPermanentWhitelist("/extra"))
        const written = JSON.parse(Fs.readFileSync(`${options.home}/sandbox.json`, "utf8"))
        assert.deepStrictEqual(written.policy.filesystem.whitelist, ["/extra"])
        const policy = yield* withManager(new FakeProvider(), options, ({ buildPolicy }) => buildPolicy("/workspace"))
        const allowed = (policy?.whitelist ?? []).map(({ path }) => path)
        assert.include(allowed, "/extra")
      })
    )
  )

  it.live("leaves nothing of a sandbox whose maker was interrupted, and keeps nobody waiting for it", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const provider = new FakeProvider()
        const [begun, go] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const disposed = yield* Deferred.make<void>()
        provider.creating = Effect.zipRight(
          Deferred.succeed(begun, undefined),
          Effect.uninterruptible(Deferred.await(go))
        )
        const watched = {
          ...provider,
          name: "local",
          create: provider.create,
          destroy: (backend: Parameters<typeof provider.destroy>[0]) =>
            Effect.zipRight(provider.destroy(backend), Deferred.succeed(disposed, undefined))
        }
        yield* withManager(watched, options, (manager) =>
          Effect.gen(function* () {
            const fiber = yield* Effect.fork(manager.execute("a"))
            yield* Deferred.await(begun)
            yield* Fiber.interrupt(fiber)
            provider.creating = Effect.void
            yield* manager.execute("b")
            yield* Deferred.succeed(go, undefined)
            yield* Deferred.await(disposed)
            assert.deepStrictEqual(provider.events, ["create 2", "run b in 2", "create 1", "dispose 1"])
          })
        )
        assert.deepStrictEqual(provider.events.slice(4), ["dispose 2"])
      })
    )
  )
})
