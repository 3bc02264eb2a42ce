/**
 * The Bash tool for `@effect/ai`: `LanguageModel.generateText({ prompt, toolkit: BashToolkit.toolkit })`, with
 * `BashToolkit.layer` provided. It is a module of its own, so that only programs that use it load `@effect/ai`.
 *
 * Invalid parameters are answered with a result. An unknown tool name is not: `generateText` and `streamText` fail with
 * `MalformedOutput`, because they decode the response by the toolkit's own names. Catch that error, and call the model
 * again with its `description` as a user message.
 *
 * @since 0.1.0
 */
import * as AiTool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as BashTool from "./BashTool.js"
import * as Description from "./Description.js"
import * as Tool from "./Tool.js"
import { Toolset } from "./Toolset.js"

/**
 * A schema that accepts any parameters. Its JSON schema is that of the Bash tool's parameters.
 *
 * @since 0.1.0
 * @category schemas
 */
export interface Parameters extends AiTool.AnyStructSchema {
  readonly Type: unknown
  readonly Encoded: unknown
  readonly Context: never
}

/**
 * Accepts any parameters. If `@effect/ai` checked them, wrong ones would end the whole conversation. The toolset
 * instead returns an error that tells the model what is wrong.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Parameters = Schema.Unknown.annotations({
  jsonSchema: Tool.toJsonSchema(BashTool.Parameters)
  // The type requires a struct, but `@effect/ai` only uses it as a schema.
}) as unknown as Parameters

const withDescription = (description: string) =>
  Toolkit.make(
    AiTool.make("Bash", {
      description,
      success: Schema.String,
      failure: Schema.String,
      failureMode: "return"
    }).setParameters(Parameters)
  )

/**
 * The toolkit with the one tool `Bash`. Its result is the output of a ToolReturn, and `isFailure` is its `isError`.
 *
 * @since 0.1.0
 * @category toolkits
 */
export const toolkit = withDescription(Description.make([]))

/**
 * Makes the same toolkit, with a description that also names the currently registered commands.
 *
 * @since 0.1.0
 * @category toolkits
 */
export const toolkitOfToolset: Effect.Effect<typeof toolkit, never, Toolset> = Effect.map(Toolset, ({ tools }) =>
  withDescription(tools.find((tool) => tool.name === "Bash")?.description ?? Description.make([]))
)

/**
 * A layer that runs the toolkit's calls in the toolset.
 *
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { Synapse } from "synapse-shell"
 * import * as BashToolkit from "synapse-shell/BashToolkit"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = LanguageModel.generateText({ prompt: "How many files are here?", toolkit: BashToolkit.toolkit }).pipe(
 *   Effect.provide(BashToolkit.layer.pipe(Layer.provide(Synapse.layer())))
 * )
 * ```
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<AiTool.Handler<"Bash">, never, Toolset> = toolkit.toLayer(
  Effect.map(Toolset, (toolset) => {
    // @effect/ai does not pass on the call's own id.
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
