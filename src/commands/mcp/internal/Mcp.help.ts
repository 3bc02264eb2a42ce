/**
 * Writes the help of a tool from what its server says of it. The server's own words stand behind a margin, so that they
 * can't be taken for ours.
 */

import * as Either from "effect/Either"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Option from "./Mcp.option.js"
import * as Signature from "./Mcp.signature.js"
import type { CallableTool, ToolParameter } from "./Mcp.tool.js"
import * as Type from "./Mcp.type.js"

/** The most parameters that are described. */
const mostParameters = 80

const margin = "  | "

/** Writes the help. */
export const help = (tool: CallableTool): string => {
  const { description = "", title } = tool.tool
  const described = description.trim() === "" ? (title ?? "") : description
  const words = ForeignText.block(described, margin, { characters: 4000, lines: 80 })
  return [
    Signature.signature(tool),
    "",
    "USAGE",
    `  ${Signature.usage(tool)}`,
    ...(described.trim() === "" ? [] : ["", `DESCRIPTION (the server's words)`, ...words]),
    ...parameters(tool),
    "",
    "OPTIONS",
    "  --json <object>  All arguments at once, as JSON; --json - takes them from standard input.",
    ...(tool.parameters.some(({ isRequired }) => isRequired)
      ? ["                   So does a call without any words, for some are required."]
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

/** What is said of parameters whose names are options of ours. */
const reserved = ({ parameters }: CallableTool): ReadonlyArray<string> =>
  parameters.flatMap(({ name }) => {
    if (name === "json") return ["  The parameter json is given by its place, or within --json '{\"json\": …}'."]
    return name === "help" ? ["  The parameter help is given as --help=<value>, or by its place."] : []
  })

const parameters = (tool: CallableTool): ReadonlyArray<string> => {
  if (tool.isFree) return ["", "PARAMETERS", "  The server does not say which: they are given with --json."]
  const listed = tool.parameters.slice(0, mostParameters)
  // The signature has the name and the type of the first ones already.
  const shown = listed.flatMap((parameter, at) => described(tool, parameter, at < Signature.mostParameters))
  const left = tool.parameters.length - listed.length
  const { unread } = tool.fields
  const rows = [
    ...shown,
    ...(left > 0 ? [`  … and ${left} more`] : []),
    ...(unread === 0 ? [] : [`  … and ${unread} that are not read here: --<name> takes their values, unchecked`]),
    ...(tool.rest === undefined || unread > 0 ? [] : ["  --<any name>: further ones as the server knows them"])
  ]
  return rows.length === 0 ? [] : ["", "PARAMETERS", ...rows]
}

/** Tests whether `--no-<name>` is a parameter of its own. */
const isOwn = (tool: CallableTool, name: string): boolean =>
  Either.match(Option.find(tool, `--no-${name}`), { onLeft: () => true, onRight: (option) => option?.isOff !== true })

/** Describes a parameter; nothing where all is said of it already. */
const described = (tool: CallableTool, parameter: ToolParameter, isTyped: boolean): ReadonlyArray<string> => {
  const { isFlag, isList, isRequired, name, schema } = parameter
  const { description } = tool.reader.resolved(schema)
  const preset = isTyped ? undefined : Signature.defaultOf(tool, parameter)
  const label = ForeignText.word(name)
  const facts = [
    ...(isTyped ? [] : [Type.print(tool.reader, schema)]),
    ...(isRequired && !isTyped ? ["required"] : []),
    ...(preset === undefined ? [] : [`by default ${preset}`]),
    ...(isFlag ? [`${isOwn(tool, name) ? `--${label}=false` : `--no-${label}`} turns it off`] : []),
    ...(isList ? ["may be repeated"] : [])
  ]
  const words =
    typeof description === "string" && description.trim() !== ""
      ? ForeignText.block(description, `  ${margin}`, { characters: 600, lines: 12 })
      : []
  if (isTyped && facts.length === 0 && words.length === 0) return []
  return [`  ${name === "json" ? "" : "--"}${label}${facts.length === 0 ? "" : `  ${facts.join(", ")}`}`, ...words]
}
