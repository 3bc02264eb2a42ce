import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Corrected from "../../../src/commands/todo/TodoWrite.corrected.js"
import * as Todo from "../../../src/domain/Todo.js"
import { write } from "../../support/commands/Todos.js"

const of = (input: unknown) => Corrected.of(input, Todo.defaultLimits)

describe("the call for a list of tasks that does not stand under `todos`", () => {
  it("is made of the values given, whatever their names", () => {
    assert.strictEqual(
      of([{ content: "Run it", status: "done", id: 1 }, "Stop it"]),
      `TodoWrite '{"todos":[{"content":"Run it","activeForm":"Run it","status":"completed"},{"content":"Stop it","activeForm":"Stop it","status":"pending"}]}'`
    )
    assert.strictEqual(
      of({ plan: [{ step: "Don't stop", activeForm: "Going on", status: "in-progress" }] }),
      `TodoWrite <<'EOF'\n{"todos":[{"content":"Don't stop","activeForm":"Going on","status":"in_progress"}]}\nEOF`
    )
  })

  it("is not made up where the values would be refused", () => {
    for (const input of [
      [],
      [{}],
      [{ content: "a", status: "maybe" }],
      [{ content: " " }],
      [1],
      ["a", "b"].map((content) => ({ content, status: "doing" })),
      Array.from({ length: 51 }, () => "a"),
      ["a".repeat(201)],
      Array.from({ length: 50 }, () => "a".repeat(100)),
      { todos: ["a"] },
      "a"
    ]) {
      assert.isUndefined(of(input), JSON.stringify(input).slice(0, 100))
    }
  })

  it.effect("is told with the problems", () =>
    Effect.gen(function* () {
      const { result } = yield* write({ args: ['["Run it"]'] })
      assert.match(
        result.stderr,
        /\nCorrect: TodoWrite '\{"todos":\[\{"content":"Run it","activeForm":"Run it","status":"pending"\}\]\}'\n$/
      )
    })
  )
})
