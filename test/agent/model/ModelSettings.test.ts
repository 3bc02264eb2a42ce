import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as ModelSettings from "../../../src/agent/model/ModelSettings.js"

const read = (env: Readonly<Record<string, string>>) =>
  ModelSettings.ModelSettings.pipe(
    Effect.provide(ModelSettings.layerFromEnv),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))
  )

describe("the settings of models", () => {
  it.effect("have defaults, also for variables that are empty", () =>
    Effect.gen(function* () {
      const { model, provider, retries, timeout } = yield* read({ SYNAPSE_MODEL: " ", SYNAPSE_PROVIDER: "" })
      assert.deepStrictEqual([model, provider, retries, timeout], [undefined, undefined, 7, 300_000])
    })
  )

  it.effect("come from the environment", () =>
    Effect.gen(function* () {
      const { model, provider, retries, timeout } = yield* read({
        SYNAPSE_PROVIDER: "local",
        SYNAPSE_MODEL: "qwen",
        SYNAPSE_MODEL_RETRIES: "0",
        SYNAPSE_MODEL_TIMEOUT: "5000"
      })
      assert.deepStrictEqual([provider, model, retries, timeout], ["local", "qwen", 0, 5000])
    })
  )

  it.effect.each([
    ["SYNAPSE_MODEL_TIMEOUT", "0", "SYNAPSE_MODEL_TIMEOUT=0: must be a positive whole number"],
    ["SYNAPSE_MODEL_TIMEOUT", "300001", "SYNAPSE_MODEL_TIMEOUT=300001: must be at most 300000"],
    ["SYNAPSE_MODEL_RETRIES", "many", "SYNAPSE_MODEL_RETRIES=many: must be a whole number, 0 or more"]
  ] as const)("refuse %s=%s", ([name, value, expected]) =>
    Effect.map(Effect.flip(read({ [name]: value })), (error) => assert.include(String(error), expected))
  )

  it("show no key", () => {
    const variable = ModelSettings.variablesOf({ KEY: "secret\n", EMPTY: " " })
    const key = variable("KEY")
    assert.strictEqual(key && Redacted.value(key), "secret")
    assert.notInclude(`${key} ${JSON.stringify(key)}`, "secret")
    assert.deepStrictEqual([variable("EMPTY"), variable("constructor")], [undefined, undefined])
  })
})
