/** What the loop of an agent costs: a turn over the bare client of its provider and the tool, and many agents at once. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AgentLoop from "../../src/agent/loop/AgentLoop.js"
import * as AgentSettings from "../../src/agent/loop/AgentSettings.js"
import * as LiveModel from "../../src/agent/model/internal/LiveModel.js"
import type { Model } from "../../src/agent/model/ModelProvider.js"
import * as Turn from "../../src/agent/model/Turn.js"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as ModelServer from "../support/agent/ModelServer.js"
import * as Models from "../support/agent/Models.js"
import * as Table from "./Table.js"

const turns = 20
const agents = 50

/** A model that calls `true` for all turns but the last. */
const isDone = ({ body }: ModelServer.Recorded) =>
  body.messages.filter(({ role }: { readonly role: string }) => role === "tool").length >= turns - 1

const scope = await Effect.runPromise(Scope.make())
const server = await Effect.runPromise(
  Scope.extend(
    ModelServer.serve((request) =>
      isDone(request) ? ModelServer.text("Done.") : ModelServer.calls({ name: "Bash", arguments: { command: "true" } })
    ),
    scope
  )
)
const endpoint = Models.endpoint(server, "compatible")
const languageModel = await Effect.runPromise(LiveModel.make(endpoint))
const model: Model = { provider: "bench", name: "m", languageModel, contextWindow: 1_000_000, price: undefined }

const app = () =>
  ManagedRuntime.make(
    Layer.merge(
      Synapse.layer({}, { sandbox: { enabled: false } }),
      Layer.provide(AgentLoop.layer, AgentSettings.layer())
    )
  )
type App = ReturnType<typeof app>

/** Runs an agent for a number of turns. */
const agent = (own: App) =>
  own.runPromise(
    Effect.flatMap(Effect.all([AgentLoop.AgentLoop, Toolset]), ([loop, toolset]) =>
      Stream.runDrain(loop.run({ prompt: "Go on.", model, toolset }))
    )
  )

const runtime = app()
const toolset = await runtime.runPromise(Toolset)

/** Microseconds of this process's CPU a turn: most of a turn's time, the server and the shell are waited for. */
const perTurn = async (run: () => Promise<unknown>) => {
  const start = process.cpuUsage()
  await run()
  const { system, user } = process.cpuUsage(start)
  return (system + user) / turns
}

let id = 0
const call = Effect.suspend(() => toolset.handle({ id: String(id++), name: "Bash", arguments: '{"command":"true"}' }))

/** The requests of a run, as it sends them, and its calls, with nothing in between. */
const recorded = await runtime.runPromise(
  Effect.flatMap(AgentLoop.AgentLoop, (loop) =>
    Stream.runFold(loop.run({ prompt: "Go on.", model, toolset }), [] as Array<never>, (all, event) =>
      event._tag === "Appended" ? [...all, ...(event.messages as Array<never>)] : all
    )
  )
)
const bare = (withCalls: boolean) =>
  runtime.runPromise(
    Effect.forEach(
      Array.from({ length: turns }, (_, at) => recorded.slice(0, 1 + 2 * at)),
      (prompt) =>
        Effect.zipRight(
          Stream.runDrain(Turn.stream(model, { prompt, tools: toolset.tools })),
          withCalls ? call : Effect.void
        ),
      { discard: true }
    )
  )

const megabytes = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { external, heapUsed } = process.memoryUsage()
  return (heapUsed + external) / 1024 ** 2
}

const many = async (count: number, note: (before: number) => void) => {
  const before = megabytes()
  const apps = Array.from({ length: count }, app)
  const start = performance.now()
  await Promise.all(apps.map(agent))
  const took = performance.now() - start
  note((megabytes() - before) / count)
  await Promise.all(apps.map((each) => each.dispose()))
  return took
}

try {
  await Table.print(
    [
      { name: "the client of the provider, and the tool", run: () => perTurn(() => bare(true)) },
      { name: "the client alone", run: () => perTurn(() => bare(false)) },
      { name: "the loop", run: () => perTurn(() => agent(runtime)) }
    ],
    { title: `a turn, of ${turns}`, unit: "µs of CPU", samples: 7, goals: { "the loop": 1.5 } }
  )
  const kept: Array<number> = []
  await Table.print(
    [
      { name: "one agent", run: () => many(1, () => {}) },
      { name: `${agents} agents at once, each with a shell`, run: () => many(agents, (each) => kept.push(each)) }
    ],
    {
      title: `runs of ${turns} turns`,
      unit: "ms",
      samples: 2,
      goals: { [`${agents} agents at once, each with a shell`]: agents }
    }
  )
  console.log(`memory of an agent that has run: ${(Math.max(...kept) * 1024).toFixed(0)} KB\n`)
} finally {
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
