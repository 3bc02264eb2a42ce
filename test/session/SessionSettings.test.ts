import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as SessionSettings from "../../src/session/SessionSettings.js"

/** The settings from these variables, or why there are none. */
const settings = (variables: Readonly<Record<string, string>>) =>
  SessionSettings.SessionSettings.pipe(
    Effect.provide(SessionSettings.layerFromEnv()),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.mapError((error) => (error._op === "InvalidData" ? error.message : error)),
    Effect.either,
    Effect.map(Either.merge)
  )

describe("SessionSettings", () => {
  it.effect("come from the environment", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* settings({}), SessionSettings.defaults)
      const variables = { SYNAPSE_COMMAND_TIMEOUT: "5", SYNAPSE_OUTPUT_LIMIT: "10", SYNAPSE_OUTPUT_FILE_LIMIT: "0" }
      assert.deepStrictEqual(yield* settings(variables), {
        ...SessionSettings.defaults,
        timeout: 5,
        outputLimit: 10,
        outputFileLimit: 0
      })
    })
  )

  it.effect("are refused with the variable, its value and what it must be", () =>
    Effect.gen(function* () {
      const refused: ReadonlyArray<readonly [string, string, string]> = [
        ["SYNAPSE_COMMAND_TIMEOUT", "soon", "a positive whole number"],
        ["SYNAPSE_COMMAND_TIMEOUT", "0", "a positive whole number"],
        ["SYNAPSE_OUTPUT_LIMIT", "1.5", "a positive whole number"],
        ["SYNAPSE_OUTPUT_FILE_LIMIT", "-1", "a whole number, 0 or more"]
      ]
      for (const [name, value, what] of refused) {
        assert.strictEqual(yield* settings({ [name]: value }), `${name}=${value}: must be ${what}`)
      }
    })
  )

  it.effect("are refused where a program gives what is no such number", () =>
    Effect.gen(function* () {
      for (const [name, value, what] of [
        ["outputLimit", -5, "a positive whole number"],
        ["timeout", "abc", "a positive whole number"],
        ["timeout", Number.NaN, "a positive whole number"],
        ["outputFileLimit", 0.5, "a whole number, 0 or more"]
      ] as const) {
        const layer = SessionSettings.layerFromEnv({ [name]: value as number })
        const error = yield* Effect.flip(Effect.provide(SessionSettings.SessionSettings, layer))
        assert.strictEqual(error._op === "InvalidData" && error.message, `${name}=${value}: must be ${what}`)
      }
    })
  )
})
