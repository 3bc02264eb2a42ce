/** The protocols once more, by a server that others wrote. */
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Models from "../../support/agent/Models.js"

const mock = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" })
    server.onMessage("files", { toolCalls: [{ id: "call_a", name: "Bash", arguments: '{"command":"ls"}' }] })
    server.onMessage("hello", { content: "Hi there, this is a text of more than one chunk." })
    await server.start()
    return server
  }),
  (server) => Effect.promise(() => server.stop())
)

describe.each(Models.kinds)("a model of aimock's, by the protocol of %s", (kind) => {
  it.scopedLive("says a text", () =>
    Effect.gen(function* () {
      const { url } = yield* mock
      const turn = Models.finished(yield* Models.ask({ url }, kind, { prompt: "hello" }))
      assert.deepStrictEqual([turn.reason, turn.text], ["stop", "Hi there, this is a text of more than one chunk."])
    })
  )

  it.scopedLive("calls a tool", () =>
    Effect.gen(function* () {
      const { url } = yield* mock
      const turn = Models.finished(yield* Models.ask({ url }, kind, { prompt: "how many files?" }))
      assert.deepStrictEqual(
        [turn.reason, turn.calls],
        ["tool-calls", [{ id: "call_a", name: "Bash", arguments: '{"command":"ls"}' }]]
      )
    })
  )
})
