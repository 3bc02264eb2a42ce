/** Sub-agents whose models are found by the environment, over real HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Synapse from "../src/Synapse.js"
import { Toolset } from "../src/toolset/Toolset.js"
import * as ModelServer from "./support/agent/ModelServer.js"
import * as Directory from "./support/sandbox/Directory.js"

const inApp = <A, E>(
  env: Readonly<Record<string, string>>,
  use: (
    run: (command: string) => Effect.Effect<{ readonly output: string; readonly exitCode: number | undefined }>,
    toolset: Toolset["Type"]
  ) => Effect.Effect<A, E>
): Effect.Effect<A, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const cwd = yield* Directory.make
    // Keys are read from the environment itself.
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const before = { ...process.env }
        for (const name of Object.keys(process.env))
          if (/^(ANTHROPIC|OPENAI|SYNAPSE)_/.test(name)) delete process.env[name]
        Object.assign(process.env, env)
        return before
      }),
      (before) =>
        Effect.sync(() => {
          for (const name of Object.keys(env)) delete process.env[name]
          Object.assign(process.env, before)
        })
    )
    const app = Synapse.layer({ cwd }, { sandbox: { home: `${cwd}/home`, enabled: false } })
    return yield* Effect.flatMap(Toolset, (toolset) =>
      use(
        (command) =>
          Effect.map(
            toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) }),
            ({ extras: { exitCode }, output }) => ({ output, exitCode })
          ),
        toolset
      )
    ).pipe(
      Effect.provide(app),
      Effect.withConfigProvider(
        ConfigProvider.fromMap(new Map([...Object.entries(env), ["SYNAPSE_MODEL_RETRIES", "0"]]))
      )
    )
  })

describe("sub-agents of an app", () => {
  it.scopedLive(
    "ask the provider that the environment names; an attempt at another task costs two calls of the model",
    () =>
      Effect.gen(function* () {
        const server = yield* ModelServer.serve([
          ModelServer.calls({ name: "Bash", arguments: { command: "echo x; task:general -d x -p y" } }),
          ModelServer.text("I did it ", "alone.")
        ])
        yield* inApp({ ...server.env, SYNAPSE_PROVIDER: "anthropic" }, (run, toolset) =>
          Effect.gen(function* () {
            assert.include(toolset.tools[0]?.description, "of sub-agents (task:general")
            assert.deepStrictEqual(yield* run("echo data | task:general -d Test -p go | cat"), {
              output: "I did it alone.\n",
              exitCode: 0
            })
            assert.strictEqual(server.requests.length, 2)
            const [first, second] = server.requests
            assert.notInclude(first?.text, "of sub-agents")
            assert.include(second?.text, "no tasks within tasks")
          })
        )
      })
  )

  it.scopedLive("that are cancelled close the connection to their model (S24)", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([{ _tag: "Silence" }, { _tag: "Silence" }])
      yield* inApp({ ...server.env, SYNAPSE_PROVIDER: "anthropic" }, (run, toolset) =>
        Effect.gen(function* () {
          for (const [at, line] of ["task:general -d x -p y", "echo x | task:general -d x -p y"].entries()) {
            const fiber = yield* Effect.fork(run(line))
            while (server.requests.length <= at) yield* Effect.sleep(10)
            assert.isTrue(yield* toolset.cancel("1"))
            const { exitCode, output } = yield* Fiber.join(fiber)
            assert.strictEqual(exitCode, 130)
            assert.match(output, /interrupted/)
            yield* server.quiet
          }
        })
      )
    })
  )

  it.scopedLive("say how a provider is set where there is none, and no list names them then", () =>
    inApp({}, (run, toolset) =>
      Effect.gen(function* () {
        const { exitCode, output } = yield* run("task:general -d x -p y")
        assert.strictEqual(exitCode, 1)
        assert.match(output, /^Task commands require /)
        assert.match(output, /ANTHROPIC_API_KEY/)
        assert.notInclude(toolset.tools[0]?.description, "task:")
        assert.notInclude((yield* run("command:search task sub agents")).output, "task:general")
      })
    )
  )
})
