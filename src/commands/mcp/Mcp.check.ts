/**
 * Checks values against a schema: their types, and the names of properties. What else a schema says is left to the
 * server.
 *
 * @since 0.1.0
 */
import { isDeepStrictEqual } from "node:util"
import * as Arguments from "../../command/Arguments.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as JsonText from "../../domain/JsonText.js"
import * as Similar from "../../domain/Similar.js"
import { type Fields, isRecord, type SchemaReader, type Shape } from "./Mcp.schema.js"
import * as Type from "./Mcp.type.js"

/** The depth of values that is checked. */
const deepest = 40

/**
 * Returns what is wrong with a value, by the place where it is; undefined where it fits.
 *
 * @param path the way to the value, from the parameter's name
 * @since 0.1.0
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
  return reason ?? `${at(path)} must be ${Type.print(reader, schema)}; it was ${shown(value)}.`
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
 * Returns what is wrong with the properties of an object; undefined where they fit.
 *
 * @since 0.1.0
 */
export const misfitOfFields = (
  reader: SchemaReader,
  { properties, required, rest }: Fields,
  value: Readonly<Record<string, unknown>>,
  path: ReadonlyArray<PropertyKey>
): string | undefined => {
  const missing = [...required].filter((name) => !Object.hasOwn(value, name))
  if (missing.length > 0) {
    const names = missing.slice(0, 20).map((name) => at([...path, name]))
    return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing.`
  }
  for (const [name, inner] of Object.entries(value)) {
    const schema = properties.has(name) ? properties.get(name) : rest
    if (schema === false && !properties.has(name)) return unknown([...path, name], name, properties.keys())
    const reason = schema === undefined ? undefined : misfit(reader, schema, inner, [...path, name])
    if (reason !== undefined) return reason
  }
  return undefined
}

const unknown = (path: ReadonlyArray<PropertyKey>, name: string, names: Iterable<string>): string => {
  const nearest = Similar.nearest(name, names)
  return `${at(path)} is no parameter${nearest === undefined ? "." : `; did you mean ${ForeignText.word(nearest)}?`}`
}
