import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Arguments from "../../../src/commands/mcp/internal/Mcp.arguments.js"
import * as McpSchema from "../../../src/commands/mcp/internal/Mcp.schema.js"
import type { JsonSchema } from "../../../src/extension/mcp/McpClient.js"

/** A schema, and a value that fits it. */
interface Pair {
  readonly schema: JsonSchema
  readonly value: unknown
}

/** Text of any kind, with what a shell would read otherwise. */
const texts = FastCheck.oneof(
  FastCheck.fullUnicodeString().map((text) => text.replace(/\p{Cs}/gu, "")),
  FastCheck.constantFrom(
    "$(id)",
    "`id`",
    "a b",
    "-x",
    "--deep",
    "--",
    "'\"\\",
    "*",
    "{}",
    "[]",
    "null",
    "true",
    "4",
    "\n",
    ""
  )
)

const integers = FastCheck.maxSafeInteger()
const numbers = FastCheck.double({ noDefaultInfinity: true, noNaN: true }).filter((value) => !Number.isInteger(value))

const scalars: FastCheck.Arbitrary<Pair> = FastCheck.oneof(
  texts.map((value) => ({ schema: { type: "string" }, value })),
  integers.map((value) => ({ schema: { type: "integer" }, value })),
  numbers.map((value) => ({ schema: { type: "number" }, value })),
  FastCheck.boolean().map((value) => ({ schema: { type: "boolean" }, value })),
  FastCheck.constant({ schema: { type: "null" }, value: null }),
  integers.map((value) => ({ schema: { anyOf: [{ type: "integer" }, { type: "null" }] }, value })),
  texts.map((value) => ({ schema: { enum: ["other", value] }, value }))
)

const { pair: pairs } = FastCheck.letrec<{ pair: Pair }>((tie) => ({
  pair: FastCheck.oneof(
    { depthSize: "small" },
    scalars,
    FastCheck.tuple(tie("pair"), FastCheck.nat(3)).map(([{ schema, value }, length]) => ({
      schema: { type: "array", items: schema },
      value: Array.from({ length }, () => value)
    })),
    FastCheck.dictionary(FastCheck.string({ minLength: 1, maxLength: 5 }), tie("pair"), {
      maxKeys: 3,
      noNullPrototype: true
    }).map((fields) => ({
      schema: {
        type: "object",
        properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
        additionalProperties: false
      },
      value: Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
    }))
  )
}))

/** Writes a value as the word that stands for it. */
const written = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const names = FastCheck.uniqueArray(
  FastCheck.stringMatching(/^[a-z][a-z0-9]{1,8}$/).filter((name) => name !== "json" && name !== "help"),
  {
    minLength: 1,
    maxLength: 4
  }
)

const tools = names.chain((all) =>
  FastCheck.tuple(...all.map((name) => FastCheck.tuple(FastCheck.constant(name), pairs))).map((parameters) => ({
    tool: McpSchema.make({
      server: "demo",
      name: "t",
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(parameters.map(([name, { schema }]) => [name, schema])),
        required: all
      }
    }),
    values: Object.fromEntries(parameters.map(([name, { value }]) => [name, value]))
  }))
)

const valuesOf = (tool: McpSchema.CallableTool, words: ReadonlyArray<string>): unknown =>
  Either.match(Arguments.parse(tool, words), {
    onLeft: (problems) => ({ problems, words }),
    onRight: (given) => (given._tag === "Values" ? given.values : given)
  })

describe("any values that fit a schema", () => {
  it("come back the same from options", () => {
    FastCheck.assert(
      FastCheck.property(tools, ({ tool, values }) => {
        const words = Object.entries(values).map(([name, value]) => `--${name}=${written(value)}`)
        assert.deepStrictEqual(valuesOf(tool, words), values)
      }),
      { numRuns: 100 }
    )
  })

  it("come back the same from their places", () => {
    FastCheck.assert(
      FastCheck.property(tools, ({ tool, values }) => {
        // What the last array takes beyond its first word are its items.
        const words = ["--", ...Object.values(values).map(written)]
        assert.deepStrictEqual(valuesOf(tool, words), values)
      }),
      { numRuns: 100 }
    )
  })

  it("never make it throw, whatever the schema and the words are", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.jsonValue(),
        FastCheck.array(FastCheck.oneof(texts, FastCheck.fullUnicodeString())),
        (schema, words) => {
          const inputSchema = {
            properties: { a: schema, b: { anyOf: schema } },
            required: schema,
            $defs: schema
          } as JsonSchema
          Arguments.parse(McpSchema.make({ server: "demo", name: "t", inputSchema }), words)
          Arguments.parse(McpSchema.make({ server: "demo", name: "t", inputSchema: schema as JsonSchema }), words)
        }
      ),
      { numRuns: 100 }
    )
  })
})
