import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

const description = Effect.map(Toolset, ({ tools }) => tools[0]?.description ?? "")
const handle = Effect.flatMap(Toolset, ({ handle }) =>
  handle({ id: "1", name: "Bash", arguments: '{"command":"echo ran"}' })
)

const inApp = <A, E>(
  use: (cwd: string) => Effect.Effect<A, E, Synapse.Services>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.scoped(
    Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([cwd, temporary]) =>
      Effect.provide(
        use(cwd),
        Synapse.layer({ cwd, environment, timeout: 60_000 }, { sandbox: { home: `${cwd}/home`, temporary } })
      )
    )
  )

describe.skipIf(process.platform !== "linux")("the conditions that the tool's description tells", () => {
  it.live("are those of the settings before there is a sandbox, and of the sandbox and its grants then", () =>
    Effect.scoped(
      Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([anew, live]) =>
        inApp((cwd) =>
          Effect.gen(function* () {
            const manager = yield* SandboxManager
            const before = yield* description
            assert.include(before, `writes only under ${cwd}, `)
            assert.include(before, "after 60000 ms")
            assert.strictEqual((yield* handle).output, "ran\n")
            assert.strictEqual(yield* description, before)
            yield* manager.addRuntimeWhitelist(anew)
            assert.include(yield* description, anew)
            yield* manager.allow(live)
            assert.include(yield* description, live)
          })
        )
      )
    )
  )

  it.live("follow sandbox.json as it is looked at, until there is a sandbox", () =>
    inApp((cwd) =>
      Effect.gen(function* () {
        const { findConditions } = yield* SandboxManager
        Fs.mkdirSync(`${cwd}/home`)
        const writeAnd = (text: string, look: Effect.Effect<unknown, never, Synapse.Services>) => {
          Fs.writeFileSync(`${cwd}/home/sandbox.json`, text)
          return Effect.zipRight(look, description)
        }
        assert.include(yield* writeAnd('{"enabled":false}', findConditions), "There is no sandbox:")
        const wide = '{"policy":{"filesystem":{"whitelist":["/opt"]}}}'
        assert.match(yield* writeAnd(wide, findConditions), /writes only under [^\n]*\/opt/)
        assert.match(yield* writeAnd("{", handle), /No command can run at present: .*sandbox\.json: /)
        assert.match(yield* writeAnd('{"provider":"cloud"}', handle), /No command can run at present: .*"cloud"/)
        assert.match(yield* writeAnd(wide, handle), /writes only under [^\n]*\/opt/)
        assert.match(yield* writeAnd("{", handle), /writes only under [^\n]*\/opt/)
      })
    )
  )

  it.live("follow the hosts that sandbox.json allows while the sandbox runs", () =>
    inApp((cwd) =>
      Effect.gen(function* () {
        yield* handle
        assert.include(yield* description, "has no network")
        Fs.mkdirSync(`${cwd}/home`, { recursive: true })
        Fs.writeFileSync(`${cwd}/home/sandbox.json`, '{"policy":{"network":{"allowedHosts":["one.example"]}}}')
        yield* handle
        assert.include(yield* description, "reaches no host but one.example")
      })
    )
  )

  it.live("never are a sandbox that this machine can't have: bwrap is missing", () =>
    inApp(
      () =>
        Effect.gen(function* () {
          assert.match(yield* description, /No command can run at present: .*bwrap is required/)
          assert.notInclude(yield* description, "A sandbox holds")
        }),
      { PATH: "/nowhere" }
    )
  )

  it.live("never are a sandbox that this machine can't have: bwrap fails", () =>
    Effect.scoped(
      Effect.flatMap(Directory.make, (programs) => {
        Fs.writeFileSync(`${programs}/bwrap`, "#!/bin/sh\nexit 1\n", { mode: 0o755 })
        return inApp(
          () =>
            Effect.gen(function* () {
              assert.isTrue((yield* handle).isError)
              assert.include(yield* description, "No command can run at present: ")
              assert.notInclude(yield* description, "A sandbox holds")
            }),
          { PATH: programs }
        )
      })
    )
  )
})
