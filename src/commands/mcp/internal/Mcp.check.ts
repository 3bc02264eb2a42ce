/**
 * Checks values against a schema: their types, and the names of properties. What else a schema says is left to the
 * server.
 */
import { isDeepStrictEqual } from "node:util"
import * as Arguments from "../../../command/Arguments.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as JsonText from "../../../domain/JsonText.js"
import * as Similar from "../../../domain/Similar.js"
import * as McpSchema from "./Mcp.schema.js"
import { type Fields, isRecord, type SchemaReader, type Shape } from "./Mcp.schema.js"

/** The depth of values that is checked. */
const deepest = 40

/**
 * Returns what is wrong with a value, by the place where it is; undefined where it fits.
 *
 * @param path the way to the value, from the parameter's name
 */
export const misfit = (
  reader: SchemaReader,
  schema: unknown,
  value: unknown,
  path: ReadonlyArray<PropertyKey>
): string | undefined => {
  if (path.length > deepest) return undefined
  const shapes = reader.shapes(schema)
  let reason: string | undefined
  for (const shape of shapes) {
    if (!isKind(shape, value)) continue
    const inner = misfitWithin(reader, shape, value, path)
    if (inner === undefined) return undefined
    reason ??= inner
  }
  return reason ?? `${at(path)} must be ${McpSchema.print(reader, schema)}; it was ${shown(value)}.`
}

const at = (path: ReadonlyArray<PropertyKey>): string => ForeignText.word(JsonText.showPath(path), 200)

const shown = (value: unknown): string =>
  typeof value === "string" ? Arguments.quoted(value) : ForeignText.word(JSON.stringify(value) ?? "nothing", 60)

const isKind = (shape: Shape, value: unknown): boolean => {
  switch (shape.kind) {
    case "any":
      return true
    case "values":
      return shape.values.some((one) => isDeepStrictEqual(one, value))
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isRecord(value)
    case "integer":
      return Number.isSafeInteger(value)
    default:
      return typeof value === shape.kind
  }
}

const misfitWithin = (
  reader: SchemaReader,
  shape: Shape,
  value: unknown,
  path: ReadonlyArray<PropertyKey>
): string | undefined => {
  if (shape.kind === "object" && isRecord(value)) return misfitOfFields(reader, shape.fields, value, path)
  if (shape.kind !== "array" || !Array.isArray(value)) return undefined
  for (const [index, item] of value.entries()) {
    const reason = misfit(reader, shape.items, item, [...path, index])
    if (reason !== undefined) return reason
  }
  return undefined
}

/**
 * Returns what is wrong with the arguments of a call; undefined where they fit. Where the schema names parameters and
 * says nothing of others, there are no others.
 */
export const misfitOfArguments = (
  reader: SchemaReader,
  fields: Fields,
  value: Readonly<Record<string, unknown>>
): string | undefined => {
  const isNamed = fields.properties.size > 0 && fields.rest === undefined
  return misfitOfFields(reader, isNamed ? { ...fields, rest: false } : fields, value, [])
}

/** The most names that are told. */
const mostNames = 20

const misfitOfFields = (
  reader: SchemaReader,
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
  path: ReadonlyArray<PropertyKey>
): string | undefined => {
  const { properties, required, rest } = fields
  const missing = [...required].filter((name) => !Object.hasOwn(value, name))
  const foreign = Object.keys(value).filter((name) => !properties.has(name))
  const open = [...properties.keys()].filter((name) => !Object.hasOwn(value, name))
  const unknown = foreign.slice(0, mostNames).flatMap((name) => {
    const meant = Similar.likely(name, open)
    // What may be there is only told of where it may be what is missing.
    if (rest !== false && !meant.some((one) => required.has(one))) return []
    return [`${at([...path, name])} is no parameter${meantBy(meant, (one) => at([...path, one]))}`]
  })
  const reasons = [...(missing.length > 0 ? [lacking(missing, path)] : []), ...unknown]
  if (missing.length > 0 || (rest === false && unknown.length > 0)) return reasons.join("\n")
  for (const [name, inner] of Object.entries(value)) {
    const schema = properties.has(name) ? properties.get(name) : rest
    const reason = schema === undefined ? undefined : misfit(reader, schema, inner, [...path, name])
    if (reason !== undefined) return reason
  }
  return undefined
}

const lacking = (names: ReadonlyArray<string>, path: ReadonlyArray<PropertyKey>): string =>
  `${names
    .slice(0, mostNames)
    .map((name) => at([...path, name]))
    .join(", ")} ${names.length === 1 ? "is" : "are"} missing.`

const meantBy = (names: ReadonlyArray<string>, show: (name: string) => string): string =>
  names.length === 0 ? "." : `; did you mean ${names.map(show).join(" or ")}?`
