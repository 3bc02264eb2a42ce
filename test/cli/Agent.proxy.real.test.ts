import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ModelServer from "../support/agent/ModelServer.js"
import * as ProxyServer from "../support/agent/ProxyServer.js"
import { using } from "../support/cli/AgentPlace.js"

describe("synapse agent behind a proxy", () => {
  it("asks its model through HTTP_PROXY", () =>
    using([ModelServer.text("Hello.")], ({ server, start }) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const proxy = yield* ProxyServer.serve(Number(new URL(server.url).port))
            const env = {
              ANTHROPIC_BASE_URL: "http://model.example",
              HTTP_PROXY: `http://127.0.0.1:${proxy.port}`
            }
            const { exitCode, stdout } = yield* Effect.promise(() => start(["--no-sandbox", "hi"], { env }).ended)
            assert.deepStrictEqual([exitCode, stdout], [0, "Hello.\n"])
            assert.deepStrictEqual(proxy.asked, ["POST http://model.example/v1/messages"])
          })
        )
      )
    ))
})
