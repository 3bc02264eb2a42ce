/**
 * Decodes the usual content of `sandbox.json` without effect's Schema, which takes longer to load than running a
 * command.
 */
import * as Predicate from "effect/Predicate"
import { defaults } from "./SandboxDefaults.js"
import type { SandboxFile } from "./SandboxFile.js"

/** The keywords of a JSON Schema that `fits` checks. */
interface Shape {
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: false
}

const words = ["$defs", "$schema", "description", "title"]
const understood = ["type", "enum", "anyOf", "items", "properties", "required", "additionalProperties", ...words]

/** Returns the file's JSON Schema, which the build inserts here. Without it, `read` always returns undefined. */
const built = (): object | undefined => undefined

/** Tests whether a value certainly matches a shape. */
const fits = (value: unknown, shape: Shape = {}): boolean => {
  const {
    additionalProperties = false,
    anyOf,
    enum: among = [value],
    items,
    properties = {},
    required = [],
    type
  } = shape
  if (additionalProperties !== false || !Object.keys(shape).every((name) => understood.includes(name))) return false
  if (anyOf !== undefined) return anyOf.some((each) => fits(value, each))
  if (Array.isArray(value)) return type === "array" && value.every((item) => fits(item, items))
  return Predicate.isReadonlyRecord(value)
    ? type === "object" &&
        required.every((name) => Object.hasOwn(value, name)) &&
        Object.entries(value).every(([name, inner]) => Object.hasOwn(properties, name) && fits(inner, properties[name]))
    : value !== null && type === typeof value && among.includes(value)
}

/** Returns the content of the file as its schema decodes it; undefined if only the schema can tell. */
export const read = (value: unknown, shape = built()): SandboxFile | undefined => {
  if (shape === undefined || !fits(value, shape)) return undefined
  const { policy, ...others } = value as Partial<SandboxFile>
  return {
    ...defaults,
    ...others,
    policy: {
      ...defaults.policy,
      ...policy,
      filesystem: { ...defaults.policy.filesystem, ...policy?.filesystem },
      network: { ...defaults.policy.network, ...policy?.network }
    }
  }
}
