/**
 * Writes the help of a tool from its server's description. The server's words stand behind a margin, so that they can't
 * pass for Synapse's.
 */

import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { InvalidUsage } from "../../../domain/CommandError.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import type { CallableTool, ToolParameter } from "./Mcp.schema.js"
import * as McpSchema from "./Mcp.schema.js"

const mostInSignature = 40

/** The most optional parameters shown in a usage. */
const mostOptions = 6

/** Prints the signature: `search(query: string, limit?: integer = 10)`. */
export const signature = (tool: CallableTool): string => {
  const { parameters, isFree, tool: described } = tool
  const shown = parameters.slice(0, mostInSignature).map((parameter) => typed(tool, parameter))
  const rest = parameters.length > shown.length ? [`… ${parameters.length - shown.length} more`] : []
  const open = isFree ? ["…"] : tool.rest === undefined ? [] : [`[name]: ${McpSchema.print(tool.reader, tool.rest)}`]
  return `${UntrustedText.word(described.name)}(${[...shown, ...rest, ...open].join(", ")})`
}

const typed = (tool: CallableTool, parameter: ToolParameter): string => {
  const { isRequired, name, schema } = parameter
  const preset = defaultOf(tool, parameter)
  const type = `${UntrustedText.word(name)}${isRequired ? "" : "?"}: ${McpSchema.print(tool.reader, schema)}`
  return preset === undefined ? type : `${type} = ${preset}`
}

const defaultOf = ({ reader }: CallableTool, { schema }: ToolParameter): string | undefined => {
  const { default: preset } = reader.resolved(schema)
  return preset === undefined || preset === null ? undefined : UntrustedText.word(JSON.stringify(preset) ?? "?", 40)
}

/**
 * Prints the usage line: `mcp:gh:search <query> [--limit <integer>]`.
 *
 * @param most the most optional parameters shown
 */
export const usage = (tool: CallableTool, most = mostOptions): string => {
  const { isFree, parameters, word } = tool
  if (isFree) return `${word} [--json '{…}']`
  const required = parameters.filter(({ isRequired }) => isRequired)
  const optional = parameters.filter(({ isRequired }) => !isRequired)
  // The option `--json` stands for all arguments.
  const options = optional
    .filter(({ name }) => name !== "json")
    .slice(0, most)
    .map((parameter) => `[${option(tool, parameter)}]`)
  const more = optional.length > options.length || tool.rest !== undefined ? ["[…]"] : []
  return [
    word,
    ...required.slice(0, mostInSignature).map(({ name }) => `<${UntrustedText.word(name)}>`),
    ...options,
    ...more
  ].join(" ")
}

const option = ({ reader }: CallableTool, { isFlag, isList, name, schema }: ToolParameter): string => {
  const label = `--${UntrustedText.word(name)}`
  if (isFlag) return label
  const type = McpSchema.print(reader, isList ? reader.items(schema) : schema)
  return `${label} ${type.length > 24 ? "…" : `<${type}>`}${isList ? "…" : ""}`
}

/** Makes the error for wrong words: one line for each problem, and the usage. */
export const misuse = (tool: CallableTool, problems: ReadonlyArray<string>): InvalidUsage => {
  const text = problems.slice(0, 10).join("\n")
  return CommandGrammar.misuse({ name: tool.word, usage: usage(tool) }, [text, ...structures(tool, text)].join("\n"))
}

const mostStructures = 2

/** Shows the object types of required and wrong parameters, which the usage leaves out. */
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
    .map(({ name, schema }) => [UntrustedText.word(name), McpSchema.print(reader, schema)] as const)
    .filter(([, type]) => !problems.includes(type))
    .slice(0, mostStructures)
    .map(([name, type]) => `${name}: ${type}`)
}

const mostParameters = 80

const margin = "  | "

export const help = (tool: CallableTool): string => {
  const { description = "", title } = tool.tool
  const described = description.trim() === "" ? (title ?? "") : description
  const words = UntrustedText.block(described, margin, { characters: 4000, lines: 80 })
  return [
    signature(tool),
    "",
    "USAGE",
    `  ${usage(tool)}`,
    ...(described.trim() === "" ? [] : ["", `DESCRIPTION (the server's words)`, ...words]),
    ...parameters(tool),
    "",
    "OPTIONS",
    "  --json <object>  All arguments at once, as JSON; --json - takes them from standard input.",
    ...(tool.parameters.some(({ isRequired }) => isRequired)
      ? ["                   A call without words takes them from there too, because some are required."]
      : ["                   A call without it never reads standard input."]),
    ...(tool.parameters.length === 0 || tool.isFree
      ? []
      : [
          "  --               What follows are values, in the order of the first line, also where they begin with a dash."
        ]),
    "  -h, --help       This text.",
    ...reserved(tool),
    ""
  ].join("\n")
}

/** Explains parameters whose names are also Synapse's own options. */
const reserved = ({ parameters }: CallableTool): ReadonlyArray<string> =>
  parameters.flatMap(({ name }) => {
    if (name === "json") return ["  The parameter json is given by its place, or within --json '{\"json\": …}'."]
    return name === "help" ? ["  The parameter help is given as --help=<value>, or by its place."] : []
  })

const parameters = (tool: CallableTool): ReadonlyArray<string> => {
  if (tool.isFree) return ["", "PARAMETERS", "  The server does not say which: they are given with --json."]
  const listed = tool.parameters.slice(0, mostParameters)
  // The signature already shows the name and type of the first ones.
  const shown = listed.flatMap((parameter, at) => described(tool, parameter, at < mostInSignature))
  const left = tool.parameters.length - listed.length
  const rows = [
    ...shown,
    ...(left > 0 ? [`  … and ${left} more`] : []),
    ...(tool.rest === undefined ? [] : ["  --<any name>: further ones as the server knows them"])
  ]
  return rows.length === 0 ? [] : ["", "PARAMETERS", ...rows]
}

/** Describes a parameter. Empty if the signature already says everything. */
const described = (tool: CallableTool, parameter: ToolParameter, isTyped: boolean): ReadonlyArray<string> => {
  const { isFlag, isList, isRequired, name, schema } = parameter
  const { description } = tool.reader.resolved(schema)
  const preset = isTyped ? undefined : defaultOf(tool, parameter)
  const label = UntrustedText.word(name)
  const facts = [
    ...(isTyped ? [] : [McpSchema.print(tool.reader, schema)]),
    ...(isRequired && !isTyped ? ["required"] : []),
    ...(preset === undefined ? [] : [`by default ${preset}`]),
    ...(isFlag ? [`--${label}=false turns it off`] : []),
    ...(isList ? ["may be repeated"] : [])
  ]
  const words =
    typeof description === "string" && description.trim() !== ""
      ? UntrustedText.block(description, `  ${margin}`, { characters: 600, lines: 12 })
      : []
  if (isTyped && facts.length === 0 && words.length === 0) return []
  return [`  ${name === "json" ? "" : "--"}${label}${facts.length === 0 ? "" : `  ${facts.join(", ")}`}`, ...words]
}
