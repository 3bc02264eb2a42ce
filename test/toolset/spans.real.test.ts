/** What somebody who traces sees of a call, on its way through the floors. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

/** Notes the spans under their parents' names. */
const recording = () => {
  const spans: Array<string> = []
  const told = new Map<string, Map<string, unknown>>()
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context, links, startTime, kind) => {
      const above = Option.match(parent, {
        onNone: () => "",
        onSome: (span) => (span._tag === "Span" ? `${span.name} > ` : "")
      })
      spans.push(`${above}${name}`)
      const attributes = new Map<string, unknown>()
      told.set(name, attributes)
      return {
        _tag: "Span",
        name,
        spanId: String(spans.length),
        traceId: "1",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: () => {},
        attribute: (key, value) => void attributes.set(key, value),
        event: () => {},
        addLinks: () => {}
      }
    }
  })
  return { spans, told, tracer }
}

describe("spans", () => {
  for (const enabled of [true, false]) {
    it.live(`lie within each other as the floors do, ${enabled ? "in" : "without"} a sandbox`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { spans, told, tracer } = recording()
          const cwd = yield* Directory.make
          const context = yield* Layer.build(Synapse.layer({ cwd }, { sandbox: { enabled, home: `${cwd}/home` } }))
          const call = { id: "1", name: "Bash", arguments: '{"command":"echo a"}' }
          const handle = Effect.provide(
            Effect.flatMap(Toolset, (toolset) => toolset.handle(call)),
            context
          )
          yield* handle
          assert.deepStrictEqual(spans, [])
          assert.strictEqual((yield* Effect.withTracer(handle, tracer)).output, "a\n")
          assert.deepStrictEqual(spans, [
            "Toolset.handle",
            "Toolset.handle > BashTool.run",
            "BashTool.run > BashRouter.route",
            "BashRouter.route > SandboxManager.execute",
            "SandboxManager.execute > SandboxBackend.execute",
            "SandboxBackend.execute > BashSession.execute"
          ])
          assert.deepStrictEqual(Object.fromEntries(told.get("Toolset.handle") ?? []), {
            "gen_ai.tool.call.id": "1",
            "gen_ai.tool.name": "Bash",
            "process.exit.code": 0
          })
          const failing = Effect.flatMap(Toolset, (toolset) =>
            toolset.handle({ id: "2", name: "Bash", arguments: '{"command":"nosuchcommand"}' })
          )
          yield* Effect.withTracer(Effect.provide(failing, context), tracer)
          assert.deepStrictEqual(Object.fromEntries(told.get("Toolset.handle") ?? []), {
            "gen_ai.tool.call.id": "2",
            "gen_ai.tool.name": "Bash",
            "process.exit.code": 127,
            "error.type": "command_not_found"
          })
        })
      )
    )
  }
})
