/**
 * The face for `@effect/ai`: `LanguageModel.generateText({ prompt, toolkit: BashToolkit.toolkit })`, with
 * `BashToolkit.layer` provided. A module of its own, so that only those who use it load `@effect/ai`.
 *
 * @since 0.1.0
 */
import * as AiTool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as BashTool from "./BashTool.js"
import * as Tool from "./Tool.js"
import { Toolset } from "./Toolset.js"

/**
 * Takes whatever a model sends: `@effect/ai` would end the whole conversation over parameters that do not fit, and the
 * toolset tells the model how to do better.
 */
const Parameters = Schema.Unknown.annotations({ jsonSchema: Tool.toJsonSchema(BashTool.Parameters) })

const withDescription = (description: string) =>
  Toolkit.make(
    AiTool.make("Bash", { description, success: Schema.String, failure: Schema.String, failureMode: "return" })
      // The type asks for a struct; whatever reads it asks for a schema.
      .setParameters(Parameters as unknown as AiTool.AnyStructSchema)
  )

/**
 * The toolkit of the one tool, `Bash`. A result is the text that a ToolReturn has for the model; `isFailure` is its `isError`.
 *
 * @since 0.1.0
 * @category toolkits
 */
export const toolkit = withDescription(BashTool.describe([]))

/**
 * The same toolkit, whose description also names the commands that are registered now.
 *
 * @since 0.1.0
 * @category toolkits
 */
export const toolkitOfToolset: Effect.Effect<typeof toolkit, never, Toolset> = Effect.map(Toolset, ({ tools }) =>
  withDescription(tools.find((tool) => tool.name === "Bash")?.description ?? BashTool.describe([]))
)

/**
 * Runs the toolkit's calls in the toolset.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<AiTool.Handler<"Bash">, never, Toolset> = toolkit.toLayer(
  Effect.map(Toolset, (toolset) => {
    // @effect/ai keeps the call's own id to itself.
    let count = 0
    return {
      Bash: (params: unknown) =>
        Effect.flatMap(
          toolset.handle({ id: `@effect/ai/${++count}`, name: "Bash", arguments: JSON.stringify(params ?? {}) }),
          ({ isError, output }) => (isError ? Effect.fail(output) : Effect.succeed(output))
        )
    }
  })
)
