/** A long run against a server that fails in every way, and that goes on from each point where it may have been cut. */
import type * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as AgentLoop from "../../../src/agent/loop/AgentLoop.js"
import * as AgentSettings from "../../../src/agent/loop/AgentSettings.js"
import * as LiveModel from "../../../src/agent/model/internal/LiveModel.js"
import * as TestSynapse from "../../../src/TestSynapse.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"
import * as Resumed from "../../support/agent/Resumed.js"
import * as Running from "../../support/agent/Running.js"
import { assertNothingDangles } from "../../support/cli/AgentPlace.js"

const turns = 100

/** Each comes once before an answer; whatever of the answer has come is void. */
const faults: ReadonlyArray<(answer: ModelServer.Answer, turn: number) => ModelServer.Reply> = [
  () => ModelServer.status(429, { "retry-after": "0" }),
  () => ModelServer.status(529, {}, "overloaded"),
  () => ModelServer.reset,
  (answer) => ({ ...answer, cut: 0 }),
  (answer, turn) => ({ ...answer, cut: 1 + Math.floor(turn / faults.length) }),
  (answer, turn) => ({ ...answer, short: 1 + Math.floor(turn / faults.length) }),
  () => ModelServer.raw("data: {no json\n\n"),
  () => ModelServer.status(502, { "content-type": "text/html" }, "<html>Bad gateway</html>"),
  () => ModelServer.status(500, {}, ""),
  (answer) => answer
]

/** The number of the model's messages in a request. */
const turnOf = ({ body }: ModelServer.Recorded): number =>
  body.messages.filter(({ role }: { readonly role: string }) => role === "assistant").length

const script = (): ModelServer.Script => {
  const failed = new Set<number>()
  return (request) => {
    const turn = turnOf(request)
    if (turn >= turns || request.text.includes("Go on where it stopped.")) return ModelServer.text("Done.")
    const call = (part: string) => ({
      id: `${turn}${part}`,
      name: "Bash",
      arguments: { command: `echo ${turn}${part}` }
    })
    const answer = { ...ModelServer.calls(call("a"), call("b")), text: [`Turn ${turn}`] }
    const fault = faults[turn % faults.length]
    if (fault === undefined || failed.has(turn)) return answer
    failed.add(turn)
    return fault(answer, turn)
  }
}

describe("a run of 100 turns", () => {
  it.live(
    "survives a fault in nine of ten turns, and goes on from each point where it was cut",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* ModelServer.serve(script())
          const endpoint = Models.endpoint(server, "anthropic")
          const model = {
            provider: "anthropic",
            name: endpoint.model,
            languageModel: yield* LiveModel.make(endpoint),
            retry: endpoint.retry,
            contextWindow: 1_000_000,
            price: undefined
          }
          const services = yield* Layer.build(
            Layer.merge(
              TestSynapse.layer((command) => ({ stdout: `${command}\n` })),
              Layer.provide(AgentLoop.layer, AgentSettings.layer({ maxTurns: 2 * turns }))
            )
          )
          const run = (
            prompt: string,
            history: ReadonlyArray<Prompt.Message>
          ): Effect.Effect<ReadonlyArray<AgentEvent>> =>
            Effect.provide(
              Effect.flatMap(Effect.all([AgentLoop.AgentLoop, Toolset]), ([loop, toolset]) =>
                Effect.map(Stream.runCollect(loop.run({ prompt, model, toolset, history })), Chunk.toReadonlyArray)
              ),
              services
            )
          const events = yield* run("Do it.", [])
          const last = events.at(-1) as Running.Ended
          assert.deepStrictEqual([last.ending, last.text, last.turns], ["done", "Done.", turns + 1])
          assert.strictEqual(Running.only(events, "Retrying").length, turns * 0.9)
          const results = Running.only(events, "ToolEnded").map(({ result }) => result.output)
          assert.deepStrictEqual(
            results,
            Array.from({ length: turns }, (_, turn) => [`echo ${turn}a\n`, `echo ${turn}b\n`]).flat()
          )

          const kept = Running.only(events, "Appended").flatMap(({ messages }) => messages.map(Resumed.message))
          assert.strictEqual(kept.length, 1 + 3 * turns + 1)
          for (let cut = 0; cut <= kept.length; cut++) {
            const before = server.requests.length
            const resumed = yield* run("Go on where it stopped.", kept.slice(0, cut))
            assert.strictEqual((resumed.at(-1) as Running.Ended).ending, "done", `cut after ${cut} messages`)
            assert.strictEqual(server.requests.length, before + 1)
          }
          assertNothingDangles(server)
        })
      ),
    300_000
  )
})
