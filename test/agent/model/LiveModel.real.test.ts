import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Endpoint, Kind } from "../../../src/agent/model/Endpoint.js"
import * as LiveModel from "../../../src/agent/model/LiveModel.js"
import * as Turn from "../../../src/agent/model/Turn.js"
import * as Models from "../../support/agent/Models.js"
import * as ModelServer from "../../support/agent/ModelServer.js"

describe.each(Models.kinds)("a model behind the protocol of %s", (kind) => {
  it.scoped("says its text in parts, and its usage", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.answer({ reasoning: ["Hm."], text: ["There are ", "3 files."] })
      ])
      const parts = yield* Models.ask(server, kind)
      assert.deepStrictEqual(Models.shown(parts), [
        ["Reasoning", "Hm."],
        ["Text", "There are "],
        ["Text", "3 files."],
        ["Finished", "stop", "There are 3 files.", []]
      ])
      assert.deepStrictEqual(Models.finished(parts).usage, { input: 120, output: 7, cached: 20, isEstimated: false })
    })
  )

  it.scoped("calls tools as it wrote the calls: unknown ones, and arguments that are no JSON", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.calls(
          { id: "a", name: "Bash", arguments: { command: "ls -la" } },
          { id: "b", name: "no.such tool", arguments: { x: 1 } },
          { id: "c", name: "Bash", arguments: '{"command": "ls' },
          { id: "d", name: "Bash", arguments: "" }
        )
      ])
      const turn = Models.finished(yield* Models.ask(server, kind))
      assert.strictEqual(turn.reason, "tool-calls")
      assert.deepStrictEqual(turn.calls, [
        { id: "a", name: "Bash", arguments: '{"command":"ls -la"}' },
        { id: "b", name: "no.such tool", arguments: '{"x":1}' },
        { id: "c", name: "Bash", arguments: '{"command": "ls' },
        { id: "d", name: "Bash", arguments: "{}" }
      ])
      assert.deepStrictEqual(
        turn.message?.content.map((part) => part.type === "tool-call" && part.params),
        [{ command: "ls -la" }, { x: 1 }, { invalid_arguments: '{"command": "ls' }, {}]
      )
    })
  )
})
