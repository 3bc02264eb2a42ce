import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Synapse from "../../src/Synapse.js"
import * as TestSynapse from "../../src/TestSynapse.js"
import * as BashTool from "../../src/toolset/BashTool.js"
import * as BashToolkit from "../../src/toolset/BashToolkit.js"
import { toJsonSchema } from "../../src/toolset/Tool.js"
import type { Toolset } from "../../src/toolset/Toolset.js"

/** A model that calls the tool with these parameters, and nothing else. */
const modelThatCalls = (...params: ReadonlyArray<unknown>) =>
  LanguageModel.make({
    generateText: () =>
      Effect.succeed(
        params.map(
          (each, index): Response.PartEncoded => ({
            type: "tool-call",
            id: `call-${index}`,
            name: "Bash",
            params: each
          })
        )
      ),
    streamText: () => Stream.empty
  })

const results = (...params: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const model = yield* modelThatCalls(...params)
    const { toolResults } = yield* model.generateText({ prompt: "go", toolkit: BashToolkit.toolkit })
    return toolResults.map(({ encodedResult, id, isFailure }) => ({ id, isFailure, text: encodedResult }))
  }).pipe(
    Effect.provide(
      BashToolkit.layer.pipe(
        Layer.provide(
          TestSynapse.layer((command) => ({ stdout: `${command}\n`, exitCode: command === "fail" ? 1 : 0 }))
        )
      )
    )
  )

describe("BashToolkit", () => {
  it.effect("gives the model the text of the result", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* results({ command: "echo" }, { command: "fail" }), [
        { id: "call-0", isFailure: false, text: "echo\n" },
        {
          id: "call-1",
          isFailure: true,
          text: "fail\n[exit 1]"
        }
      ])
    })
  )

  it.effect("S46: tells a model with wrong parameters what is right, and the conversation goes on", () =>
    Effect.gen(function* () {
      const wrong = yield* results({ cmds: "ls" }, "ls", null)
      assert.deepStrictEqual(
        wrong.map(({ isFailure }) => isFailure),
        [true, true, true]
      )
      for (const { text } of wrong) assert.include(String(text), "Invalid parameters for Bash:")
    })
  )

  it.effect("can't answer the name of a tool that there is not, and the error names it", () =>
    Effect.gen(function* () {
      const model = yield* LanguageModel.make({
        generateText: () => Effect.succeed([{ type: "tool-call", id: "1", name: "Shell", params: {} }]),
        streamText: () => Stream.empty
      })
      const error = yield* Effect.flip(model.generateText({ prompt: "go", toolkit: BashToolkit.toolkit }))
      assert.strictEqual(error._tag, "MalformedOutput")
      assert.include(error.message, "Failed to find tool with name 'Shell' in toolkit - available tools: Bash")
    }).pipe(Effect.provide(BashToolkit.layer.pipe(Layer.provide(TestSynapse.layer()))))
  )

  it("S41: has the tool's own JSON schema", () => {
    assert.deepStrictEqual(
      AiTool.getJsonSchema(BashToolkit.toolkit.tools.Bash) as unknown,
      toJsonSchema(BashTool.Parameters)
    )
  })

  it("requires what is missing, and nothing else", () => {
    const asked = LanguageModel.generateText({ prompt: "go", toolkit: BashToolkit.toolkit })
    const listed = LanguageModel.streamText({ prompt: "go", toolkit: BashToolkit.toolkit })
    expectTypeOf<Effect.Effect.Context<typeof asked>>().toEqualTypeOf<
      LanguageModel.LanguageModel | AiTool.Handler<"Bash">
    >()
    expectTypeOf<Stream.Stream.Context<typeof listed>>().toEqualTypeOf<
      LanguageModel.LanguageModel | AiTool.Handler<"Bash">
    >()
    const handled = Effect.provide(asked, BashToolkit.layer)
    expectTypeOf<Effect.Effect.Context<typeof handled>>().toEqualTypeOf<LanguageModel.LanguageModel | Toolset>()
    const whole = Effect.provide(handled, Synapse.layer())
    expectTypeOf<Effect.Effect.Context<typeof whole>>().toEqualTypeOf<LanguageModel.LanguageModel>()
  })

  it.effect("can name the commands that are registered", () =>
    Effect.gen(function* () {
      const toolkit = yield* BashToolkit.toolkitOfToolset
      assert.include(toolkit.tools.Bash.description, "- bash <command>: ")
    }).pipe(Effect.provide(TestSynapse.layer()))
  )
})
