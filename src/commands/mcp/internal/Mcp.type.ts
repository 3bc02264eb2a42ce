/** Prints the types of a schema as people write them: `string[]`, `"asc" | "desc"`. */

import * as ForeignText from "../../../domain/ForeignText.js"
import type { SchemaReader, Shape } from "./Mcp.schema.js"

/** The most characters of a type. */
const most = 120

/** The most values of an enumeration, the most alternatives of a union, and the most fields of an object. */
const mostParts = 12

/** The depth at which the fields of an object are not printed any more. */
const deepest = 3

/** Prints the type of a schema on one line. */
export const print = (reader: SchemaReader, schema: unknown): string => {
  for (let depth = deepest; depth > 0; depth--) {
    const text = typeOf(reader, schema, depth)
    if (text.length <= most) return text
  }
  return ForeignText.word(typeOf(reader, schema, 0), most)
}

const typeOf = (reader: SchemaReader, schema: unknown, depth: number): string => {
  const shapes = reader.shapes(schema)
  return shapes.length === 0 ? "nothing" : joined([...new Set(shapes.map((shape) => one(reader, shape, depth)))])
}

const joined = (parts: ReadonlyArray<string>): string =>
  [...parts.slice(0, mostParts), ...(parts.length > mostParts ? ["…"] : [])].join(" | ")

const one = (reader: SchemaReader, shape: Shape, depth: number): string => {
  switch (shape.kind) {
    case "values":
      return joined(
        shape.values.slice(0, mostParts + 1).map((value) => ForeignText.word(JSON.stringify(value) ?? "?", 40))
      )
    case "array": {
      if (depth <= 0) return "array"
      const items = typeOf(reader, shape.items, depth - 1)
      return items.includes(" | ") ? `(${items})[]` : `${items}[]`
    }
    case "object": {
      const { properties, required } = shape.fields
      if (depth <= 0 || properties.size === 0) return "object"
      const fields = [...properties]
        .slice(0, mostParts)
        .map(
          ([name, schema]) =>
            `${ForeignText.word(name, 40)}${required.has(name) ? "" : "?"}: ${typeOf(reader, schema, depth - 1)}`
        )
      return `{ ${[...fields, ...(properties.size > mostParts ? ["…"] : [])].join(", ")} }`
    }
    default:
      return shape.kind
  }
}
