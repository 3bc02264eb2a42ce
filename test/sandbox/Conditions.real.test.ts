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

const inHouse = <A, E>(
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
    inHouse((cwd) =>
      Effect.scoped(
        Effect.gen(function* () {
          const more = yield* Directory.make
          const manager = yield* SandboxManager
          const before = yield* description
          assert.include(before, `writes only under ${cwd}, `)
          assert.include(before, "after 60000 ms")
          assert.strictEqual((yield* handle).output, "ran\n")
          assert.strictEqual(yield* description, before)
          yield* manager.addRuntimeWhitelist(more)
          assert.include(yield* description, more)
        })
      )
    )
  )

  it.live("follow sandbox.json, until there is a sandbox", () =>
    inHouse((cwd) =>
      Effect.gen(function* () {
        Fs.mkdirSync(`${cwd}/home`)
        const write = (text: string) => Fs.writeFileSync(`${cwd}/home/sandbox.json`, text)
        write('{"enabled":false}')
        assert.include(yield* description, "There is no sandbox:")
        write('{"policy":{"filesystem":{"whitelist":["/opt"]}}}')
        assert.match(yield* description, /writes only under [^\n]*\/opt/)
        write("{")
        assert.match(yield* description, /No command can run at present: .*sandbox\.json: /)
        write('{"provider":"cloud"}')
        assert.match(yield* description, /No command can run at present: .*"cloud"/)
      })
    )
  )

  it.live("never are a sandbox that this machine can't have: bwrap is missing", () =>
    inHouse(
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
        return inHouse(
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
