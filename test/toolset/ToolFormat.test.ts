import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as BashTool from "../../src/toolset/BashTool.js"
import { type ToolDefinition, toJsonSchema } from "../../src/toolset/Tool.js"
import * as ToolFormat from "../../src/toolset/ToolFormat.js"

const definition = (parameters: ToolDefinition["parameters"]): ToolDefinition => ({
  name: "Bash",
  description: "Runs a command.",
  parameters
})

const bash = definition(toJsonSchema(BashTool.Parameters))

const strict = (schema: Schema.Schema.AnyNoContext) =>
  ToolFormat.toFormat(definition(toJsonSchema(schema)), "openai-strict").function.parameters

describe("ToolFormat", () => {
  it("S41: gives each API the definition under the names that it knows", () => {
    const { description, name, parameters } = bash
    assert.deepStrictEqual(ToolFormat.formats, ["anthropic", "openai", "openai-strict", "mcp"])
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "anthropic"), { name, description, input_schema: parameters })
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "openai"), {
      type: "function",
      function: { name, description, parameters }
    })
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "mcp"), { name, description, inputSchema: parameters })
  })

  it("says the same for strict mode: all is required, what was optional may be null, limits are told in words", () => {
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "openai-strict"), {
      type: "function",
      function: {
        name: "Bash",
        description: "Runs a command.",
        parameters: {
          type: "object",
          properties: {
            command: {
              type: "string",
              description: "What bash runs: any command line or script, as you would type it. (not empty)"
            },
            restart: {
              type: ["boolean", "null"],
              description: "Start a new shell first: its directory, variables and jobs are gone then."
            },
            timeout: {
              type: ["integer", "null"],
              description: "Milliseconds after which the command is ended. (at least 1, at most 2147483647)"
            },
            yield: {
              type: ["integer", "null"],
              description:
                "Milliseconds after which you get the result so far; the last program goes on as a job. 0 makes all of it a job. (at least 0, at most 2147483647)"
            },
            description: {
              type: ["string", "null"],
              description: "What the command is for, in a few words, for those who watch."
            }
          },
          required: ["command", "restart", "timeout", "yield", "description"],
          additionalProperties: false
        },
        strict: true
      }
    })
  })

  it("goes into lists, objects and choices for strict mode", () => {
    const item = Schema.Struct({ name: Schema.String, size: Schema.optional(Schema.Literal("s", "m")) })
    assert.deepStrictEqual(
      strict(
        Schema.Struct({
          items: Schema.Array(item).pipe(Schema.maxItems(3)),
          either: Schema.optional(Schema.Union(Schema.String, item))
        })
      ),
      {
        type: "object",
        properties: {
          items: {
            type: "array",
            title: "maxItems(3)",
            items: {
              type: "object",
              properties: { name: { type: "string" }, size: { type: ["string", "null"], enum: ["s", "m", null] } },
              required: ["name", "size"],
              additionalProperties: false
            },
            description: "an array of at most 3 item(s) (at most 3 items)"
          },
          either: {
            anyOf: [
              {
                anyOf: [
                  { type: "string" },
                  {
                    type: "object",
                    properties: {
                      name: { type: "string" },
                      size: { type: ["string", "null"], enum: ["s", "m", null] }
                    },
                    required: ["name", "size"],
                    additionalProperties: false
                  }
                ]
              },
              { type: "null" }
            ]
          }
        },
        required: ["items", "either"],
        additionalProperties: false
      }
    )
  })

  it("leaves the definition as it is", () => {
    const before = structuredClone(bash)
    for (const format of ToolFormat.formats) ToolFormat.toFormat(bash, format)
    assert.deepStrictEqual(bash, before)
  })
})
