/** Runs of agents over real HTTP, in the protocols of the providers, and over a real bash. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as AgentLoop from "../../../src/agent/loop/AgentLoop.js"
import * as AgentSettings from "../../../src/agent/loop/AgentSettings.js"
import type { Kind } from "../../../src/agent/model/internal/Endpoint.js"
import * as LiveModel from "../../../src/agent/model/internal/LiveModel.js"
import type { Model } from "../../../src/agent/model/ModelProvider.js"
import * as Synapse from "../../../src/Synapse.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"
import * as Running from "../../support/agent/Running.js"
import * as Directory from "../../support/sandbox/Directory.js"

interface Around {
  readonly server: ModelServer.ModelServer
  readonly cwd: string
  readonly stream: (given?: Partial<AgentLoop.Run>) => Stream.Stream<AgentEvent>
  readonly collect: (given?: Partial<AgentLoop.Run>) => Effect.Effect<ReadonlyArray<AgentEvent>>
}

const against = <A>(kind: Kind, script: ModelServer.Script, use: (around: Around) => Effect.Effect<A>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const cwd = yield* Directory.make
      const server = yield* ModelServer.serve(script)
      const endpoint = Models.endpoint(server, kind)
      const languageModel = yield* LiveModel.make(endpoint)
      const model: Model = {
        provider: kind,
        name: endpoint.model,
        languageModel,
        retry: endpoint.retry,
        contextWindow: 200_000,
        price: { input: 1, output: 1 }
      }
      const services = yield* Layer.build(
        Layer.merge(
          Synapse.layer({ cwd }, { sandbox: { home: `${cwd}/home`, enabled: false } }),
          Layer.provide(AgentLoop.layer, AgentSettings.layer())
        )
      )
      return yield* Effect.provide(
        Effect.flatMap(Effect.all([AgentLoop.AgentLoop, Toolset]), ([loop, toolset]) => {
          const stream: Around["stream"] = (given) => loop.run({ prompt: "Do it.", model, toolset, ...given })
          return use({
            server,
            cwd,
            stream,
            collect: (given) => Effect.map(Stream.runCollect(stream(given)), Chunk.toReadonlyArray)
          })
        }),
        services
      )
    })
  )

const ended = (events: ReadonlyArray<AgentEvent>) => events.at(-1) as Running.Ended
const bash = (command: string, id?: string) => ({
  ...(id === undefined ? {} : { id }),
  name: "Bash",
  arguments: { command }
})

describe.each(Models.kinds)("a run with a model behind the protocol of %s", (kind) => {
  it.live("asks, runs and answers; what was used is counted; the provider gets what it wants back", () =>
    against(
      kind,
      [
        ModelServer.calls(bash("echo a; exit 3", "x"), bash("echo b", "x")),
        ModelServer.calls({ name: "Shell", arguments: {} }, { name: "Bash", arguments: '{"command' }),
        ModelServer.calls(bash("pwd", "x")),
        ModelServer.text("Done", ".")
      ],
      ({ collect, cwd, server }) =>
        Effect.gen(function* () {
          const events = yield* collect()
          assert.deepStrictEqual(
            { ...ended(events) },
            {
              _tag: "Ended",
              ending: "done",
              text: "Done.",
              reason: undefined,
              usage: { input: 480, output: 28, cached: 80, cost: 0.000508 },
              turns: 4
            }
          )
          const results = Running.only(events, "ToolEnded").map(({ result }) => result.output)
          assert.deepStrictEqual([results[0], results[1], results[4]], ["a\n[exit 3]", "b\n", `${cwd}\n`])
          assert.include(results[2], "Unknown tool")
          assert.include(results[3], "not JSON")
          // The next request holds each result as text, beside its call.
          for (const output of ["a\\n[exit 3]", "Unknown tool"]) assert.include(server.requests[2]?.text, output)
          const calls = Running.only(events, "ToolStarted").map(({ call }) => call.id)
          assert.strictEqual(new Set(calls).size, 5)
          for (const id of calls) assert.strictEqual(server.requests[3]?.text.split(`"${id}"`).length, 3, id)
        })
    )
  )

  it.live("an answer that breaks off is asked for again: nothing of it is run or sent", () =>
    against(
      kind,
      [
        ModelServer.status(429, { "retry-after": "0" }),
        { ...ModelServer.calls(bash("touch broken")), text: ["Half of it"], cut: kind === "anthropic" ? 6 : 5 },
        ModelServer.calls(bash("touch whole")),
        ModelServer.text("Done.")
      ],
      ({ collect, cwd, server }) =>
        Effect.gen(function* () {
          const events = yield* collect()
          assert.strictEqual(ended(events).ending, "done")
          assert.deepStrictEqual(
            Running.only(events, "Retrying").map(({ attempt }) => attempt),
            [1, 2]
          )
          assert.deepStrictEqual(Fs.readdirSync(cwd), ["whole"])
          assert.strictEqual(server.requests[2]?.text, server.requests[0]?.text)
          assert.notInclude(server.requests[3]?.text, "Half of it")
          assert.strictEqual(Running.only(events, "TurnEnded").length, 2)
        })
    )
  )

  it.live("interrupting it ends the request", () =>
    against(
      kind,
      [{ ...ModelServer.text("One", "Two", "Three"), pause: 5000 }, ModelServer.silence],
      ({ server, stream }) =>
        Effect.gen(function* () {
          const begun = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(
            Stream.runForEach(stream(), ({ _tag }) =>
              _tag === "TurnStarted" ? Deferred.succeed(begun, undefined) : Effect.void
            )
          )
          yield* Deferred.await(begun)
          while (server.requests.length === 0) yield* Effect.sleep(2)
          yield* Fiber.interrupt(fiber)
          yield* server.quiet
          assert.strictEqual(server.requests.length, 1)
        })
    )
  )

  it.live("no event holds the key, also where the provider repeats it", () =>
    against(
      kind,
      [ModelServer.status(401, {}, { error: { type: "authentication_error", message: `bad key ${ModelServer.key}` } })],
      ({ collect }) =>
        Effect.gen(function* () {
          const events = yield* collect()
          assert.strictEqual(ended(events).ending, "failed")
          assert.include(ended(events).reason, "TEST_API_KEY")
          assert.notInclude(JSON.stringify(events), ModelServer.key)
        })
    )
  )

  it.live("goes on with what was appended until it was cut, wherever that was", () =>
    against(
      kind,
      (request) =>
        request.text.includes('"b\\n"') || request.text.includes("interrupted before its result")
          ? ModelServer.text("Done.")
          : ModelServer.calls(bash("echo a"), bash("echo b", "y")),
      ({ collect, server }) =>
        Effect.gen(function* () {
          const whole = Running.only(yield* collect(), "Appended").flatMap(({ messages }) => messages)
          assert.strictEqual(whole.length, 5)
          for (let cut = 0; cut <= whole.length; cut++) {
            const before = server.requests.length
            const events = yield* collect({ history: whole.slice(0, cut), prompt: "Again." })
            assert.strictEqual(ended(events).ending, "done", `cut at ${cut}`)
            assert.isAtLeast(server.requests.length, before + 1)
          }
        })
    )
  )
})
