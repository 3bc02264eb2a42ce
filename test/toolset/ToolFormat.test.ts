import { assert, describe, it } from "@effect/vitest"
import * as BashTool from "../../src/toolset/BashTool.js"
import { type ToolDefinition, toJsonSchema } from "../../src/toolset/Tool.js"
import * as ToolFormat from "../../src/toolset/ToolFormat.js"

const definition = (parameters: ToolDefinition["parameters"]): ToolDefinition => ({
  name: "Bash",
  description: "Runs a command.",
  parameters
})

const bash = definition(toJsonSchema(BashTool.Parameters))

describe("ToolFormat", () => {
  it("S41: gives each API the definition under the names that it knows", () => {
    const { description, name, parameters } = bash
    assert.deepStrictEqual(ToolFormat.formats, ["anthropic", "openai", "mcp"])
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "anthropic"), { name, description, input_schema: parameters })
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "openai"), {
      type: "function",
      function: { name, description, parameters }
    })
    assert.deepStrictEqual(ToolFormat.toFormat(bash, "mcp"), { name, description, inputSchema: parameters })
  })

  it("leaves the definition as it is", () => {
    const before = structuredClone(bash)
    for (const format of ToolFormat.formats) ToolFormat.toFormat(bash, format)
    assert.deepStrictEqual(bash, before)
  })
})
