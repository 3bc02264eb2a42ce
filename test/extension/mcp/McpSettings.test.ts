import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as McpSettings from "../../../src/extension/mcp/internal/McpSettings.js"

const fromEnv = (variables: Record<string, string>) =>
  Effect.provide(
    McpSettings.McpSettings,
    Layer.provide(
      McpSettings.layerFromEnv,
      Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))
    )
  )

describe("McpSettings", () => {
  it.effect("reads milliseconds from the environment, within what a timer can hold", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* fromEnv({}), { connectTimeout: 30_000, timeout: 120_000 })
      assert.deepStrictEqual(yield* fromEnv({ SYNAPSE_MCP_CONNECT_TIMEOUT: "5", SYNAPSE_MCP_TIMEOUT: "99999999999" }), {
        connectTimeout: 5,
        timeout: 2 ** 31 - 1
      })
    })
  )

  it.effect("refuses what is no such number", () =>
    Effect.gen(function* () {
      for (const value of ["0", "-1", "1.5", "soon", ""]) {
        const error = yield* Effect.flip(fromEnv({ SYNAPSE_MCP_TIMEOUT: value }))
        assert.include(String(error), "SYNAPSE_MCP_TIMEOUT")
      }
    })
  )
})
