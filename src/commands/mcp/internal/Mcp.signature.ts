/** Prints how a tool is called: its signature as people write types, and its usage line. */
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { InvalidUsage } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import type { CallableTool, ToolParameter } from "./Mcp.tool.js"
import * as Type from "./Mcp.type.js"

/** The most parameters of a signature. */
export const mostParameters = 40

/** The most optional parameters of a usage that are named. */
const mostOptions = 6

/** Prints the signature: `search(query: string, limit?: integer = 10)`. */
export const signature = (tool: CallableTool): string => {
  const { parameters, isFree, tool: described } = tool
  const shown = parameters.slice(0, mostParameters).map((parameter) => typed(tool, parameter))
  const rest = parameters.length > shown.length ? [`… ${parameters.length - shown.length} more`] : []
  const open = isFree ? ["…"] : tool.rest === undefined ? [] : [`[name]: ${Type.print(tool.reader, tool.rest)}`]
  return `${ForeignText.word(described.name)}(${[...shown, ...rest, ...open].join(", ")})`
}

const typed = (tool: CallableTool, parameter: ToolParameter): string => {
  const { isRequired, name, schema } = parameter
  const preset = defaultOf(tool, parameter)
  const type = `${ForeignText.word(name)}${isRequired ? "" : "?"}: ${Type.print(tool.reader, schema)}`
  return preset === undefined ? type : `${type} = ${preset}`
}

/** Prints the default of a parameter; undefined where it has none. */
export const defaultOf = ({ reader }: CallableTool, { schema }: ToolParameter): string | undefined => {
  const { default: preset } = reader.resolved(schema)
  return preset === undefined || preset === null ? undefined : ForeignText.word(JSON.stringify(preset) ?? "?", 40)
}

/**
 * Prints the usage line: `mcp:gh:search <query> [--limit <integer>]`.
 *
 * @param most the most optional parameters that are named
 */
export const usage = (tool: CallableTool, most = mostOptions): string => {
  const { isFree, parameters, word } = tool
  if (isFree) return `${word} [--json '{…}']`
  const required = parameters.filter(({ isRequired }) => isRequired)
  const optional = parameters.filter(({ isRequired }) => !isRequired)
  // The option of that name is all of the arguments.
  const options = optional
    .filter(({ name }) => name !== "json")
    .slice(0, most)
    .map((parameter) => `[${option(tool, parameter)}]`)
  const more = optional.length > options.length || tool.rest !== undefined ? ["[…]"] : []
  return [
    word,
    ...required.slice(0, mostParameters).map(({ name }) => `<${ForeignText.word(name)}>`),
    ...options,
    ...more
  ].join(" ")
}

const option = ({ reader }: CallableTool, { isFlag, isList, name, schema }: ToolParameter): string => {
  const label = `--${ForeignText.word(name)}`
  if (isFlag) return label
  const type = Type.print(reader, isList ? reader.items(schema) : schema)
  return `${label} ${type.length > 24 ? "…" : `<${type}>`}${isList ? "…" : ""}`
}

/** Makes the error for wrong words: what is wrong with them, one line each, and the usage. */
export const misuse = (tool: CallableTool, problems: ReadonlyArray<string>): InvalidUsage => {
  const text = problems.slice(0, 10).join("\n")
  return CommandGrammar.misuse({ name: tool.word, usage: usage(tool) }, [text, ...structures(tool, text)].join("\n"))
}

/** The most parameters whose structure an error shows. */
const mostStructures = 2

/** Shows what the usage does not: the parts of the objects that are required, or that are wrong. */
const structures = ({ parameters, reader }: CallableTool, problems: string): ReadonlyArray<string> => {
  const named = (name: string) => problems.split(/[^\w-]+/).includes(name)
  const hasParts = (schema: unknown, depth: number): boolean =>
    reader
      .shapes(schema)
      .some((shape) =>
        shape.kind === "object"
          ? shape.fields.properties.size > 0
          : shape.kind === "array" && depth > 0 && hasParts(shape.items, depth - 1)
      )
  return parameters
    .filter(({ isRequired, name, schema }) => (isRequired || named(name)) && hasParts(schema, 2))
    .map(({ name, schema }) => [ForeignText.word(name), Type.print(reader, schema)] as const)
    .filter(([, type]) => !problems.includes(type))
    .slice(0, mostStructures)
    .map(([name, type]) => `${name}: ${type}`)
}
