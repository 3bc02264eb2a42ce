/**
 * A model's call of a tool.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * `arguments` is JSON text, as models send it; `id` is the model's own and comes back in the ToolReturn.
 *
 * @since 0.1.0
 * @category models
 */
export const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String
})

/** @since 0.1.0 */
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}
