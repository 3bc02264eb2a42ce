/**
 * A tool for a model: its definition, and the function that runs it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as Function from "effect/Function"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Advice from "../domain/Advice.js"
import { type CommandError, type FailureCategory, InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type * as Diagnostic from "../domain/Diagnostic.js"

/**
 * The definition of a tool in a model's tool list. `ToolFormat.toFormat` converts it for an API.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** The parameters as the JSON schema of an object, without references unless the schema is recursive. */
  readonly parameters: JsonSchema
}

/**
 * A JSON schema.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonSchema {
  readonly [key: string]: unknown
}

/**
 * The line, the hint and the category that a tool adds to the result of a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Diagnosis {
  /**
   * The line after the command's own output in `output`. By default, it is the exit code of a failure, or the error's
   * text.
   */
  readonly remark?: string | undefined
  /** The result's denial without advice that the model has been given. By default, all of it is told. */
  readonly denied?: Diagnostic.Denial | undefined
  /** How to see the usage of the failed command, for `message`. */
  readonly hint?: Advice.Advice | undefined
  /** The category of a failure, if the result alone does not tell it. */
  readonly category?: FailureCategory | undefined
}

/**
 * A tool that a Toolset runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tool {
  readonly definition: ToolDefinition
  /** The form of a correct call, shown in errors: `Count(to=…)`. */
  readonly example: string
  /** Runs the tool with the arguments of a call. Fails with InvalidUsage for wrong arguments. */
  readonly run: (params: unknown) => Effect.Effect<CommandResult, CommandError>
  /**
   * Returns a correct call, made from the arguments of a wrong one, or from their text if it is not JSON. Returns
   * undefined if that is impossible. Without this function, errors show `example`.
   */
  readonly exampleFor?: (params: unknown) => string | undefined
  /** Explains how a call ended, if the output and the exit code do not say it all. */
  readonly diagnose?: (params: unknown, exit: Exit.Exit<CommandResult, CommandError>) => Effect.Effect<Diagnosis>
  /**
   * Returns the call of this tool that replaces a call of an unknown tool, or undefined. `params` is text if the
   * arguments are not JSON.
   */
  readonly replace?: (name: string, params: unknown) => string | undefined
}

/**
 * Makes a tool from the schema of its parameters. The schema also gives the JSON schema for the model, and `run` gets
 * only arguments that it accepts.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <A, I>(
  options: {
    readonly name: string
    /** The description; a function if it changes with the registered commands. */
    readonly description: string | (() => string)
    readonly parameters: Schema.Schema<A, I>
    /** A correct call. By default, it is made from the required parameters. */
    readonly example?: string
    /** Converts arguments that are written differently to the form of the parameters, before the check. */
    readonly prepare?: (params: unknown) => unknown
    readonly run: (params: A) => Effect.Effect<CommandResult, CommandError>
  } & Pick<Tool, "diagnose" | "exampleFor" | "replace">
): Tool => {
  const { description, diagnose, exampleFor, name, parameters, prepare = Function.identity, replace, run } = options
  const jsonSchema = toJsonSchema(parameters)
  const example = options.example ?? exampleOf(name, jsonSchema)
  const decode = ParseResult.decodeUnknownEither(parameters, { onExcessProperty: "error", errors: "all" })
  return {
    definition: {
      name,
      get description() {
        return typeof description === "string" ? description : description()
      },
      parameters: jsonSchema
    },
    example,
    run: (given) => {
      const params = prepare(given)
      const invalid = (problems: ReadonlyArray<string>) =>
        Effect.fail(invalidParameters(name, problems, exampleFor === undefined ? example : exampleFor(given)))
      if (jsonSchema["type"] === "object" && !Predicate.isReadonlyRecord(params)) {
        return invalid([`the arguments must be an object${propertiesOf(jsonSchema)}`])
      }
      const decoded = decode(params)
      return Either.isRight(decoded) ? run(decoded.right) : invalid(problems(decoded.left))
    },
    ...(exampleFor === undefined ? {} : { exampleFor }),
    ...(diagnose === undefined ? {} : { diagnose: (params, exit) => diagnose(prepare(params), exit) }),
    ...(replace === undefined ? {} : { replace })
  }
}

/**
 * Makes the error for wrong parameters: one problem per line, and a correct call if known.
 *
 * @since 0.1.0
 * @category errors
 */
export const invalidParameters = (name: string, problems: ReadonlyArray<string>, example?: string): InvalidUsage =>
  new InvalidUsage({
    ofCall: true,
    reason: [
      `Invalid parameters for ${name}:`,
      ...problems.map((problem) => `- ${problem}`),
      ...(example === undefined ? [] : [`Use: ${example}`])
    ].join("\n")
  })

const problems = (error: ParseResult.ParseIssue): ReadonlyArray<string> => {
  const namesOf = new Map<string, Array<string>>()
  for (const { message, path } of ParseResult.ArrayFormatter.formatIssueSync(error))
    namesOf.set(message, [...(namesOf.get(message) ?? []), path.length === 0 ? "input" : path.join(".")])
  return Array.from(namesOf, ([message, names]) => `${names.join(", ")}: ${message}`)
}

const propertiesOf = ({ properties }: JsonSchema): string => {
  const names = Predicate.isReadonlyRecord(properties) ? Object.keys(properties) : []
  return names.length === 0 ? "" : ` with ${names.join(", ")}`
}

/** Writes a call with a placeholder for each required parameter. */
const exampleOf = (name: string, jsonSchema: JsonSchema): string => {
  const required = Array.isArray(jsonSchema["required"]) ? jsonSchema["required"] : []
  return `${name}(${required.map((parameter) => `${parameter}=…`).join(", ")})`
}

/**
 * Converts the schema of parameters to a JSON schema for a model, without `$schema`. It has `$ref` only if the schema
 * refers to itself.
 *
 * @since 0.1.0
 */
export const toJsonSchema = <A, I>(schema: Schema.Schema<A, I>): JsonSchema => {
  const {
    $defs = {},
    $schema: _,
    ...root
  } = JSONSchema.make(schema) as unknown as JsonSchema & {
    readonly $defs?: Readonly<Record<string, unknown>>
  }
  const inline = (node: unknown, within: ReadonlyArray<string>): unknown => {
    if (Array.isArray(node)) return node.map((item) => inline(item, within))
    if (typeof node !== "object" || node === null) return node
    const { $ref, ...rest } = node as JsonSchema
    const definition = typeof $ref === "string" ? $ref.replace("#/$defs/", "") : undefined
    // Only a reference can express a recursive schema.
    if (definition !== undefined && within.includes(definition)) return node
    const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inline(value, within)]))
    if (definition === undefined) return inner
    return { ...(inline($defs[definition], [...within, definition]) as JsonSchema), ...inner }
  }
  const inlined = inline(root, []) as JsonSchema
  return JSON.stringify(inlined).includes('"$ref":"#/$defs/') ? { ...inlined, $defs } : inlined
}
