/** What `sandbox.json` allows while a sandbox runs. */
import * as Fs from "node:fs"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import { NotThere } from "../../src/sandbox/SandboxBackend.js"
import * as Directory from "../support/sandbox/Directory.js"
import { denied, FakeProvider, withManager } from "../support/sandbox/Managed.js"

it.scoped("builds the policy anew for a path that is not there once it is there, and for no command before", () =>
  Effect.gen(function* () {
    const [home, cwd, outside] = yield* Effect.all([Directory.make, Directory.make, Directory.make])
    const later = `${outside}/later`
    let built = 0
    const fake = new FakeProvider()
    fake.granting = Effect.suspend(() => (Fs.existsSync(later) ? Effect.void : new NotThere({ resource: later })))
    const setHosts = () => Effect.sync(() => void built++)
    const provider = {
      name: fake.name,
      destroy: fake.destroy,
      create: (policy: Parameters<typeof fake.create>[0]) =>
        Effect.map(fake.create(policy), (backend) => ({ ...backend, setHosts }))
    }
    const allow = (...whitelist: ReadonlyArray<string>) =>
      Fs.writeFileSync(`${home}/sandbox.json`, JSON.stringify({ policy: { filesystem: { whitelist } } }))
    yield* withManager(provider, { home, cwd }, ({ execute }) =>
      Effect.gen(function* () {
        const count = Effect.map(execute("true"), () => built)
        yield* execute("true")
        allow(later)
        assert.deepStrictEqual(yield* Effect.all([count, count, count]), [1, 1, 1])
        allow(later, `${outside}/never`)
        assert.deepStrictEqual(yield* Effect.all([count, count]), [2, 2])
        Fs.mkdirSync(later)
        assert.deepStrictEqual(yield* Effect.all([count, count]), [3, 3])
      })
    )
    const grants = fake.events.filter((event) => event.startsWith(`grant write ${later}`))
    assert.lengthOf(grants, 3)
  })
)

it.scoped("gives no sandbox what is put in a path's place while it is allowed", () =>
  Effect.gen(function* () {
    const [home, cwd, outside] = yield* Effect.all([Directory.make, Directory.make, Directory.make])
    const provider = new FakeProvider()
    provider.granting = Effect.suspend(() => {
      Fs.rmdirSync(`${outside}/place`)
      Fs.symlinkSync("/etc", `${outside}/place`)
      return new ExecutionFailed({ kind: "sandbox", reason: "it was replaced" })
    })
    Fs.mkdirSync(`${outside}/place`)
    yield* withManager(provider, { home, cwd }, ({ allow, execute }) =>
      Effect.zipRight(Effect.flip(allow(`${outside}/place`)), execute("true"))
    )
    assert.deepStrictEqual(provider.events, [
      "create 1",
      `grant write ${outside}/place in 1`,
      "run true in 1",
      "dispose 1"
    ])
  })
)

it.scoped(
  "tells once of a hidden path that only a new shell can have, to be written and so to be read, until it is forgotten",
  () =>
    Effect.gen(function* () {
      const [home, cwd] = yield* Effect.all([Directory.make, Directory.make])
      Fs.writeFileSync(`${cwd}/.env`, "KEY=hunter2-and-more")
      const fake = new FakeProvider((command) => (command === "true" ? {} : denied(`${cwd}/.env`, "verified-text")))
      fake.granting = new ExecutionFailed({ kind: "sandbox", reason: "it can't be changed" })
      const provider = {
        name: fake.name,
        destroy: fake.destroy,
        create: (policy: Parameters<typeof fake.create>[0]) =>
          Effect.map(fake.create(policy), (backend) => ({ ...backend, setHosts: () => Effect.void }))
      }
      const allow = (...whitelist: ReadonlyArray<string>) =>
        Fs.writeFileSync(`${home}/sandbox.json`, JSON.stringify({ policy: { filesystem: { whitelist } } }))
      const anew = [{ _tag: "Awaiting" as const, name: `${cwd}/.env` }]
      yield* withManager(provider, { home, cwd }, ({ execute }) =>
        Effect.gen(function* () {
          const told = (command: string) => Effect.map(execute(command), ({ diagnostics = [] }) => diagnostics)
          yield* execute("true")
          allow(`${cwd}/.env`)
          assert.deepStrictEqual(yield* Effect.all([told("true"), told("true"), told("cat .env")]), [anew, [], anew])
          allow()
          assert.deepStrictEqual(yield* told("cat .env"), [])
          allow(`${cwd}/.env`)
          assert.deepStrictEqual(yield* told("cat .env"), anew)
        })
      )
    })
)
