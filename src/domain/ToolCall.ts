/**
 * A model's call of a tool.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Attempt from "./Attempt.js"

/**
 * The schema of a call. `arguments` is JSON text, as models send it. The ToolReturn repeats the model's `id`.
 *
 * @since 0.1.0
 * @category models
 */
export const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String
})

/**
 * A model's call of a tool.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

/**
 * The schema of arguments as programs pass them: JSON text, or the object itself.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Arguments = Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/**
 * Makes a call from arguments that are JSON text or an object.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({
  arguments: given,
  id,
  name
}: Omit<ToolCall, "arguments"> & { arguments: typeof Arguments.Type }) => ({
  id,
  name,
  arguments: typeof given === "string" ? given : JSON.stringify(given)
})

/**
 * Returns the command of a call of `Bash`, or undefined if its arguments have none.
 *
 * @since 0.1.0
 */
export const commandOf = ({ arguments: given }: ToolCall): string | undefined =>
  Attempt.orUndefined(() => {
    const value: unknown = JSON.parse(given)
    return typeof value === "object" && value !== null && "command" in value && typeof value.command === "string"
      ? value.command
      : undefined
  })
