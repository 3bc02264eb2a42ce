import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "../../src/bridge/Bridge.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as SandboxSettings from "../../src/sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "../../src/sandbox/LocalSandboxProvider.js"
import * as LinuxPlatform from "../../src/sandbox/platform/linux/LinuxPlatform.js"
import * as SandboxProvider from "../../src/sandbox/SandboxProvider.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as Directory from "../support/sandbox/Directory.js"
import { FakeProvider, type Options, withManager } from "../support/sandbox/Managed.js"

const inDirectory = <A, E>(use: (options: Options) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([home, cwd]) => use({ home, cwd })))

describe("SandboxProviders", () => {
  it.effect("finds providers by name, and refuses a second one of the same name", () =>
    Effect.gen(function* () {
      const providers = yield* SandboxProvider.SandboxProviders
      const provider = new FakeProvider()
      assert.match((yield* Effect.flip(providers.find("local"))).message, /and there is: none$/)
      yield* providers.add(provider)
      assert.strictEqual(yield* providers.find("local"), provider)
      assert.deepInclude(
        { ...(yield* Effect.flip(providers.add(new FakeProvider()))) },
        { kind: "provider", name: "local" }
      )
    }).pipe(Effect.provide(SandboxProvider.layer))
  )

  it.live("runs nothing over a broken sandbox.json, names file and path, and --no-sandbox works all the same", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const cases = [
          ['{"enabled":"no"}', /sandbox\.json: enabled: /],
          [
            '{"enabled":false,"policy":{"filesystem":{"blacklist":"x"}}}',
            /sandbox\.json: policy\.filesystem\.blacklist: /
          ],
          ["{", /sandbox\.json: /]
        ] as const
        for (const [text, message] of cases) {
          Fs.writeFileSync(`${options.home}/sandbox.json`, text)
          const provider = new FakeProvider()
          const error = yield* withManager(provider, options, ({ execute }) => Effect.flip(execute("touch ran")))
          assert.match(error.message, message)
          assert.deepStrictEqual([provider.events, Directory.list(options.cwd)], [[], []])
          const free = { ...options, settings: { enabled: false } }
          assert.strictEqual((yield* withManager(provider, free, ({ execute }) => execute("echo a"))).stdout, "a\n")
        }
      })
    )
  )

  it.live("S68: without bwrap nothing runs, and the error says what to do", () =>
    inDirectory((options) =>
      Effect.gen(function* () {
        const services = Layer.mergeAll(
          Layer.provide(Bridge.layer, CommandRegistry.layer),
          LinuxPlatform.layer,
          SandboxSettings.layer(),
          SessionSettings.layer({ environment: { PATH: "/nowhere" } })
        )
        const provider = yield* Effect.provide(LocalSandboxProvider.make, services)
        const error = yield* withManager(provider, options, ({ execute }) => Effect.flip(execute("touch ran")))
        assert.match(error.message, /bwrap is required.*apt install bubblewrap.*--no-sandbox/)
        assert.deepStrictEqual(Directory.list(options.cwd), [])
      })
    )
  )
})
