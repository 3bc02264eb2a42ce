/** Variables that the sandbox leaves out, and those that are let through, in a real sandbox. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

const name = "SYNAPSE_TEST_TOKEN"

const handle = (command: string) =>
  Effect.flatMap(Toolset, ({ handle }) =>
    Effect.map(handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) }), ({ output }) => output)
  )

/** An app in a process whose environment has a secret. */
const inApp = <A, E>(use: Effect.Effect<A, E, Toolset>, env: ReadonlyArray<string>, file = "{}") =>
  Effect.scoped(
    Effect.gen(function* () {
      const cwd = yield* Directory.make
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          process.env[name] = "value"
        }),
        () =>
          Effect.sync(() => {
            delete process.env[name]
          })
      )
      Fs.mkdirSync(`${cwd}/home`)
      Fs.writeFileSync(`${cwd}/home/sandbox.json`, file)
      return yield* Effect.provide(use, Synapse.layer({ cwd }, { sandbox: { home: `${cwd}/home`, env } }))
    })
  )

describe.skipIf(process.platform !== "linux")("a variable that looks like a secret", () => {
  it.live("is left out, and the first result of a command that names it says so", () =>
    inApp(
      Effect.gen(function* () {
        assert.strictEqual(yield* handle("echo begun"), "begun\n")
        assert.strictEqual(
          yield* handle(`echo "[$${name}]"`),
          `[]\nThe sandbox leaves ${name} out of the environment; the user can let it through: --env ${name}, or "env" in sandbox.json.`
        )
        assert.strictEqual(yield* handle(`echo "[$${name}]"`), "[]\n")
      }),
      []
    )
  )

  it.live("is let through by the settings", () =>
    inApp(
      Effect.map(handle(`echo "[$${name}]"`), (output) => assert.strictEqual(output, "[value]\n")),
      [name]
    )
  )

  it.live("is let through by sandbox.json", () =>
    inApp(
      Effect.map(handle(`echo "[$${name}]"`), (output) => assert.strictEqual(output, "[value]\n")),
      [],
      JSON.stringify({ env: [name] })
    )
  )

  it.live("runs nothing where the list is wrong, and names the entry", () =>
    Effect.gen(function* () {
      const ran = handle("echo ran")
      const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, string, RegExp]> = [
        [["A", "BASH_ENV"], "{}", /env\[1\]: "?BASH_ENV can't be let through: it would disturb the session/],
        [["PAGER"], "{}", /env\[0\]: "?PAGER can't be let through: Synapse sets it/],
        [
          ["A=b"],
          "{}",
          /env\[0\]: "{0,1}\\?"A=b\\?" is no name of a variable\. Give the name alone, A, and set its value before/
        ],
        [[], '{"env":["A B"]}', /sandbox\.json: env\[0\]: "A B" is no name/],
        [[], '{"policy":{"env":["A"]}}', /sandbox\.json: policy\.env: it has no effect here/],
        [[], '{"ENV":["A"]}', /sandbox\.json: ENV: the name is written env/]
      ]
      for (const [env, file, message] of wrong)
        assert.match(
          yield* inApp(ran, env, file).pipe(Effect.catchAllCause((cause) => Effect.succeed(Cause.pretty(cause)))),
          message
        )
    })
  )
})
