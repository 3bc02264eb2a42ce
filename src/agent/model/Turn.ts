/**
 * Asks a model for one turn: its text, its tool calls, and what it used. It is the one door of an agent to a model.
 *
 * Tool calls come as they were written: also of tools that are not there, and also with arguments that are no JSON.
 * With a LanguageModel of another provider of `@effect/ai`, such a call fails the turn.
 *
 * @since 0.1.0
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ToolDefinition } from "../../toolset/Tool.js"
import { fromAiError, ModelError } from "./ModelError.js"
import type { Model } from "./ModelProvider.js"
import * as Retry from "./Retry.js"
import { TurnPart } from "./TurnPart.js"
import * as TurnRecorder from "./TurnRecorder.js"

/**
 * A request for a turn. The result of a tool call is a `Prompt.toolResultPart` whose `result` is text; the model gets it
 * as it is. Images are put beside it by `ResultImage.put`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly prompt: Prompt.RawInput
  readonly tools: ReadonlyArray<ToolDefinition>
}

/**
 * Asks a model for a turn, and tries again by the model's policy.
 *
 * @since 0.1.0
 * @category running
 */
export const stream = (
  { languageModel, retry }: Pick<Model, "languageModel" | "retry">,
  request: Request
): Stream.Stream<TurnPart, ModelError> => Retry.stream(once(languageModel, request), TurnPart.Retrying, retry)

/**
 * Asks a model for a turn, once. Fails with the error of the first try.
 *
 * @since 0.1.0
 * @category running
 */
export const once = (model: LanguageModel.Service, request: Request): Stream.Stream<TurnPart, ModelError> =>
  Stream.suspend(() => {
    const prompt = Prompt.make(request.prompt)
    const recorder = TurnRecorder.make(prompt)
    return model.streamText({ prompt, toolkit: toolkitOf(request.tools), disableToolCallResolution: true }).pipe(
      Stream.mapError(fromAiError),
      Stream.mapConcatEffect((part) => recorder.accept(part)),
      Stream.takeUntil((part) => part._tag === "Finished"),
      Stream.concat(Stream.suspend(() => (recorder.isFinished() ? Stream.empty : Stream.fail(brokenOff()))))
    )
  })

const brokenOff = () => new ModelError({ kind: "broken", reason: "The model's answer broke off before its end" })

/** Accepts any parameters: where `@effect/ai` checked them, wrong ones would end the whole turn. */
const parametersOf = (tool: ToolDefinition) =>
  Schema.Unknown.annotations({ jsonSchema: tool.parameters }) as unknown as AiTool.AnyStructSchema

const toolkitOf = (tools: ReadonlyArray<ToolDefinition>): Toolkit.WithHandler<Record<string, AiTool.Any>> => ({
  tools: Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      AiTool.make(tool.name, { description: tool.description, success: Schema.String }).setParameters(
        parametersOf(tool)
      ) as AiTool.Any
    ])
  ),
  handle: () => Effect.dieMessage("the calls of a turn are run by the agent")
})
