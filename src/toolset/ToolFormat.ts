/**
 * Converts a tool's definition to the form that a model's API takes.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { JsonSchema, ToolDefinition } from "./Tool.js"

/**
 * The name of a format. `anthropic` is the Messages API, `openai` the Chat Completions API and all APIs compatible with
 * it, `openai-strict` the same with structured outputs, and `mcp` the answer to `tools/list`.
 *
 * @since 0.1.0
 * @category models
 */
export type ToolFormat = keyof typeof make

/**
 * An entry of the `tools` of a request to Anthropic's Messages API.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonSchema
}

/**
 * An entry of the `tools` of a request to OpenAI's Chat Completions API.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAiTool {
  readonly type: "function"
  readonly function: ToolDefinition & { readonly strict?: true }
}

/**
 * An entry of the `tools` that an MCP server lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

const make = {
  anthropic: ({ description, name, parameters }: ToolDefinition): AnthropicTool => ({
    name,
    description,
    input_schema: parameters
  }),
  openai: ({ description, name, parameters }: ToolDefinition): OpenAiTool => ({
    type: "function",
    function: { name, description, parameters }
  }),
  "openai-strict": ({ description, name, parameters }: ToolDefinition): OpenAiTool => ({
    type: "function",
    function: { name, description, parameters: toStrict(parameters), strict: true }
  }),
  mcp: ({ description, name, parameters }: ToolDefinition): McpTool => ({ name, description, inputSchema: parameters })
}

/**
 * The names of all formats.
 *
 * @since 0.1.0
 */
export const formats = Object.keys(make) as ReadonlyArray<ToolFormat>

/**
 * Converts a definition to a format.
 *
 * @example
 * ```ts
 * import { Synapse, ToolFormat, Toolset } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * const tools = Effect.map(Toolset.Toolset, ({ tools }) => tools.map((tool) => ToolFormat.toFormat(tool, "anthropic"))).pipe(
 *   Effect.provide(Synapse.layer())
 * )
 * ```
 * @since 0.1.0
 */
export const toFormat = <F extends ToolFormat>(definition: ToolDefinition, format: F): ReturnType<(typeof make)[F]> =>
  make[format](definition) as ReturnType<(typeof make)[F]>

/** The keywords which strict mode refuses, or refused for long, and the words that say the same in a description. */
const limits: Readonly<Record<string, (value: unknown) => string>> = {
  minLength: (least) => (least === 1 ? "not empty" : `at least ${least} characters`),
  maxLength: (most) => `at most ${most} characters`,
  pattern: (pattern) => `matches ${pattern}`,
  format: (format) => `${format}`,
  minimum: (least) => `at least ${least}`,
  exclusiveMinimum: (least) => `greater than ${least}`,
  maximum: (most) => `at most ${most}`,
  exclusiveMaximum: (most) => `less than ${most}`,
  multipleOf: (factor) => `a multiple of ${factor}`,
  minItems: (least) => `at least ${least} items`,
  maxItems: (most) => `at most ${most} items`,
  uniqueItems: () => "no item twice",
  default: (value) => `${JSON.stringify(value)} where it is not given`
}

/**
 * Converts a schema for strict mode: every object requires all of its properties and allows no others, optional ones
 * may be null instead, and limits move into the description.
 */
const toStrict = (schema: JsonSchema): JsonSchema => {
  const strict: Record<string, unknown> = {}
  const said: Array<string> = []
  for (const [key, value] of Object.entries(schema)) {
    const limit = limits[key]
    if (limit !== undefined) said.push(limit(value))
    else if (key === "oneOf") strict["anyOf"] = each(value)
    else strict[key] = key === "items" ? nested(value) : key === "anyOf" ? each(value) : value
  }
  if (said.length > 0) {
    strict["description"] = [schema["description"], `(${said.join(", ")})`].filter(Boolean).join(" ")
  }
  if (Predicate.isReadonlyRecord(schema["$defs"])) strict["$defs"] = mapValues(schema["$defs"], nested)
  return schema["type"] === "object" ? { ...strict, ...strictObject(schema) } : strict
}

const strictObject = ({ properties, required }: JsonSchema): JsonSchema => {
  const known = Predicate.isReadonlyRecord(properties) ? properties : {}
  const needed: ReadonlyArray<unknown> = Array.isArray(required) ? required : []
  return {
    properties: mapValues(known, (property, name) =>
      needed.includes(name) ? nested(property) : orNull(nested(property))
    ),
    required: Object.keys(known),
    additionalProperties: false
  }
}

const mapValues = (record: JsonSchema, map: (value: unknown, key: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))

const nested = (schema: unknown): unknown => (Predicate.isReadonlyRecord(schema) ? toStrict(schema) : schema)

const each = (schemas: unknown): unknown => (Array.isArray(schemas) ? schemas.map(nested) : schemas)

const orNull = (schema: unknown): unknown => {
  if (!Predicate.isReadonlyRecord(schema)) return schema
  const { description, type, ...rest } = schema
  const about = description === undefined ? {} : { description }
  if (typeof type !== "string") {
    const whole = type === undefined ? rest : { type, ...rest }
    return { anyOf: [whole, { type: "null" }], ...about }
  }
  const values = rest["enum"]
  return { type: [type, "null"], ...rest, ...(Array.isArray(values) ? { enum: [...values, null] } : {}), ...about }
}
