import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Tool from "../../src/toolset/Tool.js"

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Schema<Tree> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree))
}).annotations({ identifier: "Tree" })

describe("Tool", () => {
  it("S41: makes a JSON schema that stands alone", () => {
    const Level = Schema.Literal("low", "high").annotations({ identifier: "Level", description: "How much." })
    const schema = Schema.Struct({ count: Schema.Int, level: Level, note: Schema.optional(Schema.String) })
    assert.deepStrictEqual(Tool.toJsonSchema(schema), {
      type: "object",
      required: ["count", "level"],
      properties: {
        count: { description: "an integer", title: "int", type: "integer" },
        level: { description: "How much.", type: "string", enum: ["low", "high"] },
        note: { type: "string" }
      },
      additionalProperties: false
    })
  })

  it("keeps the reference of a schema that holds itself", () => {
    const schema = JSON.stringify(Tool.toJsonSchema(Schema.Struct({ tree: Tree })))
    assert.include(schema, '"$ref":"#/$defs/Tree"')
    assert.include(schema, '"$defs":{"Tree":')
  })

  it.effect("S46: refuses what does not fit, with each problem and the right form", () =>
    Effect.gen(function* () {
      const tool = Tool.make({
        name: "Count",
        description: () => "Counts.",
        parameters: Schema.Struct({
          to: Schema.Int,
          by: Schema.optionalWith(Schema.Struct({ step: Schema.Int }), { exact: true })
        }),
        run: ({ to }) => Effect.succeed(CommandResult.make({ stdout: `${to}` }))
      })
      assert.strictEqual(tool.definition.description, "Counts.")
      assert.strictEqual((yield* tool.run({ to: 3 })).stdout, "3")
      const error = yield* Effect.flip(tool.run({ to: "3", by: { step: 1.5 }, from: 1 }))
      assert.strictEqual(
        error.message,
        [
          "Invalid parameters for Count:",
          '- from: is unexpected, expected: "to" | "by"',
          '- to: Expected number, actual "3"',
          "- by.step: Expected an integer, actual 1.5",
          "Use: Count(to=…)"
        ].join("\n")
      )
      for (const params of [[1], null, "x"]) {
        assert.strictEqual(
          (yield* Effect.flip(tool.run(params))).message,
          "Invalid parameters for Count:\n- the arguments must be an object with to, by\nUse: Count(to=…)"
        )
      }
    })
  )
})
