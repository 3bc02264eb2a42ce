import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as AgentSettings from "../../../src/agent/loop/AgentSettings.js"

const fromEnv = (variables: Record<string, string>) =>
  Effect.provide(
    AgentSettings.AgentSettings,
    Layer.provide(
      AgentSettings.layerFromEnv,
      Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))
    )
  )

describe("AgentSettings", () => {
  it.effect("reads the limits from the environment", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* fromEnv({}), { maxTurns: 50, maxParallelTasks: 5 })
      assert.deepStrictEqual(yield* fromEnv({ SYNAPSE_MAX_TOOL_ITERATIONS: "7", SYNAPSE_MAX_PARALLEL_TASKS: " 2 " }), {
        maxTurns: 7,
        maxParallelTasks: 2
      })
    })
  )

  it.effect("refuses what is no positive whole number, and names the variable", () =>
    Effect.gen(function* () {
      for (const name of ["SYNAPSE_MAX_TOOL_ITERATIONS", "SYNAPSE_MAX_PARALLEL_TASKS"]) {
        for (const value of ["0", "-1", "1.5", "many", ""]) {
          assert.include(String(yield* Effect.flip(fromEnv({ [name]: value }))), name)
        }
      }
    })
  )

  it.effect("dies where a program gives a wrong one", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        Effect.provide(AgentSettings.AgentSettings, AgentSettings.layer({ maxTurns: Number.NaN }))
      )
      assert.isTrue(Exit.isFailure(exit))
    })
  )
})
