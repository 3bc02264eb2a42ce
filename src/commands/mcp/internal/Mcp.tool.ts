/** Reads from a tool's schema how it is called: its parameters, in the order of their positions. */
import type { McpTool } from "../../../extension/mcp/McpClient.js"
import * as McpName from "../../../extension/mcp/McpName.js"
import { type Fields, isRecord, SchemaReader } from "./Mcp.schema.js"

/** A parameter of a tool. */
export interface ToolParameter {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
  /** True where it is on or off, so that its option needs no value. */
  readonly isFlag: boolean
  /** True where `--no-<name>` turns it off. */
  readonly isSwitch: boolean
  /** True where it takes an array, so that its option may be repeated. */
  readonly isList: boolean
}

/** A tool, as it is called. */
export interface CallableTool {
  readonly tool: McpTool
  /** The word that it is called by. */
  readonly word: string
  readonly reader: SchemaReader
  readonly fields: Fields
  /** The parameters: those of `required` in its order, then the others in theirs. */
  readonly parameters: ReadonlyArray<ToolParameter>
  /** The schema of options that no parameter has the name of; undefined where there are none. */
  readonly rest: unknown
  /** True where the schema says nothing of what it takes, so that only `--json` can be used. */
  readonly isFree: boolean
}

/** Reads how a tool is called. */
export const make = (tool: McpTool): CallableTool => {
  const reader = new SchemaReader(tool.inputSchema)
  // A schema need not say that arguments are an object: they always are.
  const schema = { type: "object", ...(isRecord(tool.inputSchema) ? tool.inputSchema : {}) }
  const fields = reader.fields(schema)
  const { properties, required, rest } = fields
  const names = [...required, ...[...properties.keys()].filter((name) => !required.has(name))]
  const parameters = names.map((name) => {
    const schema = properties.get(name)
    const shapes = reader.shapes(schema)
    const isOnOff = (kind: string) => kind === "boolean" || kind === "null"
    return {
      name,
      schema,
      isRequired: required.has(name),
      isFlag: shapes.some(({ kind }) => kind === "boolean") && shapes.every(({ kind }) => isOnOff(kind)),
      isSwitch: shapes.some(({ kind }) => kind === "boolean"),
      isList: shapes.some(({ kind }) => kind === "array")
    }
  })
  const isOpen = rest !== undefined && rest !== false
  return {
    tool,
    word: McpName.toWord(tool.server, tool.name),
    reader,
    fields,
    parameters,
    rest: isOpen ? rest : undefined,
    // Servers whose tools take nothing send an empty list of properties, and leave the rest open by default.
    isFree: parameters.length === 0 && rest !== false && !isRecord(schema["properties" as keyof typeof schema])
  }
}
