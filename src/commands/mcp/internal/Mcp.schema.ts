/**
 * Reads JSON Schemas of servers, which are untrusted. Unknown keywords allow any value, references may form cycles, and
 * the work on one schema is bounded.
 */

import * as Predicate from "effect/Predicate"
import * as Attempt from "../../../domain/Attempt.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import type { JsonSchema, McpTool } from "../../../extension/mcp/McpClient.js"
import * as McpName from "../../../extension/mcp/McpName.js"

export interface ToolParameter {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
  /** True if the parameter is a boolean, so that its option needs no value. */
  readonly isFlag: boolean
  /** True if `--no-<name>` turns it off. */
  readonly isSwitch: boolean
  /** True if it takes an array, so that its option may be repeated. */
  readonly isList: boolean
}

/** A tool with its parameters as a command's options. */
export interface CallableTool {
  readonly tool: McpTool
  /** The name that it is called by. */
  readonly word: string
  readonly reader: SchemaReader
  /** The parameters: required ones in the order of `required`, then the others. */
  readonly parameters: ReadonlyArray<ToolParameter>
  /** The schema of further options under any name, if the tool allows them. */
  readonly rest: unknown
  /** True if the schema names no parameters, so that only `--json` can be used. */
  readonly isFree: boolean
}

export const make = (tool: McpTool): CallableTool => {
  const reader = new SchemaReader(tool.inputSchema)
  // Arguments are always an object, even if the schema does not say so.
  const schema = { type: "object", ...(isRecord(tool.inputSchema) ? tool.inputSchema : {}) }
  const { properties, required, rest } = reader.fields(schema)
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
    parameters,
    rest: isOpen ? rest : undefined,
    // A tool without parameters often has an empty list of properties, and allows others only by default.
    isFree: parameters.length === 0 && rest !== false && !isRecord(schema["properties" as keyof typeof schema])
  }
}

/** The most characters of a printed type. */
const most = 120

/** The most printed values of an enumeration, alternatives of a union, and fields of an object. */
const mostParts = 12

/** The greatest depth at which an object's fields are printed. */
const deepest = 3

/** Prints the type of a schema on one line. */
export const print = (reader: SchemaReader, schema: unknown): string => {
  for (let depth = deepest; depth > 0; depth--) {
    const text = typeOf(reader, schema, depth)
    if (text.length <= most) return text
  }
  return UntrustedText.word(typeOf(reader, schema, 0), most)
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
        shape.values.slice(0, mostParts + 1).map((value) => UntrustedText.word(JSON.stringify(value) ?? "?", 40))
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
            `${UntrustedText.word(name, 40)}${required.has(name) ? "" : "?"}: ${typeOf(reader, schema, depth - 1)}`
        )
      return `{ ${[...fields, ...(properties.size > mostParts ? ["…"] : [])].join(", ")} }`
    }
    default:
      return shape.kind
  }
}

/** One form that a value may have. `values` allows only the listed ones. */
export type Shape =
  | { readonly kind: "string" | "integer" | "number" | "boolean" | "null" | "any" }
  | { readonly kind: "values"; readonly values: ReadonlyArray<unknown> }
  | { readonly kind: "array"; readonly items: unknown }
  | { readonly kind: "object"; readonly fields: Fields }

/**
 * The properties of an object. `rest` is the schema of all others: undefined if unspecified, `false` if there may be
 * none.
 */
export interface Fields {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: ReadonlySet<string>
  readonly rest: unknown
}

const kinds = ["string", "integer", "number", "boolean", "null", "array", "object"] as const

/** The most schemas read for one. */
const mostSchemas = 400

const mostShapes = 60

const any: Shape = { kind: "any" }

const isRecord = Predicate.isReadonlyRecord

/** Reads a schema and the schemas within it, which it may refer to. */
export class SchemaReader {
  private readonly known = new Map<unknown, ReadonlyArray<Shape>>()

  constructor(readonly root: unknown) {}

  /** Returns the shapes that a value may have. Empty if no value fits. */
  shapes(schema: unknown): ReadonlyArray<Shape> {
    const before = this.known.get(schema)
    if (before !== undefined) return before
    const shapes = this.shapesOf(schema, { left: mostSchemas })
    const some = shapes.length > mostShapes ? [any] : shapes.some(({ kind }) => kind === "any") ? [any] : shapes
    this.known.set(schema, some)
    return some
  }

  /** Returns the properties of an object's schema, over all its alternatives. */
  fields(schema: unknown): Fields {
    const objects = this.shapes(schema).flatMap((shape) => (shape.kind === "object" ? [shape.fields] : []))
    const [only, ...more] = objects
    if (only === undefined) return fieldsOf({})
    const properties = new Map(objects.flatMap((fields) => [...fields.properties]))
    const required = [...only.required].filter((name) => more.every((fields) => fields.required.has(name)))
    const rest = objects.find((fields) => fields.rest !== false)
    return {
      properties,
      required: new Set(required),
      rest: rest === undefined ? false : rest.rest
    }
  }

  /** Returns the schema of an array's items, or the schema itself if it also allows other shapes. */
  items(schema: unknown): unknown {
    const [only, ...more] = this.shapes(schema).filter(({ kind }) => kind !== "null")
    return only?.kind === "array" && more.length === 0 ? only.items : schema
  }

  /** Returns the schema with its references followed, for its description and default. */
  resolved(schema: unknown): JsonSchema {
    const resolved = this.resolve(schema, { left: mostSchemas })
    return isRecord(resolved) ? resolved : {}
  }

  private shapesOf(schema: unknown, budget: { left: number }): ReadonlyArray<Shape> {
    const resolved = this.resolve(schema, budget)
    if (resolved === false) return []
    if (!isRecord(resolved) || budget.left <= 0) return [any]
    const { allOf, anyOf, oneOf, ...base } = resolved
    if (isList(allOf)) {
      const merged = allOf.reduce<JsonSchema>((all, one) => merge(all, this.resolve(one, budget)), base)
      // The merged schema may have alternatives itself.
      return this.shapesOf(merge({ anyOf, oneOf }, merged), budget)
    }
    const alternatives = isList(anyOf) ? anyOf : isList(oneOf) ? oneOf : undefined
    const other = isList(anyOf) && isList(oneOf) ? { oneOf } : {}
    if (alternatives !== undefined) {
      return alternatives.flatMap((one) => {
        const alternative = this.resolve(one, budget)
        return alternative === false ? [] : this.shapesOf(merge(merge(base, other), alternative), budget)
      })
    }
    if ("const" in base) return [{ kind: "values", values: [base["const"]] }]
    const { enum: values, type } = base
    if (Array.isArray(values)) return [{ kind: "values", values }]
    const named = kinds.filter((kind) => kind === type || (Array.isArray(type) && type.includes(kind)))
    const meant = named.length > 0 ? named : impliedBy(base)
    return meant === undefined ? [any] : meant.map((kind) => shapeOf(kind, base))
  }

  /** Follows references. One that leads nowhere allows any value. */
  private resolve(schema: unknown, budget: { left: number }): unknown {
    let at = schema
    while (budget.left-- > 0 && isRecord(at) && typeof at["$ref"] === "string") {
      const { $ref, ...beside } = at
      const target = this.lookUp($ref as string)
      at = isRecord(target) ? { ...target, ...beside } : Object.keys(beside).length > 0 ? beside : target
    }
    return at
  }

  private lookUp(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined
    let at: unknown = this.root
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = unescaped(part)
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined
      at = (at as JsonSchema)[key]
    }
    return at
  }
}

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value) && value.length > 0

const unescaped = (part: string): string => {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~")
  return Attempt.orElse(() => decodeURIComponent(plain), plain)
}

/** Combines two schemas that both apply. */
const merge = (a: JsonSchema, b: unknown): JsonSchema => {
  if (!isRecord(b)) return a
  const both: Record<string, unknown> = { ...a, ...b }
  if (isRecord(a["properties"]) && isRecord(b["properties"])) {
    both["properties"] = { ...a["properties"], ...b["properties"] }
  }
  if (Array.isArray(a["required"]) && Array.isArray(b["required"]))
    both["required"] = [...a["required"], ...b["required"]]
  if (isList(a["allOf"]) && isList(b["allOf"])) both["allOf"] = [...a["allOf"], ...b["allOf"]]
  return Object.fromEntries(Object.entries(both).filter(([, value]) => value !== undefined))
}

const impliedBy = (schema: JsonSchema): ReadonlyArray<(typeof kinds)[number]> | undefined => {
  if (isRecord(schema["properties"]) || Array.isArray(schema["required"])) return ["object"]
  return "items" in schema || "prefixItems" in schema ? ["array"] : undefined
}

const shapeOf = (kind: (typeof kinds)[number], schema: JsonSchema): Shape => {
  if (kind === "array")
    return { kind, items: "prefixItems" in schema || Array.isArray(schema["items"]) ? true : schema["items"] }
  return kind === "object" ? { kind, fields: fieldsOf(schema) } : { kind }
}

/** The keywords that may allow further properties. */
const naming = ["patternProperties", "if", "then", "else", "dependentSchemas", "dependencies"]

const fieldsOf = (schema: JsonSchema): Fields => {
  const { additionalProperties: rest, patternProperties, properties, required } = schema
  const named = Array.isArray(required) ? required.filter((name) => typeof name === "string") : []
  const known = new Map(Object.entries(isRecord(properties) ? properties : {}))
  // A required property may lack a description.
  for (const name of named) if (!known.has(name)) known.set(name, true)
  const isOpen = rest === undefined && naming.some((keyword) => keyword in schema)
  return {
    properties: known,
    required: new Set(named),
    rest: isOpen || (isRecord(patternProperties) && rest === false) ? true : rest
  }
}
