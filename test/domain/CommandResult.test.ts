import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as ToolReturn from "../../src/toolset/ToolReturn.js"

const caught = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.either(effect), (either) => (either._tag === "Left" ? either.left._tag : "a result"))

const results: ReadonlyArray<readonly [fields: Partial<CommandResult.CommandResult>, tag: string]> = [
  [{ exitCode: 127, notFound: "x", stderr: "bash: x: command not found\n" }, "CommandNotFound"],
  [{ exitCode: 1, category: "invalid_usage" }, "InvalidUsage"],
  [{ exitCode: 1, blocked: true, blockedRule: "~/.ssh" }, "Blocked"],
  [{ exitCode: 1 }, "a result"],
  [{ exitCode: 0, blocked: true }, "a result"],
  [{}, "a result"]
]

describe("orFail", () => {
  it.effect("fails with the error of a result's category, behind the router and behind the toolset", () =>
    Effect.forEach(results, ([fields, tag]) =>
      Effect.gen(function* () {
        const result = CommandResult.make(fields)
        assert.strictEqual(yield* caught(CommandResult.orFail(Effect.succeed(result))), tag)
        const exit = yield* Effect.exit(Effect.succeed(result))
        const diagnosis = fields.category === undefined ? {} : { category: fields.category }
        const returned = ToolReturn.fromExit({ id: "1", name: "Bash" }, exit, { diagnosis })
        assert.strictEqual(yield* caught(ToolReturn.orFail(Effect.succeed(returned))), tag)
      })
    )
  )
})
